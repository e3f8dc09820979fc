//! Decides when a client sends, and counts what came of it. A transport pulls: it asks each of its slots
//! for the next exchange and reports each completion; it never sees rates, windows or histograms.
//!
//! ```text
//! while let Some(due) = slot.next(now()) { …wait until due… slot.goes_out(); …send, receive… slot.done(sent, now(), received) }
//! ```
//!
//! One task or thread uses a slot at a time, on whichever thread. Nothing on a slot's path locks or
//! allocates. A worker serves one trial, so a load lives as long as the process.

use crate::bins::{bin_of, Waits};
use crate::contract::{Failure, Kind, Plan, Setup};
use crate::counters::{Counters, Counts, PerThread, Reasons, Times};
use crate::draw::{Draw, Draws};
use crate::hist::Histogram;
use crate::schedule::Course;
pub use crate::slot::Slot;
use serde_json::{json, Value};
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering::*};
use std::sync::{Condvar, Mutex};

/// Marks a slot without an exchange in flight.
pub(crate) const IDLE: i64 = i64::MAX;
/// Slots of one client in all.
const MOST_SLOTS: i64 = 1 << 22;

pub(crate) const BEFORE: usize = 0;
pub(crate) const WINDOW: usize = 1;
pub(crate) const DRAIN: usize = 2;
pub(crate) const OVER: usize = 3; // nothing is counted any more

pub(crate) struct Shard {
    pub phases: [Counters; 3],
    pub times: Times,
    pub again: AtomicU64,
}

/// What all slots share.
pub(crate) struct Core {
    pub plan: Plan,
    pub draws: Draws,
    pub varies: bool,   // what exchanges carry is drawn
    pub thinks: bool,   // classes say how long slots pause
    pub largest: usize, // bin
    pub up: i64,        // bytes that each exchange sends; 0 where sizes vary
    pub down: AtomicI64,
    pub course: Option<Course>,
    shards: PerThread<Shard>,
    pub phase: AtomicUsize,
    pub start_ns: AtomicI64,
    pub from_ns: AtomicI64,
    pub close_ns: AtomicI64, // IDLE until the load ends
    pub reasons: Reasons,
}

impl Core {
    #[inline]
    pub fn shard(&self) -> &Shard {
        let classes = self.plan.classes.len();
        self.shards.mine(|| Shard {
            phases: std::array::from_fn(|_| Counters::new(classes)),
            times: Times::new(&self.plan),
            again: AtomicU64::new(0),
        })
    }

    pub fn all_shards(&self) -> impl Iterator<Item = &Shard> + Clone {
        self.shards.all()
    }

    pub fn active(&self) -> usize {
        let share = self.plan.active_share * self.plan.connections as f64;
        ((share - 1e-9).ceil() as usize).max(1)
    }

    pub fn slots(&self) -> usize {
        self.active() * self.plan.in_flight as usize
    }
}

/// The work of one client in one trial. The worker calls start, open, close and end; the transport owns
/// the slots.
pub struct Load {
    pub(crate) core: &'static Core,
    pub(crate) slots: &'static [Slot],
    /// Connections that are open now.
    pub open_connections: AtomicI64,
    /// Connections that the client made again.
    pub redialled: AtomicI64,
    on_end: Mutex<Vec<Box<dyn Fn() + Send + Sync>>>,
    ending: Condvar,
    last_slice: Mutex<Histogram>,
}

