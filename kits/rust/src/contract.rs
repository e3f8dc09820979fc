//! Messages of the worker contract (contract/CONTRACT.md) and the lines they travel in.

use serde::Deserialize;
use serde_json::{json, Map, Value};
use std::io::{self, BufRead, Write};
use std::sync::Mutex;

/// The version of the contract that this kit speaks.
pub const VERSION: i64 = 1;
/// The longest line, newline included.
pub const MAX_LINE: usize = 1 << 20;
/// The largest message of an exchange, in bytes.
pub const MAX_MESSAGE: i64 = 1 << 30;

/// What an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    Peer,
    Timeout,
    Invalid,
    Setup,
    Unsupported,
    Bug,
}

impl Kind {
    pub const ALL: [Kind; 6] = [Kind::Peer, Kind::Timeout, Kind::Invalid, Kind::Setup, Kind::Unsupported, Kind::Bug];

    /// The kind's name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Peer => "peer",
            Kind::Timeout => "timeout",
            Kind::Invalid => "invalid",
            Kind::Setup => "setup",
            Kind::Unsupported => "unsupported",
            Kind::Bug => "bug",
        }
    }
}

/// An error with its kind: of the trial as a whole, or of one exchange.
#[derive(Clone, Debug)]
pub struct Failure {
    pub kind: Kind,
    pub text: String,
}

impl Failure {
    pub fn new(kind: Kind, text: impl Into<String>) -> Failure {
        Failure { kind, text: text.into() }
    }
}

impl Failure {
    /// Of an exchange whose deadline was so many ns after its send. Equal causes have equal texts in every
    /// language: three significant digits.
    pub fn late(deadline_ns: i64) -> Failure {
        let (mut amount, mut unit) = (deadline_ns as f64, "ns");
        for larger in ["µs", "ms", "s"] {
            if amount >= 999.5 {
                (amount, unit) = (amount / 1e3, larger);
            }
        }
        let digits = if unit == "ns" || amount >= 99.95 { 0 } else if amount >= 9.995 { 1 } else { 2 };
        Failure::new(Kind::Timeout, format!("no reply within the deadline of {amount:.digits$} {unit}"))
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.text)
    }
}

impl std::error::Error for Failure {}

/// Whether this process or its host has too few file descriptors.
pub(crate) fn lacks_descriptors(e: &io::Error) -> bool {
    matches!(e.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

/// An error of a socket is of kind peer; its text is the same for the same cause.
impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Failure {
        let (kind, text) = match e.kind() {
            _ if lacks_descriptors(&e) => (Kind::Setup, format!("{e}: too few file descriptors; raise `ulimit -n`")),
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => (Kind::Peer, "connection reset".into()),
            io::ErrorKind::ConnectionRefused => (Kind::Peer, "connection refused".into()),
            io::ErrorKind::UnexpectedEof => (Kind::Peer, "connection closed".into()),
            io::ErrorKind::TimedOut => (Kind::Timeout, "timed out".into()),
            _ => (Kind::Peer, e.to_string()),
        };
        Failure::new(kind, text)
    }
}

/// A table of a distribution: segments `[end, low, high]` (contract/DRAWS.md).
pub type Table = Vec<[i64; 3]>;

/// One exchange's messages.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Exchange {
    pub up_bytes: i64,
    pub down_bytes: i64,
    pub codec: String,
    pub message: Option<Message>,
    pub stream: String,
    pub chunk_bytes: i64,
    pub up_sizes: Table,
    pub down_sizes: Table,
}

/// What another codec than `bytes` encodes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Message {
    pub name: String,
    pub up: Typed,
    pub down: Typed,
    pub descriptors: String,
}

/// A message's type and its values, as JSON text.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Typed {
    #[serde(rename = "type")]
    pub kind: String,
    pub json: String,
}

/// One kind of exchange of a load that mixes several (contract/MIXES.md).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Class {
    pub name: String,
    pub end: i64,
    pub up_bytes: i64,
    pub down_bytes: i64,
    pub up_sizes: Table,
    pub down_sizes: Table,
    pub method: String,
    pub path: String,
    pub status: u16,
    pub deadline_ns: i64,
    pub think_ns: i64,
}

/// What a server does for each exchange: a time that is drawn and spent, by `cpu` or by `sleep`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Work {
    pub ns: Table,
    pub by: String,
}

/// When and how much a client sends.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Plan {
    pub connections: i64,
    pub in_flight: i64,
    pub rate: f64,
    pub arrival: String,
    pub think_ns: i64,
    pub active_share: f64,
    pub fresh: bool,
    pub amount: i64,
    pub drain_ns: i64,
    pub gaps: Table,
    pub phases: Vec<[f64; 3]>,
    pub repeat: bool,
    pub classes: Vec<Class>,
    pub keys: Table,
    pub trace: Option<Value>,
}

/// PEM texts of an encrypted trial.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Tls {
    pub authorities: String,
    pub certificate: String,
    pub key: String,
}

/// What a trial asks of one end.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Setup {
    pub trial: String,
    pub transport: String,
    pub role: String,
    pub seed: u64,
    pub listen: String,
    pub listeners: i64,
    pub allow: Vec<String>,
    pub peers: Vec<String>,
    pub sources: Vec<String>,
    pub threads: i64,
    pub exchange: Exchange,
    pub load: Plan,
    pub options: Map<String, Value>,
    pub timeline: bool,
    pub tls: Option<Tls>,
    pub work: Option<Work>,
}

impl Setup {
    pub fn is_server(&self) -> bool {
        self.role == "server"
    }

