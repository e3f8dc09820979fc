//! What completes, counted by thread and by phase. A thread writes its own shard alone, so nothing there
//! locks; the control thread reads all of them.

use crate::bins::Bins;
use crate::contract::{Kind, Plan};
use crate::hist::{add, Recorder};
use serde_json::{json, Map, Value};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};

/// Threads that may report exchanges, over the process's life.
const MOST_THREADS: usize = 1024;

static THREADS: AtomicUsize = AtomicUsize::new(0);
thread_local!(static THREAD: Cell<usize> = const { Cell::new(usize::MAX) });

/// The number of the calling thread.
#[inline]
fn thread_number() -> usize {
    THREAD.with(|t| match t.get() {
        usize::MAX => {
            let n = THREADS.fetch_add(1, Relaxed);
            assert!(n < MOST_THREADS, "more than {MOST_THREADS} threads report exchanges");
            t.set(n);
            n
        }
        n => n,
    })
}

/// One value for each thread that asks for it.
pub(crate) struct PerThread<T>(Box<[OnceLock<Box<T>>]>);

impl<T> PerThread<T> {
    pub fn new() -> Self {
        PerThread((0..MOST_THREADS).map(|_| OnceLock::new()).collect())
    }

    #[inline]
    pub fn mine(&self, make: impl FnOnce() -> T) -> &T {
        self.0[thread_number()].get_or_init(|| Box::new(make()))
    }

    pub fn all(&self) -> impl Iterator<Item = &T> + Clone {
        self.0.iter().filter_map(|one| one.get()).map(|one| &**one)
    }
}

/// A stretch of time in ns.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub from: i64,
    pub to: i64,
}

impl Span {
    /// The share of begin to end that lies inside. What begins and ends at once lies inside or does not.
    pub fn share(&self, begin: i64, end: i64) -> f64 {
        if end <= begin {
            return if end >= self.from && end <= self.to { 1.0 } else { 0.0 };
        }
        ((end.min(self.to) as f64 - begin.max(self.from) as f64) / (end - begin) as f64).max(0.0)
    }
}

/// What one shard counts of one class in one phase.
#[derive(Default)]
pub(crate) struct ClassCounts {
    pub exchanges: AtomicU64,
    pub sent: AtomicU64,
    pub received: AtomicU64,
    pub errors: AtomicU64,
    drained: AtomicU64,
}

impl ClassCounts {
    /// Adds those of the window, and of draining.
    pub fn add(&mut self, window: &ClassCounts, drain: &ClassCounts) {
        let of = |n: &AtomicU64| n.load(Relaxed);
        add(&self.exchanges, of(&window.exchanges));
        add(&self.sent, of(&window.sent));
        add(&self.received, of(&window.received));
        add(&self.errors, of(&window.errors) + of(&drain.errors));
        add(&self.drained, of(&drain.exchanges));
    }

    pub fn json(&self, name: &str) -> Value {
        let mut body = json!({"name": name, "exchanges": self.exchanges.load(Relaxed), "sent_bytes": self.sent.load(Relaxed),
            "received_bytes": self.received.load(Relaxed)});
        for (name, n) in [("errors", &self.errors), ("drained", &self.drained)] {
            if n.load(Relaxed) > 0 {
                body[name] = n.load(Relaxed).into();
            }
        }
        body
    }
}

/// Service and response times of one shard's exchanges of one class, made as the first one completes.
#[derive(Default)]
pub(crate) struct ClassTimes(pub [OnceLock<Recorder>; 2]);

impl ClassTimes {
    pub fn record(&self, service: i64, response: Option<i64>) {
        for (to, ns) in self.0.iter().zip([Some(service), response]) {
            ns.into_iter().for_each(|ns| to.get_or_init(Recorder::default).record(ns));
        }
    }
}

/// Counters of one shard in one phase.
#[derive(Default)]
pub(crate) struct Counters {
    pub exchanges: AtomicU64,
    pub received: AtomicU64,
    pub sent: AtomicU64, // bytes, where sizes up vary
    pub errors: [AtomicU64; 6],
    pub unsent: AtomicU64, // of the errors, those whose request never went out
    pub parts: Parts,
    pub classes: Box<[ClassCounts]>,
}

impl Counters {
    pub fn new(classes: usize) -> Counters {
        Counters { classes: (0..classes).map(|_| ClassCounts::default()).collect(), ..Counters::default() }
    }
}

/// An exchange in the sums of parts, which are whole numbers.
const WHOLE: f64 = 1e9;

/// Corrects whole exchanges of a phase by those that span an edge of the window.
#[derive(Default)]
pub(crate) struct Parts {
    pub exchanges: AtomicI64,
    pub cycles: AtomicI64,
    pub idle_ns: AtomicU64,
}