fn normalise(plan: &mut Plan) -> Result<(), String> {
    plan.in_flight = if plan.in_flight == 0 { 1 } else { plan.in_flight };
    plan.active_share = if plan.active_share == 0.0 { 1.0 } else { plan.active_share };
    plan.drain_ns = if plan.drain_ns == 0 { 2_000_000_000 } else { plan.drain_ns };
    if plan.arrival.is_empty() {
        plan.arrival = "constant".into();
    }
    let n = plan.connections;
    if !(1..=MOST_SLOTS).contains(&n) {
        return Err(format!("load.connections is {n}, expected 1 to {MOST_SLOTS}"));
    }
    if plan.in_flight < 1 || plan.in_flight > MOST_SLOTS / n {
        return Err(format!("load.in_flight is {} over {n} connections, expected 1 to {MOST_SLOTS} in all", plan.in_flight));
    }
    if !(plan.active_share > 0.0 && plan.active_share <= 1.0) {
        return Err(format!("load.active_share is {}, expected more than 0 up to 1", plan.active_share));
    }
    if !(0.0..=1e9).contains(&plan.rate) {
        return Err(format!("load.rate is {}, expected 0 (closed loop) to 1e9 exchanges per second", plan.rate));
    }
    if plan.trace.is_some() || plan.arrival == "recorded" {
        return Err("load.trace or arrival recorded: this kit does not replay recorded traffic".into());
    }
    if !["constant", "poisson", "drawn"].contains(&plan.arrival.as_str()) {
        return Err(format!("load.arrival is {:?}, expected constant, poisson or drawn", plan.arrival));
    }
    if plan.rate == 0.0 && (!plan.phases.is_empty() || plan.arrival == "drawn") {
        return Err("load.rate is 0 with load.phases or arrival drawn: a closed loop has no schedule".into());
    }
    if plan.rate > 0.0 && plan.think_ns > 0 {
        return Err(format!("load.think_ns is {} with load.rate {}: an open loop does not think", plan.think_ns, plan.rate));
    }
    if plan.think_ns == 0 && plan.classes.iter().any(|c| c.think_ns > 0) {
        return Err("load.think_ns is 0, expected the mean of the classes' pauses".into());
    }
    if plan.classes.iter().any(|c| c.think_ns < 0 || c.deadline_ns < 0) {
        return Err("load.classes: a think_ns or deadline_ns is negative".into());
    }
    if plan.think_ns < 0 || plan.amount < 0 || plan.drain_ns < 0 {
        return Err("load.think_ns, load.amount or load.drain_ns is negative".into());
    }
    Ok(())
}

impl Load {
    /// Makes the slots of every active connection. The failure is of kind setup.
    pub fn new(setup: &Setup) -> Result<&'static Load, Failure> {
        let refuse = |text| Failure::new(Kind::Setup, text);
        let mut plan = setup.load.clone();
        normalise(&mut plan).map_err(refuse)?;
        let (x, draws) = (&setup.exchange, Draws::new(setup)?);
        let core: &'static mut Core = Box::leak(Box::new(Core {
            up: if draws.up_varies() { 0 } else { x.up_bytes },
            down: AtomicI64::new(x.down_bytes),
            varies: draws.vary(),
            thinks: plan.classes.iter().any(|c| c.think_ns > 0),
            largest: bin_of(x.up_bytes.max(x.down_bytes)),
            draws,
            plan,
            course: None,
            shards: PerThread::new(),
            phase: AtomicUsize::new(BEFORE),
            start_ns: AtomicI64::new(0),
            from_ns: AtomicI64::new(0),
            close_ns: AtomicI64::new(IDLE),
            reasons: Reasons::default(),
        }));
        if core.plan.rate > 0.0 {
            core.course = Some(Course::new(&core.plan, setup.seed, core.slots()).map_err(refuse)?);
        }
        let core: &'static Core = core;
        Ok(Box::leak(Box::new(Load {
            core,
            slots: make_slots(core),
            open_connections: AtomicI64::new(0),
            redialled: AtomicI64::new(0),
            on_end: Mutex::default(),
            ending: Condvar::new(),
            last_slice: Mutex::default(),
        })))
    }

    /// The plan with its defaults filled in.
    pub fn plan(&self) -> &Plan {
        &self.core.plan
    }

    /// Sets the size of a reply where a codec decides it. Call it before start.
    pub fn expect_down(&self, bytes: i64) {
        self.core.down.store(bytes, Relaxed);
    }

    /// What the first exchange of a connection carries, which is verified.
    pub fn first(&self, connection: usize) -> Draw {
        self.core.draws.of(connection as u64)
    }

    /// How many connections, the first ones, carry load.
    pub fn active(&self) -> usize {
        self.core.active()
    }

    /// The slots of one connection; none when it is idle.
    pub fn slots(&self, connection: usize) -> &'static [Slot] {
        let n = self.core.plan.in_flight as usize;
        self.slots.get(connection * n..(connection + 1) * n).unwrap_or_default()
    }

    /// Calls what when the load ends, or at once if it has.
    pub fn on_end(&self, what: impl Fn() + Send + Sync + 'static) {
        let mut all = self.on_end.lock().unwrap_or_else(|e| e.into_inner());
        if self.ended() {
            return what();
        }
        all.push(Box::new(what));
    }

    /// Blocks until an instant; false when the load ended before.
    pub fn wait_until(&self, due: i64) -> bool {
        let mut all = self.on_end.lock().unwrap_or_else(|e| e.into_inner());
        loop {
            let left = due - crate::clock::now();
            if left <= 0 || self.ended() {
                return left <= 0;
            }
            let within = std::time::Duration::from_nanos(left as u64);
            all = self.ending.wait_timeout(all, within).unwrap_or_else(|e| e.into_inner()).0;
        }
    }

    /// Whether exchanges due from now on are not sent.
    pub fn ended(&self) -> bool {
        self.core.close_ns.load(SeqCst) != IDLE
    }
}