    /// Threads that do the work: those asked for, else one for each CPU that this process may use.
    pub fn threads(&self) -> usize {
        match self.threads {
            n if n > 0 => n as usize,
            _ => std::thread::available_parallelism().map_or(1, |n| n.get()),
        }
    }

    /// The value of a choice or text, which `options` has after the worker has completed them.
    pub fn text(&self, option: &str) -> &str {
        self.options.get(option).and_then(Value::as_str).unwrap_or("")
    }

    /// The value of an int, bytes or duration.
    pub fn int(&self, option: &str) -> i64 {
        self.options.get(option).and_then(Value::as_i64).unwrap_or(0)
    }

    /// The value of a bool.
    pub fn flag(&self, option: &str) -> bool {
        self.options.get(option).and_then(Value::as_bool).unwrap_or(false)
    }
}

/// A command of the bench.
#[derive(Debug)]
pub enum Command {
    Setup(Box<Setup>),
    Start,
    Mark { id: i64, reset: bool },
    Stop,
    /// Another message, which no bench sends to a worker.
    Other(String),
}

#[derive(Deserialize)]
struct Mark {
    #[serde(default)]
    id: i64,
    #[serde(default)]
    reset: bool,
}

const NAMES: [&str; 12] =
    ["hello", "setup", "ready", "start", "mark", "tick", "stop", "result", "error", "exit", "examine", "examined"];

/// Reads one line without its newline.
pub fn parse(line: &[u8]) -> Result<Command, Failure> {
    let bad = |why: String| {
        let begin = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
        Failure::new(Kind::Invalid, format!("line {begin:?}: {why} (CONTRACT.md, section Lines)"))
    };
    let value: Value = serde_json::from_slice(line).map_err(|e| bad(e.to_string()))?;
    let Value::Object(mut all) = value else { return Err(bad("not a JSON object".into())) };
    let found: Vec<&str> = NAMES.into_iter().filter(|n| all.contains_key(*n)).collect();
    let [name] = found[..] else {
        return Err(bad(format!("{} message keys, expected one of {}", found.len(), NAMES.join(", "))));
    };
    let body = without_nulls(all.remove(name).unwrap_or_default());
    if !body.is_object() {
        return Err(bad(format!("{name} is no object")));
    }
    let wrong = |e: serde_json::Error| bad(format!("{name}: {e}"));
    Ok(match name {
        "setup" => Command::Setup(serde_json::from_value(body).map_err(wrong)?),
        "mark" => {
            let m: Mark = serde_json::from_value(body).map_err(wrong)?;
            Command::Mark { id: m.id, reset: m.reset }
        }
        "start" => Command::Start,
        "stop" => Command::Stop,
        _ => Command::Other(name.into()),
    })
}

/// A field that is null is absent.
fn without_nulls(body: Value) -> Value {
    match body {
        Value::Object(all) => {
            Value::Object(all.into_iter().filter(|(_, v)| !v.is_null()).map(|(k, v)| (k, without_nulls(v))).collect())
        }
        other => other,
    }
}

/// Reads the next line; None at the end of input. A failure may be followed by more lines, unless the
/// line had no end.
pub fn read_line(from: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<Result<Command, Failure>>> {
    line.clear();
    let mut limited = io::Read::take(&mut *from, MAX_LINE as u64);
    let n = limited.read_until(b'\n', line)?;
    if n == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(Some(parse(line)));
    }
    let begin = String::from_utf8_lossy(&line[..line.len().min(40)]).into_owned();
    if n < MAX_LINE {
        return Ok(Some(Err(Failure::new(Kind::Invalid, format!("line {begin:?}: it ends without a newline")))));
    }
    loop {
        let piece = from.fill_buf()?;
        let (used, ended) = match piece.iter().position(|b| *b == b'\n') {
            Some(at) => (at + 1, true),
            None => (piece.len(), piece.is_empty()),
        };
        from.consume(used);
        if ended {
            break;
        }
    }
    Ok(Some(Err(Failure::new(Kind::Invalid, format!("line {begin:?}: longer than {MAX_LINE} bytes")))))
}

static OUT: Mutex<()> = Mutex::new(());

/// Writes one message to stdout at once. Any thread may call it. When stdout is gone the bench is too,
/// and the end of stdin will end the worker.
pub fn send(name: &str, body: Value) {
    let line = format!("{}\n", json!({ name: body }));
    let _lock = OUT.lock();
    let mut out = io::stdout().lock();
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
}

/// Reports a mistake of the bench; the worker lives on.
pub fn complain(text: &str) {
    send("error", json!({"kind": "invalid", "text": text, "fatal": false}));
}

/// Reports a fatal error and ends the process: nothing is said after it.
pub fn fail(failure: &Failure, sent: Option<Value>) -> ! {
    let mut body = json!({"kind": failure.kind.name(), "text": failure.text, "fatal": true});
    if let Some(sent) = sent {
        body["sent"] = sent;
    }
    let line = format!("{}\n", json!({ "error": body }));
    let _lock = OUT.lock();
    let mut out = io::stdout().lock();
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
    std::process::exit(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As netdyno writes durations, so that equal causes have equal texts.
    #[test]
    fn deadlines_have_three_digits() {
        for (ns, text) in [(5, "5 ns"), (999_600, "1.00 ms"), (1_500_000, "1.50 ms"), (20_000_000, "20.0 ms"), (250_000, "250 µs"), (2_000_000_000, "2.00 s")] {
            assert_eq!(Failure::late(ns).text, format!("no reply within the deadline of {text}"));
        }
    }
}
