//! Transports hyper-http1 and hyper-http2: HTTP/1.1 and HTTP/2 by hyper on tokio, JSON by serde_json,
//! protobuf by prost, TLS by rustls.

mod ask;
mod client;
mod server;

use netdyno_kit::{json, Client, Failure, Kind, Program, Server, Setup, Transport, Value};
use netdyno_kit_tokio::runtime_option;
use netdyno_requests::{codecs, FEATURES};

/// The versions of HTTP.
#[derive(Clone, Copy, PartialEq)]
enum Version {
    One,
    Two,
}

impl Version {
    /// The name by which ends agree on it in TLS.
    fn protocol(self) -> &'static str {
        if self == Version::One { "http/1.1" } else { "h2" }
    }
}

struct Hyper(Version);

fn size(name: &str, least: i64, doc: &str) -> Value {
    json!({"name": name, "type": "bytes", "unit": "B", "default": 0, "min": 0, "max": 1i64 << 30, "doc": format!("{doc}, at least {least}; 0 is hyper's default")})
}

impl Transport for Hyper {
    fn describe(&self) -> Value {
        let (name, wire, mut options) = match self.0 {
            Version::One => ("hyper-http1", "http/1.1", vec![size("buffer", 8192, "most that a connection buffers (max_buf_size)")]),
            Version::Two => ("hyper-http2", "h2c", vec![
                size("window", 65_535, "a stream's window"),
                size("connection_window", 65_535, "a connection's window"),
                size("max_frame", 16_384, "largest frame that is taken"),
                json!({"name": "adaptive", "type": "bool", "default": false, "grid": ["false", "true"], "doc": "windows follow the bandwidth-delay product, in place of window and connection_window"}),
                json!({"name": "max_streams", "type": "int", "default": 0, "min": 0, "max": 1 << 20, "roles": ["server"], "doc": "most streams on a connection; 0 is hyper's default"}),
            ]),
        };
        let client = json!(["client"]);
        options.extend([runtime_option(),
            json!({"name": "path", "type": "text", "default": "/", "roles": client, "doc": "path of the requests"}),
            json!({"name": "verify", "type": "choice", "default": "content", "choices": ["content", "length"], "roles": client,
                "doc": "what of a connection's first reply is compared: content, with what netdyno's servers send; length, for another's server"})]);
        json!({"name": name, "doc": format!("hyper on tokio, {wire}, a task per connection"), "wire": wire, "roles": ["server", "client"],
            "delivery": "message", "codecs": codecs(), "features": FEATURES, "options": options})
    }

    fn server(&self, setup: &Setup) -> Result<Box<dyn Server>, Failure> {
        check(setup)?;
        server::serve(self.0, setup)
    }

    fn client(&self, setup: &Setup) -> Result<Box<dyn Client>, Failure> {
        check(setup)?;
        if setup.load.in_flight > 1 && (self.0 == Version::One || setup.load.fresh) {
            let text = format!("load.in_flight is {}: one exchange at a time on a connection of HTTP/1.1, or a fresh one; use more connections", setup.load.in_flight);
            return Err(Failure::new(Kind::Unsupported, text));
        }
        client::connect(self.0, setup)
    }
}

/// Refuses sizes that hyper does not take.
fn check(setup: &Setup) -> Result<(), Failure> {
    for (name, least, most) in [("buffer", 8192, i64::MAX), ("window", 65_535, 1 << 30), ("connection_window", 65_535, 1 << 30), ("max_frame", 16_384, 16_777_215)] {
        let n = setup.int(name);
        if n != 0 && !(least..=most).contains(&n) {
            return Err(Failure::new(Kind::Setup, format!("option {name} is {n}, expected 0 or {least} to {most}")));
        }
    }
    Ok(())
}

/// A number that is given, or None for the library's default.
fn given(setup: &Setup, option: &str) -> Option<u32> {
    Some(setup.int(option) as u32).filter(|n| *n > 0)
}

static WORKER: Program = Program {
    name: "netdyno-worker-hyper",
    version: env!("CARGO_PKG_VERSION"),
    libraries: &[("hyper", "1.12.0"), ("tokio", "1.54.1"), ("serde_json", "1.0"), ("prost", "0.14.6"), ("rustls", "0.23")],
    transports: &[&Hyper(Version::One), &Hyper(Version::Two)],
};

fn main() {
    WORKER.main()
}
