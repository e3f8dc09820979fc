//! Holds the example worker to contract/vectors/conversation.json.

use serde_json::{json, Value};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{channel, Receiver};
use std::time::{Duration, Instant};

/// A worker under way: its process, and the messages that come of it.
struct Worker {
    process: Child,
    messages: Receiver<Value>,
}

fn program() -> std::path::PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.join("examples").join("mine")
}

impl Worker {
    fn begin() -> Worker {
        let mut process = Command::new(program()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, messages) = channel();
        let out = process.stdout.take().unwrap();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if to.send(serde_json::from_str(&line).unwrap()).is_err() {
                    break;
                }
            }
        });
        Worker { process, messages }
    }

    fn send(&mut self, line: &str) {
        let stdin = self.process.stdin.as_mut().unwrap();
        let _ = stdin.write_all(line.as_bytes()).and_then(|()| stdin.write_all(b"\n"));
    }

    fn expect(&self, name: &str) -> Value {
        loop {
            let message = self.messages.recv_timeout(Duration::from_secs(5)).unwrap_or_else(|e| panic!("no {name}: {e}"));
            if message.get(name).is_some() {
                return message;
            }
            assert!(message.get("tick").is_some(), "{message} in place of {name}");
        }
    }

    fn ends(&mut self) -> i32 {
        drop(self.process.stdin.take());
        let until = Instant::now() + Duration::from_secs(5);
        while Instant::now() < until {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status.code().unwrap();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.process.kill().unwrap();
        panic!("it does not end with its input");
    }
}

fn setup(step: &Value, peer: &str) -> String {
    let transport = step["transport"].as_str().unwrap_or("mine");
    let load = if step["load"].is_null() { json!({"connections": 2}) } else { step["load"].clone() };
    let peer = step["peer"].as_str().unwrap_or(peer);
    let options = if step["options"].is_null() { json!({}) } else { step["options"].clone() };
    json!({"setup": {"trial": "vector", "transport": transport, "role": step["setup"], "seed": 1, "listen": "127.0.0.1:0",
        "peers": [peer], "exchange": {"up_bytes": 64, "down_bytes": 64}, "load": load, "options": options}})
    .to_string()
}

/// Whether a message contains what a step asks for; an absent number is 0, an absent truth value false.
fn contains(message: &Value, asked: &Value) -> bool {
    match asked.as_object() {
        Some(fields) => fields.iter().all(|(k, v)| contains(&message[k], v)),
        None if message.is_null() => *asked == 0 || *asked == false,
        None => message == asked,
    }
}

#[test]
fn conversations() {
    let path = format!("{}/../../contract/vectors/conversation.json", env!("CARGO_MANIFEST_DIR"));
    let all: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(all.len() > 10);
    let mut server = Worker::begin();
    server.send(&setup(&json!({"setup": "server"}), ""));
    server.expect("hello");
    let address = server.expect("ready")["ready"]["addresses"][0].as_str().unwrap().to_string();
    for conversation in &all {
        converse(conversation, &address);
    }
    assert_eq!(server.ends(), 0);
}

fn converse(conversation: &Value, address: &str) {
    let (mut worker, name) = (Worker::begin(), &conversation["name"]);
    let mut code = None;
    for step in conversation["steps"].as_array().unwrap() {
        if let Some(what) = step["expect"].as_str() {
            let message = worker.expect(what);
            assert!(step["has"].is_null() || contains(&message, &step["has"]), "{name}: {message}");
            assert!(step["fatal"].is_null() || contains(&message["error"]["fatal"], &step["fatal"]), "{name}: {message}");
        } else if step["setup"].is_string() {
            worker.send(&setup(step, address));
        } else if step["send"].is_object() {
            worker.send(&step["send"].to_string());
        } else if let Some(line) = step["raw"].as_str() {
            worker.send(line);
        } else if step["raw"].is_object() {
            let times = step["raw"]["times"].as_u64().unwrap() as usize;
            worker.send(&step["raw"]["repeat"].as_str().unwrap().repeat(times));
        } else if step["eof"] == true {
            code = Some(worker.ends());
        } else if let Some(none) = step["none"].as_str() {
            assert!(worker.messages.try_iter().all(|m| m.get(none).is_none()), "{name}: {none} came");
        }
    }
    if conversation["exit"] != "any" {
        assert_eq!(code, Some(conversation["exit"].as_i64().unwrap_or(0) as i32), "{name}");
    }
}