impl Parts {
    /// Notes an exchange: when its slot became free, when it was sent and when it completed. counted is what
    /// the phase counts it as.
    pub fn note(&self, window: Span, counted: f64, free: i64, sent: i64, now: i64) {
        let correct = |to: &AtomicI64, share: f64| {
            to.store(to.load(Relaxed) + ((share - counted) * WHOLE).round() as i64, Relaxed);
        };
        correct(&self.exchanges, window.share(sent, now));
        correct(&self.cycles, window.share(free, now));
    }

    /// The corrections of exchanges and cycles.
    pub fn sums(&self) -> (f64, f64) {
        (self.exchanges.load(Relaxed) as f64 / WHOLE, self.cycles.load(Relaxed) as f64 / WHOLE)
    }
}

/// The times of one shard in the window and draining.
pub(crate) struct Times {
    pub service: Recorder,
    pub response: Option<Recorder>,
    pub lag: Option<Recorder>,
    pub sends: Option<Sends>,
    pub lengths: OnceLock<Recorder>,
    pub bins: Bins, // in place of service and response where sizes vary
    pub classes: Box<[ClassTimes]>,
}

impl Times {
    pub fn new(plan: &Plan) -> Times {
        let open = plan.rate > 0.0;
        Times {
            service: Recorder::default(),
            response: open.then(Recorder::default),
            lag: (open || plan.think_ns > 0).then(Recorder::default),
            sends: open.then(|| Sends::new(plan.rate)),
            lengths: OnceLock::new(),
            bins: Bins::default(),
            classes: plan.classes.iter().map(|_| ClassTimes::default()).collect(),
        }
    }

    /// The recorders of all service times, or of all response times, which only an open loop has.
    pub fn recorders(&self, of_service: bool, varies: bool) -> impl Iterator<Item = &Recorder> {
        let alone = if of_service { Some(&self.service) } else { self.response.as_ref() };
        let open = self.response.is_some();
        alone.filter(|_| !varies).into_iter().chain(varies.then(|| self.bins.recorders(of_service, open)).into_iter().flatten())
    }
}

/// Sends whose instants are kept: as many as come in 30 s, at most so many.
const MOST_SENDS: usize = 1 << 17;
const STRETCH_NS: f64 = 30e9;

/// How long sends are kept at a rate, in ns.
pub(crate) fn stretch(rate: f64) -> i64 {
    (MOST_SENDS as f64 / rate * 1e9).min(STRETCH_NS) as i64
}

/// When the exchanges of one shard were sent, in the order in which they completed.
pub(crate) struct Sends {
    at: Box<[AtomicI64]>,
    next: AtomicUsize,
    refused: AtomicI64, // the earliest that found no room
}

impl Sends {
    pub fn new(rate: f64) -> Sends {
        let room = (stretch(rate) as f64 / 1e9 * rate * 1.25) as usize + 64;
        let at = vec![0i64; room].into_boxed_slice(); // only what is used is in memory
        // SAFETY: AtomicI64 has the size, alignment and representation of i64.
        let at = unsafe { Box::from_raw(Box::into_raw(at) as *mut [AtomicI64]) };
        Sends { at, next: AtomicUsize::new(0), refused: AtomicI64::new(i64::MAX) }
    }

    #[inline]
    pub fn record(&self, sent: i64) {
        let i = self.next.load(Relaxed);
        if let Some(place) = self.at.get(i) {
            place.store(sent, Relaxed);
            self.next.store(i + 1, Relaxed);
        } else if sent < self.refused.load(Relaxed) {
            self.refused.store(sent, Relaxed);
        }
    }

    /// Adds the instants to all, and returns until when they are whole.
    pub fn collect(&self, all: &mut Vec<i64>) -> i64 {
        all.extend(self.at[..self.next.load(Relaxed)].iter().map(|a| a.load(Relaxed)));
        self.refused.load(Relaxed)
    }
}

/// The `arrivals` of a result: gaps between the sends in [from, until).
pub fn arrivals(mut sent: Vec<i64>, from: i64, until: i64) -> Option<Value> {
    sent.retain(|at| (from..until).contains(at));
    if sent.len() < 2 {
        return None;
    }
    sent.sort_unstable();
    let squares: f64 = sent.windows(2).map(|w| ((w[1] - w[0]) as f64).powi(2)).sum();
    Some(json!({"gaps": sent.len() - 1, "sum_ns": sent[sent.len() - 1] - sent[0], "sum_squares_ns2": squares, "stretch_ns": until - from}))
}

