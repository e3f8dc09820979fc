//! Runs the files of contract/vectors that concern a worker's kit. conversation.json is run by tests/.

use crate::clock::now;
use crate::contract::{read_line, Command, Failure, Kind, Setup};
use crate::counters::{arrivals, Reasons};
use crate::draw::{at, check, Draw, Drawer, Draws};
use crate::flow::Content;
use crate::hist::Histogram;
use crate::load::Load;
use serde_json::{json, Value};
use std::io::BufReader;
use std::sync::atomic::Ordering::Relaxed;

pub(crate) fn vectors(name: &str) -> Value {
    let path = format!("{}/../../contract/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

pub(crate) fn all(of: &Value) -> &Vec<Value> {
    of.as_array().unwrap()
}

pub(crate) fn int(of: &Value) -> i64 {
    of.as_i64().unwrap()
}

fn hex(text: &Value) -> Vec<u8> {
    let text = text.as_str().unwrap();
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

fn setup(load: Value, exchange: Value, seed: u64) -> Setup {
    serde_json::from_value(json!({"role": "client", "seed": seed, "load": load, "exchange": exchange})).unwrap()
}

/// A closed loop of so many slots.
fn closed(slots: i64, down: i64) -> &'static Load {
    Load::new(&setup(json!({"connections": slots}), json!({"up_bytes": 1, "down_bytes": down}), 1)).unwrap()
}

#[test]
fn lines() {
    let mut run = 0;
    for v in all(&vectors("lines")).iter().filter(|v| v["to"] != "bench") {
        let mut line = String::new();
        match v["line"].as_str() {
            Some(text) => line.push_str(text),
            None => all(&v["parts"]).iter().for_each(|part| match part.as_str() {
                Some(text) => line.push_str(text),
                None => line.push_str(&part["repeat"].as_str().unwrap().repeat(int(&part["times"]) as usize)),
            }),
        }
        if v["torn"] != true {
            line.push('\n');
        }
        let read = read_line(&mut BufReader::new(line.as_bytes()), &mut Vec::new()).unwrap().expect("a line");
        let got = match &read {
            Ok(Command::Setup(_)) => "setup",
            Ok(Command::Start) => "start",
            Ok(Command::Mark { .. }) => "mark",
            Ok(Command::Stop) => "stop",
            Ok(Command::Other(name)) => name,
            Err(_) => "",
        };
        assert_eq!(got, v["message"].as_str().unwrap_or(""), "{}: {read:?}", v["name"]);
        run += 1;
    }
    assert!(run > 40, "{run} lines");
}

#[test]
fn histograms() {
    for v in all(&vectors("hist")) {
        let mut h = Histogram::default();
        all(&v["values"]).iter().for_each(|pair| h.record(int(&pair[0]), int(&pair[1]) as u64));
        assert_eq!(h.payload(), hex(&v["payload"]), "{}", v["name"]);
        if h.count() > 0 {
            assert_eq!(inflated(&h.encode()), h.payload(), "{}", v["name"]);
        }
        assert_eq!(inflated(v["encoded"].as_str().unwrap()), h.payload(), "{}", v["name"]);
    }
}

/// The payload in an encoded histogram.
fn inflated(text: &str) -> Vec<u8> {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut held, mut bytes) = (0u32, 0, Vec::new());
    for c in text.chars().filter(|c| *c != '=') {
        bits = bits << 6 | ALPHABET.find(c).unwrap() as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    assert_eq!(u32::from_be_bytes(bytes[4..8].try_into().unwrap()) as usize, bytes.len() - 8);
    miniz_oxide::inflate::decompress_to_vec_zlib(&bytes[8..]).unwrap()
}

#[test]
fn gaps_of_sends() {
    for v in all(&vectors("arrivals")) {
        let sent = all(&v["sent"]).iter().map(int).collect();
        let got = arrivals(sent, int(&v["from_ns"]), int(&v["until_ns"]));
        let want = &v["arrivals"];
        assert_eq!(got.is_none(), want.is_null(), "{}", v["name"]);
        let Some(got) = got else { continue };
        for key in ["gaps", "sum_ns", "stretch_ns"] {
            assert_eq!(got[key], want[key], "{}: {key}", v["name"]);
        }
        let ratio = got["sum_squares_ns2"].as_f64().unwrap() / want["sum_squares_ns2"].as_f64().unwrap();
        assert!((ratio - 1.0).abs() < 1e-12 || ratio.is_nan(), "{}: {ratio}", v["name"]);
    }
}

#[test]
fn work_inside_the_window() {
    for v in all(&vectors("inside")) {
        let (from, to) = (int(&v["from_ns"]), int(&v["to_ns"]));
        let exchanges = all(&v["exchanges"]);
        let load = closed(exchanges.len().max(1) as i64, 1);
        load.start(1);
        load.open(from);
        for drained in [false, true] {
            for (i, e) in exchanges.iter().enumerate().filter(|(_, e)| (int(&e[2]) > to) == drained) {
                let slot = &load.slots(i)[0];
                slot.next(from);
                slot.became_free(int(&e[0]));
                slot.done(int(&e[1]), int(&e[2]), 1);
            }
            load.end(to);
        }
        let got = load.result(to, 0)["inside"].clone();
        for (key, want) in v["inside"].as_object().unwrap() {
            let off = got[key].as_f64().unwrap() - want.as_f64().unwrap();
            assert!(off.abs() < 1e-8, "{}: {key} is {}, want {want}", v["name"], got[key]);
        }
    }
}

#[test]
fn lengths_of_replies() {
    for v in all(&vectors("lengths")) {
        let load = closed(1, int(&v["down_bytes"]));
        let slot = &load.slots(0)[0];
        let complete = |key: &str| {
            for n in all(&v[key]) {
                slot.next(now());
                slot.done(now(), now(), int(n));
            }
        };
        load.start(now());
        complete("before");
        load.open(now());
        complete("window");
        load.end(now());
        all(&v["drained"]).iter().for_each(|n| slot.done(now(), now(), int(n)));
        let mut want = Histogram::default();
        all_or_none(&v["values"]).iter().for_each(|pair| want.record(int(&pair[0]), int(&pair[1]) as u64));
        let got = load.result(now(), 0)["lengths"].as_str().unwrap_or("").to_string();
        assert_eq!(got, want.encode(), "{}", v["name"]);
    }
}

fn all_or_none(of: &Value) -> Vec<Value> {
    of.as_array().cloned().unwrap_or_default()
}

fn kind(name: &Value) -> Kind {
    Kind::ALL.into_iter().find(|k| *name == k.name()).unwrap()
}

#[test]
fn reasons_of_failures() {
    for v in all(&vectors("reasons")) {
        let reasons = Reasons::default();
        for f in all(&v["failures"]) {
            (0..int(&f["count"])).for_each(|_| reasons.add(kind(&f["kind"]), f["text"].as_str().unwrap()));
        }
        assert_eq!(Value::from(reasons.json()), v["reasons"], "{}", v["name"]);
    }
}

#[test]
fn requests_sent() {
    for v in all(&vectors("sent")) {
        let load = closed(int(&v["slots"]), 1);
        load.start(1);
        for step in all(&v["steps"]) {
            let slot = || &load.slots(int(&step[1]) as usize)[0];
            match step[0].as_str().unwrap() {
                "begin" => assert!(slot().next(now()).is_some()),
                "out" => slot().goes_out(),
                "done" => slot().done(now(), now(), 1),
                "fail" => slot().fail(&Failure::new(Kind::Peer, "connection reset")),
                "open" => load.open(now()),
                "close" => load.close(now()),
                other => panic!("{other}"),
            }
        }
        let got = load.sent(0);
        for key in ["before", "window", "drain"] {
            assert_eq!(int(&got[key]), v["sent"][key].as_i64().unwrap_or(0), "{}: {key}", v["name"]);
        }
    }
}

fn table(of: &Value) -> crate::contract::Table {
    match of["many"].as_i64() {
        None => serde_json::from_value(of.clone()).unwrap(),
        Some(many) => {
            let (end, step) = (int(&of["step_end"]), int(&of["step"]));
            (0..many).map(|i| [(i + 1) * end, i * step, i * step + step - 1]).collect()
        }
    }
}

#[test]
fn draws() {
    let v = vectors("sizes");
    for s in all(&v["streams"]) {
        let base = at(s["seed"].as_u64().unwrap(), s["stream"].as_u64().unwrap() - 1);
        for (n, want) in all(&s["outputs"]).iter().enumerate() {
            assert_eq!(format!("{:016x}", at(base, n as u64)), want.as_str().unwrap());
        }
    }
    for d in all(&v["draws"]) {
        let (t, seed) = (table(&v["tables"][d["name"].as_str().unwrap()]), d["seed"].as_u64().unwrap());
        check(&t, 1 << 30).unwrap();
        for (stream, key) in [(1, "up_bytes"), (2, "down_bytes")] {
            let drawer = Drawer::new(&t, seed, stream);
            for (n, want) in all(&d["numbers"]).iter().zip(all(&d[key])) {
                assert_eq!(drawer.draw(n.as_u64().unwrap()), int(want), "{} {key} {n}", d["name"]);
            }
        }
    }
    for r in all(&v["refused"]) {
        let t = if r["many"].is_null() { table(&r["table"]) } else { table(&r["many"]) };
        assert!(check(&t, 1 << 30).is_err(), "{}", r["name"]);
    }
}

#[test]
fn due_times() {
    let v = vectors("schedule");
    let exchange = json!({"up_bytes": 1, "down_bytes": 1});
    for s in all(&v["schedules"]) {
        let mut plan = s["load"].clone();
        plan["connections"] = s["slots"].clone();
        let load = Load::new(&setup(plan, exchange.clone(), s["seed"].as_u64().unwrap())).unwrap();
        load.start(0);
        for of in all(&s["slots_due"]) {
            let slot = &load.slots(int(&of["slot"]) as usize)[0];
            let mut k = 0;
            for pair in all(&of["due_ns"]) {
                let mut due = None;
                while k <= int(&pair[0]) {
                    due = slot.next(0).filter(|d| *d < crate::draw::NEVER);
                    k += 1;
                }
                assert_eq!(due, pair[1].as_i64(), "{}, slot {}, {}", s["name"], of["slot"], pair[0]);
            }
        }
    }
    for r in all(&v["refused"]) {
        let mut plan = r["load"].clone();
        plan["connections"] = 1.into();
        let read: Result<Setup, _> = serde_json::from_value(json!({"seed": 1, "load": plan, "exchange": exchange}));
        assert!(read.is_err() || Load::new(&read.unwrap()).is_err(), "{}", r["name"]);
    }
}

/// Loads that setup refuses.
fn refused(all_of: &Value, exchange: &Value) {
    for r in all(all_of) {
        let mut plan = r["load"].clone();
        plan["connections"] = 1.into();
        match Load::new(&setup(plan, exchange.clone(), 1)) {
            Err(why) => assert_eq!(why.kind, Kind::Setup, "{}", r["name"]),
            Ok(_) => panic!("{} is taken", r["name"]),
        }
    }
}

#[test]
fn mixes() {
    let (v, exchange) = (vectors("mix"), json!({"up_bytes": 1024, "down_bytes": 1 << 20}));
    for d in all(&v["draws"]) {
        let draws = Draws::new(&setup(v["load"].clone(), exchange.clone(), d["seed"].as_u64().unwrap())).unwrap();
        let want = Draw { up: int(&d["up_bytes"]), down: int(&d["down_bytes"]), class: int(&d["class"]) as usize, key: int(&d["key"]) };
        assert_eq!(draws.of(d["number"].as_u64().unwrap()), want, "{d}");
    }
    assert!(all(&v["draws"]).len() > 20 && all(&v["refused"]).len() > 4);
    refused(&v["refused"], &exchange);
}

#[test]
fn pauses_of_classes() {
    let (v, exchange) = (vectors("think"), json!({"down_bytes": 300}));
    for c in all(&v["cases"]) {
        let load = Load::new(&setup(c["load"].clone(), exchange.clone(), c["seed"].as_u64().unwrap())).unwrap();
        load.start(1);
        for (i, want) in all(&c["slots"]).iter().enumerate() {
            let (slot, mut at) = (&load.slots(i)[0], 1);
            for (k, w) in all(want).iter().enumerate() {
                let due = slot.next(at).unwrap();
                assert_eq!((slot.draw().class as i64, due - 1), (int(&w[0]), int(&w[1])), "seed {}, slot {i}, exchange {k}", c["seed"]);
                at = due + int(&c["service_ns"]);
                slot.done(due, at, slot.draw().down);
            }
        }
    }
    refused(&v["refused"], &exchange);
}

/// The values of a histogram's text: how many, and the largest index's.
fn values(text: &Value) -> i64 {
    let payload = text.as_str().map_or(Vec::new(), inflated);
    let (mut n, mut at) = (0, 40);
    while at < payload.len() {
        let (mut z, mut shift) = (0u64, 0);
        loop {
            z |= u64::from(payload[at] & 127) << shift;
            (shift, at) = (shift + 7, at + 1);
            if payload[at - 1] < 128 {
                break;
            }
        }
        n += ((z >> 1) as i64 ^ -((z & 1) as i64)).max(0);
    }
    n
}

/// Exchanges of 100 B and of 1 MiB, in two classes.
fn halves(mut load: Value) -> &'static Load {
    load["classes"] = json!([{"name": "small", "end": 1u64 << 31, "up_bytes": 10, "down_bytes": 100},
        {"name": "large", "end": 1u64 << 32, "up_bytes": 10, "down_bytes": 1 << 20}]);
    Load::new(&setup(load, json!({"up_bytes": 10, "down_bytes": 1 << 20}), 3)).unwrap()
}

#[test]
fn times_by_class_and_size() {
    let load = halves(json!({"connections": 1, "rate": 1000}));
    load.start(1);
    load.open(2);
    let (slot, mut free, mut flew) = (&load.slots(0)[0], 0, (0, 0));
    let mut want = [0i64; 3]; // large, behind a large one, free
    for _ in 0..400 {
        let due = slot.next(now()).unwrap();
        let (sent, down) = (due.max(free), slot.draw().down);
        let takes = if down > 100 { 3_000_000 } else { 10_000 };
        match down {
            100 if due <= flew.1 && flew.0 <= sent => want[1] += 1,
            100 => want[2] += 1,
            _ => (flew, want[0]) = ((sent, sent + takes), want[0] + 1),
        }
        free = sent + takes;
        slot.done(sent, free, down);
    }
    let r = load.result(now(), 0);
    let (small, large) = (&r["bins"][0], &r["bins"][1]);
    assert_eq!((int(&small["from_bytes"]), int(&small["to_bytes"]), int(&large["from_bytes"]), all(&r["bins"]).len()), (64, 256, 1 << 20, 2));
    let got = [&large["response"], &small["behind"], &small["free"]].map(values);
    assert_eq!(got, want);
    assert_eq!([&small["service"], &small["response"], &large["service"]].map(values), [want[1] + want[2], want[1] + want[2], want[0]]);
    assert!(large["behind"].is_null() && want[1] > 0 && want[2] > 0);
    assert_eq!((values(&r["service"]), values(&r["response"]), values(&r["lengths"])), (400, 400, 400));
    for (i, n, bytes) in [(0, want[1] + want[2], 100), (1, want[0], 1 << 20)] {
        let c = &r["classes"][i];
        assert_eq!((int(&c["exchanges"]), int(&c["sent_bytes"]), int(&c["received_bytes"])), (n, 10 * n, bytes * n), "{c}");
        assert_eq!((values(&c["service"]), values(&c["response"])), (n, n), "{c}");
    }
    assert_eq!(int(&r["counts"]["sent_bytes"]), 4000);
}

#[test]
fn slots_of_a_connection_wait_for_each_other() {
    let load = halves(json!({"connections": 2, "in_flight": 2}));
    load.start(1);
    load.open(2);
    let begin = |slot: &crate::Slot, class: usize| loop {
        let at = now();
        slot.next(at);
        if slot.draw().class == class {
            return at;
        }
        slot.cancel();
    };
    let (a, b, other) = (&load.slots(0)[0], &load.slots(0)[1], &load.slots(1)[0]);
    begin(a, 1);
    for slot in [b, other] {
        let at = begin(slot, 0);
        slot.done(at, at + 1000, 100);
    }
    let at = now();
    a.done(at, at + 1000, 1 << 20);
    let later = begin(b, 0) + 1_000_000;
    b.done(later, later + 1000, 100);
    begin(a, 1);
    a.fail(&Failure::new(Kind::Timeout, "late"));
    let later = begin(b, 0) + 2_000_000;
    b.done(later, later + 1000, 100);
    let r = load.result(now(), 0);
    assert_eq!((values(&r["bins"][0]["behind"]), values(&r["bins"][0]["free"]), &r["bins"][0]["response"]), (1, 3, &Value::Null));
    assert_eq!((int(&r["classes"][1]["errors"]), int(&r["classes"][0]["exchanges"]), values(&r["service"])), (1, 4, 5));
}

#[test]
fn stream_content() {
    for c in all(&vectors("stream")["cases"]) {
        let (bytes, state) = (int(&c["bytes"]), if c["direction"] == "up" { 1 } else { 2 });
        let content = Content::new(bytes, int(&c["chunk_bytes"]), state);
        assert_eq!(format!("{:08x}", content.sum(bytes)), c["crc32c"].as_str().unwrap(), "{c}");
        let mut first: Vec<u8> = Vec::new();
        while first.len() < 16 && (first.len() as i64) < bytes {
            first.extend(content.part(first.len() as i64, bytes));
        }
        first.truncate(16.min(bytes as usize));
        assert_eq!(first, hex(&c["first"]), "{c}");
    }
}

#[test]
fn poisson_gaps_have_the_rate() {
    let plan = json!({"connections": 4, "rate": 1000, "arrival": "poisson"});
    let load = Load::new(&setup(plan, json!({"up_bytes": 1, "down_bytes": 1}), 7)).unwrap();
    load.start(0);
    let last: Vec<i64> = (0..4).map(|i| (0..10_000).filter_map(|_| load.slots(i)[0].next(0)).last().unwrap()).collect();
    for ns in &last {
        assert!((*ns as f64 / 40e9 - 1.0).abs() < 0.05, "10,000 gaps of 4 ms last {ns} ns");
    }
    assert_ne!(last[0], last[1]);
}

#[test]
fn a_completion_is_counted_in_one_phase() {
    let load = closed(2, 1);
    load.start(now());
    let stop = std::sync::atomic::AtomicBool::new(false);
    let made = std::thread::scope(|threads| {
        let exchange = |i: usize| {
            let mut n = 0;
            while let Some(due) = load.slots(i)[0].next(now()) {
                load.slots(i)[0].done(due, now(), 1);
                n += 1;
            }
            stop.store(true, Relaxed);
            n
        };
        let both = [0, 1].map(|i| threads.spawn(move || exchange(i)));
        std::thread::sleep(std::time::Duration::from_millis(20));
        load.open(now());
        std::thread::sleep(std::time::Duration::from_millis(20));
        load.close(now());
        both.map(|t| t.join().unwrap()).iter().sum::<i64>()
    });
    assert_eq!(load.counts().exchanges, made);
    let before = load.snapshot().exchanges;
    let result = load.result(now(), 0);
    assert!(before <= made && made - before <= 2, "{made} made, {before} before the closing");
    assert_eq!(int(&result["drained"]), made - before);
}
