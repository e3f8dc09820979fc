//! The life of a worker: it speaks the lines, owns the state, and calls the transport.
//!
//! ```text
//! born ─hello→ idle ─setup/ready→ ready ─start→ running ─mark(reset)→ window ─mark, stop/result→ done ─EOF→ exit
//! ```
//!
//! One thread reads stdin, one runs the client's load, one drives the state.

use crate::clock::{now, process_cpu};
use crate::contract::{complain, fail, read_line, send, Command, Failure, Kind, Setup, VERSION};
use crate::counters::Counts;
use crate::load::Load;
use crate::options;
use serde_json::{json, Value};
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// A named implementation of a wire.
pub trait Transport: Sync {
    /// What hello says of it: name, doc, wire, roles, delivery, features, options.
    fn describe(&self) -> Value;
    /// A server that listens and serves. The setup's options are complete.
    fn server(&self, setup: &Setup) -> Result<Box<dyn Server>, Failure>;
    /// A client whose connections are all open and verified.
    fn client(&self, setup: &Setup) -> Result<Box<dyn Client>, Failure>;
}

/// A server in one trial. It ends with the process.
pub trait Server: Send {
    /// Its addresses, and whatever else ready shall say.
    fn ready(&self) -> Value;
    fn counts(&self) -> Counts;
}

/// A client in one trial. It ends with the process.
pub trait Client: Send {
    /// What ready shall say beside the connections, or null.
    fn ready(&self) -> Value {
        Value::Null
    }
    fn load(&self) -> &'static Load;
    /// Makes exchanges until every slot is let go. The failure means that no connection is left.
    fn run(&mut self) -> Result<(), Failure>;
    /// Requests sent before ready, each counted once.
    fn verified(&self) -> i64 {
        self.load().plan().connections
    }
}

/// A server that says this when ready, and counts so.
pub fn serving(ready: Value, counts: impl Fn() -> Counts + Send + 'static) -> Box<dyn Server> {
    struct Serving<F>(Value, F);
    impl<F: Fn() -> Counts + Send> Server for Serving<F> {
        fn ready(&self) -> Value {
            self.0.clone()
        }
        fn counts(&self) -> Counts {
            (self.1)()
        }
    }
    Box::new(Serving(ready, counts))
}

/// A client made of what it does when its load starts.
pub struct Driving<F> {
    ready: Value,
    load: &'static Load,
    verified: i64,
    run: Option<F>,
}

/// A client that runs so. What ready says beside the connections is null, and a request for each was verified,
/// unless the fields say otherwise.
pub fn driving<F: FnOnce() -> Result<(), Failure> + Send>(load: &'static Load, run: F) -> Driving<F> {
    Driving { ready: Value::Null, load, verified: load.plan().connections, run: Some(run) }
}

impl<F> Driving<F> {
    pub fn saying(self, ready: Value) -> Driving<F> {
        Driving { ready, ..self }
    }
    pub fn having_verified(self, requests: i64) -> Driving<F> {
        Driving { verified: requests, ..self }
    }
}

impl<F: FnOnce() -> Result<(), Failure> + Send> Client for Driving<F> {
    fn ready(&self) -> Value {
        self.ready.clone()
    }
    fn load(&self) -> &'static Load {
        self.load
    }
    fn run(&mut self) -> Result<(), Failure> {
        self.run.take().map_or(Ok(()), |run| run())
    }
    fn verified(&self) -> i64 {
        self.verified
    }
}

enum Event {
    Line(Result<Command, Failure>),
    End,
    Server(Box<dyn Server>),
    Client(Box<dyn Client>),
    Refused(Failure),
    Finished(Result<(), Failure>),
}

/// What a worker's program says of itself.
pub struct Program {
    pub name: &'static str,
    pub version: &'static str,
    /// Names and versions of what it links.
    pub libraries: &'static [(&'static str, &'static str)],
    pub transports: &'static [&'static dyn Transport],
}

const TICK: Duration = Duration::from_millis(200);