/// Sums of counts, as a reading has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    pub exchanges: i64,
    pub sent_bytes: i64,
    pub received_bytes: i64,
    pub connections: i64,
    pub redialled: i64,
    pub errors: [i64; 6],
}

impl Counts {
    /// up is what each exchange sends, where sizes do not vary.
    pub(crate) fn add(&mut self, c: &Counters, up: i64) {
        let exchanges = c.exchanges.load(Relaxed) as i64;
        self.exchanges += exchanges;
        self.sent_bytes += exchanges * up + c.sent.load(Relaxed) as i64;
        self.received_bytes += c.received.load(Relaxed) as i64;
        for (to, n) in self.errors.iter_mut().zip(&c.errors) {
            *to += n.load(Relaxed) as i64;
        }
    }

    pub fn json(&self) -> Value {
        let mut body = json!({"exchanges": self.exchanges, "sent_bytes": self.sent_bytes, "received_bytes": self.received_bytes});
        for (name, n) in [("connections", self.connections), ("redialled", self.redialled)] {
            if n > 0 {
                body[name] = n.into();
            }
        }
        let errors: Map<String, Value> = Kind::ALL
            .iter()
            .zip(self.errors)
            .filter(|(_, n)| *n > 0)
            .map(|(kind, n)| (kind.name().into(), n.into()))
            .collect();
        if !errors.is_empty() {
            body["errors"] = errors.into();
        }
        body
    }
}

/// Why exchanges failed. Any thread may use it; a failure is rare enough for a lock.
#[derive(Default)]
pub struct Reasons(Mutex<(HashMap<(Kind, String), i64>, i64)>);

impl Reasons {
    pub fn add(&self, kind: Kind, text: &str) {
        let mut held = self.0.lock().unwrap_or_else(|e| e.into_inner());
        let key = (kind, printable(text));
        if held.0.len() >= 64 && !held.0.contains_key(&key) {
            held.1 += 1;
        } else {
            *held.0.entry(key).or_default() += 1;
        }
    }

    /// The `reasons` of a result.
    pub fn json(&self) -> Vec<Value> {
        let held = self.0.lock().unwrap_or_else(|e| e.into_inner());
        let mut all: Vec<_> = held.0.iter().map(|((kind, text), n)| (-n, kind.name(), text)).collect();
        all.sort();
        let rest = held.1 - all.iter().skip(16).map(|(n, ..)| n).sum::<i64>();
        let mut out: Vec<Value> =
            all.iter().take(16).map(|(n, kind, text)| json!({"kind": kind, "text": text, "count": -n})).collect();
        if rest > 0 {
            out.push(json!({"text": "others", "count": rest}));
        }
        out
    }
}

/// A text that a report can show, of at most 120 bytes.
fn printable(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }) {
        if out.len() + c.len_utf8() > 120 {
            break;
        }
        out.push(c);
    }
    out
}

/// Counts what a server moved. Each thread has counters of its own.
pub struct Traffic {
    threads: PerThread<Moved>,
    open: AtomicI64,
}

/// What one thread of a server moved.
#[derive(Default)]
pub struct Moved {
    exchanges: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
    errors: AtomicU64,
}

impl Default for Traffic {
    fn default() -> Self {
        Traffic { threads: PerThread::new(), open: AtomicI64::new(0) }
    }
}

impl Traffic {
    /// Bytes came and went, and exchanges were answered in full.
    #[inline]
    pub fn moved(&self, received: usize, sent: usize, exchanges: u64) {
        let mine = self.threads.mine(Moved::default);
        add(&mine.received, received as u64);
        add(&mine.sent, sent as u64);
        add(&mine.exchanges, exchanges);
    }

    /// A request was refused.
    pub fn invalid(&self) {
        add(&self.threads.mine(Moved::default).errors, 1);
    }

    /// Counts an open connection until the guard is dropped.
    pub fn connected(&'static self) -> Connected {
        self.open.fetch_add(1, Relaxed);
        Connected(self)
    }

    /// The sums. Where messages have no ends, up is their size, by which the exchanges follow.
    pub fn counts(&self, up: Option<i64>) -> Counts {
        let mut c = Counts { connections: self.open.load(Relaxed), ..Counts::default() };
        for m in self.threads.all() {
            c.exchanges += m.exchanges.load(Relaxed) as i64;
            c.sent_bytes += m.sent.load(Relaxed) as i64;
            c.received_bytes += m.received.load(Relaxed) as i64;
            c.errors[Kind::Invalid as usize] += m.errors.load(Relaxed) as i64;
        }
        if let Some(up) = up {
            c.exchanges = c.sent_bytes / up.max(1);
        }
        c
    }
}

/// An open connection of a server.
pub struct Connected(&'static Traffic);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Relaxed);
    }
}