/// The slots of every active connection. Where sizes vary, exchanges can wait for others on their
/// connection; those of a slot alone cannot in a closed loop.
fn make_slots(core: &'static Core) -> &'static [Slot] {
    let n = core.plan.in_flight as usize;
    let waits: &'static [Waits] = match core.varies && (n > 1 || core.course.is_some()) {
        true => Box::leak((0..core.active()).map(|_| Waits::default()).collect()),
        false => &[],
    };
    let slots: Vec<Slot> = (0..core.slots()).map(|i| Slot::new(core, i, waits.get(i / n))).collect();
    let slots: &'static [Slot] = Box::leak(slots.into_boxed_slice());
    if n > 1 {
        waits.iter().zip(slots.chunks(n)).for_each(|(w, of)| w.among(of));
    }
    slots
}

/// What the worker's control thread does.
impl Load {
    /// Sets the instant from which schedules count. With an amount and no opening before, it opens the
    /// window too.
    pub fn start(&self, now: i64) {
        self.core.start_ns.store(now, SeqCst);
        if self.core.plan.amount > 0 && !self.opened() {
            self.open(now);
        }
    }

    pub(crate) fn opened(&self) -> bool {
        self.core.from_ns.load(SeqCst) != 0
    }

    /// Opens the window: what completes from now on is counted in it.
    pub fn open(&self, now: i64) {
        if self.ended() || self.opened() {
            return;
        }
        self.core.from_ns.store(now, SeqCst);
        self.core.phase.store(WINDOW, SeqCst);
    }

    /// Closes an open window, and with it the load.
    pub fn close(&self, now: i64) {
        if self.opened() {
            self.end(now);
        }
    }

    /// Ends the load: exchanges due later are not sent, completions count as drained. Only the first call
    /// has an effect.
    pub fn end(&self, now: i64) {
        let all = self.on_end.lock().unwrap_or_else(|e| e.into_inner());
        if self.ended() {
            return;
        }
        self.core.close_ns.store(now, SeqCst);
        self.core.phase.store(DRAIN, SeqCst);
        all.iter().for_each(|what| what());
        self.ending.notify_all();
    }

    /// Sums since ready, over all phases.
    pub fn counts(&self) -> Counts {
        self.sum(3)
    }

    /// Sums since ready as they were when the window last opened or closed; without one as counts.
    pub fn snapshot(&self) -> Counts {
        self.sum(if !self.opened() { 3 } else if self.ended() { 2 } else { 1 })
    }

    fn sum(&self, phases: usize) -> Counts {
        let mut c = Counts {
            connections: self.open_connections.load(Relaxed),
            redialled: self.redialled.load(Relaxed),
            ..Counts::default()
        };
        for shard in self.core.all_shards() {
            shard.phases[..phases].iter().for_each(|p| c.add(p, self.core.up));
        }
        c
    }

    /// Times of what completed since the last call, in the window or draining; for ticks.
    pub fn slice(&self) -> Option<Value> {
        let mut all = Histogram::default();
        let service = self.core.course.is_none();
        for s in self.core.all_shards() {
            s.times.recorders(service, self.core.varies).for_each(|r| all.merge(r));
        }
        let mut last = self.last_slice.lock().unwrap_or_else(|e| e.into_inner());
        let new = all.since(&last);
        *last = all;
        let count = new.count();
        let mut body = json!({"count": count, "max_ns": new.max()});
        for (name, share) in [("p50_ns", 0.5), ("p99_ns", 0.99)] {
            if let Some(ns) = new.quantile(share) {
                body[name] = ns.into();
            }
        }
        (count > 0).then_some(body)
    }
}
