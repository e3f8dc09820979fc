//! Checks a setup against what a transport declares in hello.

use crate::contract::{Failure, Kind, Setup};
use serde_json::{Map, Value};

fn names(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Refuses what setup asks for beyond whole messages on kept, plain connections and the transport does not
/// declare: it would be left out without a word.
pub fn able(transport: &Value, setup: &Setup) -> Result<(), Failure> {
    let name = transport["name"].as_str().unwrap_or("");
    let refuse = |text: String| Err(Failure::new(Kind::Unsupported, text));
    if !names(&transport["roles"]).contains(&setup.role.as_str()) {
        return refuse(format!("transport {name} has no role {:?}, it has {}", setup.role, transport["roles"]));
    }
    if transport["encrypted"] == true && setup.tls.is_none() {
        return refuse(format!("setup.tls is absent: transport {name} is always encrypted; give tls=yes"));
    }
    let (x, load) = (&setup.exchange, &setup.load);
    let codec = if x.codec.is_empty() { "bytes" } else { x.codec.as_str() };
    let codecs = names(&transport["codecs"]);
    if codec != "bytes" && !codecs.contains(&codec) {
        return refuse(format!("codec {codec:?}: transport {name} has {}", transport["codecs"]));
    }
    let (stream, work) = (format!("stream-{}", x.stream), format!("work-{}", setup.work.as_ref().map_or("", |w| &w.by)));
    let (of, classes) = (load.trace.as_ref(), &load.classes);
    let times = of.is_some_and(|t| t["times"] == true);
    let asked = [
        (setup.tls.is_some(), "setup.tls is given", "tls"),
        (load.fresh, "load.fresh is true", "fresh"),
        (!x.up_sizes.is_empty() || !x.down_sizes.is_empty(), "exchange.up_sizes or down_sizes is given", "sizes"),
        (!load.phases.is_empty() || load.arrival == "drawn", "load.phases is given, or load.arrival drawn", "arrivals"),
        (!classes.is_empty(), "load.classes is given", "mix"),
        (classes.iter().any(|c| c.deadline_ns > 0), "a class has a deadline", "deadline"),
        (of.is_some() && !times, "load.trace is given", "trace"),
        (times, "load.trace.times is true", "times"),
        (classes.iter().any(|c| c.method.starts_with('/')), "the method of a class is of gRPC", "methods"),
        (classes.iter().any(|c| c.think_ns > 0), "a class has think_ns", "think"),
        (setup.work.is_some() && setup.role != "client", "setup.work is given", &work),
        (!x.stream.is_empty(), "exchange.stream is given", &stream),
    ];
    for (is, by, feature) in asked {
        if is && !names(&transport["features"]).contains(&feature) {
            return refuse(format!("{by}: transport {name} does not have feature {feature}, it has {}", transport["features"]));
        }
    }
    Ok(())
}

/// The options of a role with their values, those given or the defaults. The failure is of kind setup.
pub fn complete(transport: &Value, setup: &Setup) -> Result<Map<String, Value>, Failure> {
    let name = transport["name"].as_str().unwrap_or("");
    let refuse = |text: String| Failure::new(Kind::Setup, text);
    let mut out = Map::new();
    for option in transport["options"].as_array().into_iter().flatten() {
        let roles = names(&option["roles"]);
        if !roles.is_empty() && !roles.contains(&setup.role.as_str()) {
            continue;
        }
        let key = option["name"].as_str().unwrap_or("");
        let value = setup.options.get(key).unwrap_or(&option["default"]);
        let value = convert(option, value).map_err(|why| refuse(format!("option {key} of {name}: {why}")))?;
        out.insert(key.into(), value);
    }
    if let Some(unknown) = setup.options.keys().find(|k| !out.contains_key(*k)) {
        let hint = nearest(unknown, out.keys().map(String::as_str));
        return Err(refuse(format!("option {unknown:?}: {name} as {} has none of that name; {hint}", setup.role)));
    }
    Ok(out)
}

fn convert(option: &Value, v: &Value) -> Result<Value, String> {
    let kind = option["type"].as_str().unwrap_or("");
    match kind {
        "int" | "bytes" | "duration" | "float" => {
            let Some(f) = v.as_f64() else { return Err(format!("got {v}, expected a number ({kind})")) };
            if kind != "float" && f != f.trunc() {
                return Err(format!("got {v}, expected a whole number ({kind})"));
            }
            if option["min"].as_f64().is_some_and(|min| f < min) {
                return Err(format!("got {v}, expected at least {}", option["min"]));
            }
            if option["max"].as_f64().is_some_and(|max| f > max) {
                return Err(format!("got {v}, expected at most {}", option["max"]));
            }
            Ok(if kind == "float" { f.into() } else { (f as i64).into() })
        }
        "bool" if v.is_boolean() => Ok(v.clone()),
        "bool" => Err(format!("got {v}, expected true or false")),
        "choice" if v.as_str().is_some_and(|s| names(&option["choices"]).contains(&s)) => Ok(v.clone()),
        "choice" => Err(format!("got {v}, expected one of {}", names(&option["choices"]).join(", "))),
        _ if v.is_string() => Ok(v.clone()),
        _ => Err("expected text".into()),
    }
}

/// The known name that is nearest to one that is not known.
pub fn nearest<'a>(unknown: &str, known: impl Iterator<Item = &'a str>) -> String {
    match known.min_by_key(|k| distance(unknown, k)) {
        Some(name) => format!("nearest is {name}"),
        None => "there is none".into(),
    }
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let above = row[j + 1];
            row[j + 1] = (corner + usize::from(x != y)).min(above + 1).min(row[j] + 1);
            corner = above;
        }
    }
    row[b.len()]
}
