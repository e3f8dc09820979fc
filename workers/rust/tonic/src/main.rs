//! Transport tonic: gRPC by tonic and prost on tokio, TLS by rustls.

mod carried;
mod client;
mod server;

use netdyno_kit::{json, Client, Failure, Kind, Program, Server, Setup, Transport, Value};
use netdyno_kit_tokio::runtime_option;
use netdyno_requests::{Content, FEATURES};

struct Tonic;

/// What an end does in a trial.
pub struct Plan {
    pub path: &'static str,
    pub stream: bool,  // a stream for each slot that stays open
    pub chunked: bool, // an RPC for each exchange, whose content travels in chunks
    pub chunk: usize,
    pub max_message: usize,
    pub window: u32,
    pub connection_window: u32,
    pub adaptive: bool,
    pub options: Value, // effective
}

impl Plan {
    fn new(setup: &Setup, content: &Content) -> Plan {
        let x = &setup.exchange;
        let name = x.message.as_ref().map_or("", |m| m.name.as_str());
        let stream = setup.text("mode") == "stream" && x.stream.is_empty();
        let path = match (x.stream.as_str(), name, stream) {
            ("up", ..) => "/netdyno.v1.Exchange/Up",
            ("down", ..) => "/netdyno.v1.Exchange/Down",
            ("both", ..) => "/netdyno.v1.Exchange/Both",
            (_, "simple", false) => "/netdyno.v1.Exchange/Simple",
            (_, "simple", true) => "/netdyno.v1.Exchange/TalkSimple",
            (_, "complex", false) => "/netdyno.v1.Exchange/Complex",
            (_, "complex", true) => "/netdyno.v1.Exchange/TalkComplex",
            (_, _, true) => "/netdyno.v1.Exchange/Talk",
            _ => "/netdyno.v1.Exchange/Unary",
        };
        let need = content.up_bytes.max(content.down_bytes) + 64; // with the header of a Block
        let max_message = match setup.int("max_message") {
            0 => need.max(4 << 20),
            n => n,
        };
        let mut options = Value::from(setup.options.clone());
        options["max_message"] = max_message.into();
        Plan {
            path, stream, chunked: !x.stream.is_empty(), options,
            chunk: if x.chunk_bytes > 0 { x.chunk_bytes as usize } else { 64 << 10 },
            max_message: max_message as usize,
            window: setup.int("window") as u32,
            connection_window: setup.int("connection_window") as u32,
            adaptive: setup.flag("adaptive"),
        }
    }
}

fn check(setup: &Setup) -> Result<(), Failure> {
    if !setup.exchange.stream.is_empty() && setup.exchange.message.is_some() {
        let text = format!("exchange.stream is {:?} with codec {}: tonic streams blocks of codec bytes", setup.exchange.stream, setup.exchange.codec);
        return Err(Failure::new(Kind::Unsupported, text));
    }
    if setup.load.fresh && setup.load.in_flight > 1 {
        return Err(Failure::new(Kind::Unsupported, "load.fresh with load.in_flight above 1: a fresh connection has one exchange; use more connections"));
    }
    let late = setup.load.classes.iter().any(|c| c.deadline_ns > 0);
    if setup.text("mode") == "stream" && (setup.load.fresh || late || !setup.exchange.down_sizes.is_empty()) {
        return Err(Failure::new(Kind::Unsupported, "mode=stream: the stream stays open, with one size of replies and without deadlines"));
    }
    if late && !setup.exchange.stream.is_empty() {
        return Err(Failure::new(Kind::Unsupported, "exchange.stream with a class that has a deadline: expected whole messages"));
    }
    Ok(())
}

impl Transport for Tonic {
    fn describe(&self) -> Value {
        let size = |name: &str, doc: &str| {
            json!({"name": name, "type": "bytes", "unit": "B", "default": 0, "min": 0, "max": 1i64 << 30, "doc": doc})
        };
        json!({"name": "tonic", "doc": "gRPC by tonic and prost on tokio", "wire": "grpc:netdyno.v1", "roles": ["server", "client"],
            "delivery": "message", "codecs": ["bytes", "proto"],
            "features": ([&FEATURES[..], &["stream-up", "stream-down", "stream-both"]].concat()),
            "options": [runtime_option(),
                {"name": "mode", "type": "choice", "default": "unary", "choices": ["unary", "stream"], "roles": ["client"],
                    "doc": "unary: an RPC for each exchange; stream: a message each way on a bidirectional stream for each slot"},
                size("max_message", "largest message that is taken; 0 is the library's 4 MiB, or what the exchange needs"),
                size("window", "a stream's window; 0 is the library's"),
                size("connection_window", "a connection's window; 0 is the library's"),
                {"name": "adaptive", "type": "bool", "default": false, "grid": ["false", "true"],
                    "doc": "windows follow the bandwidth-delay product, in place of window and connection_window"}]})
    }

    fn server(&self, setup: &Setup) -> Result<Box<dyn Server>, Failure> {
        check(setup)?;
        server::serve(setup)
    }

    fn client(&self, setup: &Setup) -> Result<Box<dyn Client>, Failure> {
        check(setup)?;
        client::connect(setup)
    }
}

static WORKER: Program = Program {
    name: "netdyno-worker-tonic",
    version: env!("CARGO_PKG_VERSION"),
    libraries: &[("tonic", "0.14.9"), ("prost", "0.14.6"), ("tokio", "1.54.1"), ("rustls", "0.23")],
    transports: &[&Tonic],
};

fn main() {
    WORKER.main()
}