impl Program {
    /// Speaks the contract on stdin and stdout until stdin ends; then the process exits.
    pub fn main(&'static self) -> ! {
        raise_descriptors();
        std::panic::set_hook(Box::new(|info| fail(&Failure::new(Kind::Bug, info.to_string()), None)));
        let libraries: Vec<Value> = self.libraries.iter().map(|(n, v)| json!({"name": n, "version": v})).collect();
        let transports: Vec<Value> = self.transports.iter().map(|t| t.describe()).collect();
        send("hello", json!({"contract": VERSION, "worker": self.name, "version": self.version,
            "libraries": libraries, "transports": transports}));
        let (events, inbox) = channel();
        let lines = events.clone();
        std::thread::spawn(move || {
            let (mut stdin, mut line) = (std::io::stdin().lock(), Vec::new());
            while let Ok(Some(read)) = read_line(&mut stdin, &mut line) {
                if lines.send(Event::Line(read)).is_err() {
                    break;
                }
            }
            let _ = lines.send(Event::End);
        });
        Machine::new(self, events).run(inbox)
    }
}

/// The state of a worker, owned by the thread of main.
struct Machine {
    program: &'static Program,
    events: Sender<Event>,
    setup: Option<Setup>,
    server: Option<Box<dyn Server>>,
    client: Option<Box<dyn Client>>, // until its load runs
    load: Option<&'static Load>,
    verified: i64,
    started: bool,
    done: bool,
    overdue: Option<Instant>,
    next_tick: Instant,
}

impl Machine {
    fn new(program: &'static Program, events: Sender<Event>) -> Machine {
        Machine {
            program, events, setup: None, server: None, client: None, load: None, verified: 0,
            started: false, done: false, overdue: None, next_tick: Instant::now() + TICK,
        }
    }

    fn run(mut self, inbox: std::sync::mpsc::Receiver<Event>) -> ! {
        loop {
            let until = self.overdue.map_or(self.next_tick, |o| o.min(self.next_tick));
            match inbox.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Event::Line(Ok(command))) => self.command(command),
                Ok(Event::Line(Err(bad))) => complain(&bad.text),
                Ok(Event::End) | Err(RecvTimeoutError::Disconnected) => std::process::exit(0),
                Ok(Event::Server(server)) => {
                    let ready = server.ready();
                    self.server = Some(server);
                    self.introduce(ready);
                }
                Ok(Event::Client(client)) => {
                    let mut ready = client.ready();
                    let n = client.load().plan().connections;
                    (self.load, self.verified) = (Some(client.load()), client.verified());
                    (ready["connections"], ready["verified"]) = (n.into(), n.into());
                    self.client = Some(client);
                    self.introduce(ready);
                }
                Ok(Event::Refused(failure)) => fail(&failure, None),
                Ok(Event::Finished(Ok(()))) => self.finish(),
                Ok(Event::Finished(Err(lost))) if !self.done => fail(&lost, self.load.map(|l| l.sent(self.verified))),
                Ok(Event::Finished(Err(_))) | Err(RecvTimeoutError::Timeout) => {}
            }
            if self.overdue.is_some_and(|o| Instant::now() >= o) {
                self.finish();
            }
            self.tick();
        }
    }

    fn command(&mut self, command: Command) {
        let ready = self.server.is_some() || self.load.is_some();
        let early = |what: &str| complain(&format!("{{{what:?}…}} came before ready (CONTRACT.md, section Life)"));
        match command {
            Command::Setup(_) if self.setup.is_some() => complain("{\"setup\"…} came twice; a worker serves one trial (CONTRACT.md, section setup)"),
            Command::Setup(setup) => self.prepare(*setup),
            Command::Start if !ready => early("start"),
            Command::Start if self.started => complain("{\"start\"…} came twice (CONTRACT.md, section start)"),
            Command::Start => self.start(),
            Command::Mark { .. } if !ready => early("mark"),
            Command::Mark { id, reset } => self.mark(id, reset),
            Command::Stop if !ready => early("stop"),
            Command::Stop => self.stop(),
            Command::Other(name) => complain(&format!("{{{name:?}…}} is not a command of the bench (CONTRACT.md, section Life)")),
        }
    }

    /// Sets up an end in the background, so that the end of stdin is heard while connections are made.
    fn prepare(&mut self, mut setup: Setup) {
        let described = |t: &&&dyn Transport| t.describe()["name"] == setup.transport.as_str();
        let Some(transport) = self.program.transports.iter().find(described).copied() else {
            let known: Vec<Value> = self.program.transports.iter().map(|t| t.describe()["name"].clone()).collect();
            let hint = options::nearest(&setup.transport, known.iter().filter_map(Value::as_str));
            fail(&Failure::new(Kind::Unsupported, format!("no transport {:?} here; {hint}", setup.transport)), None)
        };
        let described = transport.describe();
        let checked = options::able(&described, &setup).and_then(|()| options::complete(&described, &setup));
        setup.options = checked.unwrap_or_else(|failure| fail(&failure, None));
        self.setup = Some(setup.clone());
        let events = self.events.clone();
        std::thread::spawn(move || {
            let made = match setup.is_server() {
                true => transport.server(&setup).map(Event::Server),
                false => transport.client(&setup).map(Event::Client),
            };
            let _ = events.send(made.unwrap_or_else(Event::Refused));
        });
    }

    fn introduce(&mut self, mut ready: Value) {
        let Some(setup) = &self.setup else { return };
        let defaults = json!({"options": setup.options, "threads": setup.threads()});
        for (key, value) in defaults.as_object().into_iter().flatten() {
            if ready[key].is_null() {
                ready[key] = value.clone();
            }
        }
        send("ready", ready);
    }

    fn start(&mut self) {
        self.started = true;
        if let (Some(load), Some(mut client)) = (self.load, self.client.take()) {
            load.start(now());
            let events = self.events.clone();
            std::thread::spawn(move || {
                let _ = events.send(Event::Finished(client.run()));
                std::mem::forget(client); // its connections stay open until the process ends
            });
        }
    }

    fn mark(&mut self, id: i64, reset: bool) {
        let (at, cpu) = (now(), process_cpu());
        let counts = match self.load {
            Some(load) if !self.done => {
                if reset { load.open(at) } else { load.close(at) }
                load.snapshot()
            }
            _ => self.counts(),
        };
        let reading = json!({"at_ns": at, "cpu_ns": cpu, "counts": counts.json()});
        send("mark", json!({"id": id, "reset": reset, "reading": reading}));
    }

    fn counts(&self) -> Counts {
        match (&self.load, &self.server) {
            (Some(load), _) => load.counts(),
            (_, Some(server)) => server.counts(),
            _ => Counts::default(),
        }
    }

    fn stop(&mut self) {
        match self.load {
            _ if self.done || self.overdue.is_some() => {}
            Some(load) if self.started => {
                load.end(now());
                self.overdue = Some(Instant::now() + Duration::from_nanos(load.plan().drain_ns as u64));
            }
            Some(_) => self.finish(),
            None => {
                self.done = true;
                send("result", json!({"from_ns": 0, "to_ns": 0, "counts": self.counts().json()}));
            }
        }
    }

    /// Reports the result of a client whose slots are all let go, or whose time to drain is over.
    fn finish(&mut self) {
        self.overdue = None;
        if let Some(load) = self.load.filter(|_| !self.done) {
            self.done = true;
            send("result", load.result(now(), self.verified));
        }
    }

    fn tick(&mut self) {
        if Instant::now() < self.next_tick {
            return;
        }
        while self.next_tick <= Instant::now() {
            self.next_tick += TICK; // a tick that is late is skipped
        }
        if self.done || !(self.server.is_some() || self.load.is_some() && self.started) {
            return;
        }
        let c = self.counts();
        let errors: i64 = c.errors.iter().sum();
        let mut tick = json!({"at_ns": now(), "exchanges": c.exchanges, "received_bytes": c.received_bytes, "errors": errors});
        if self.setup.as_ref().is_some_and(|s| s.timeline) {
            if let Some(times) = self.load.and_then(|l| l.slice()) {
                tick["times"] = times;
            }
        }
        send("tick", tick);
    }
}

/// Lifts the soft limit on open files to the hard one.
fn raise_descriptors() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: limit is valid for reading and writing. Too few descriptors are reported where they run out.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 && limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}
