//! Decides when a client sends, and counts what came of it. A transport pulls: it asks each of its slots
//! for the next exchange and reports each completion; it never sees rates, windows or histograms.
//!
//! ```text
//! while let Some(due) = slot.next(now()) { …wait until due… slot.goes_out(); …send, receive… slot.done(sent, now(), received) }
//! ```
//!
//! One task or thread uses a slot at a time, on whichever thread. Nothing on a slot's path locks or
//! allocates. A worker serves one trial, so a load lives as long as the process.

use crate::contract::{Failure, Kind, Plan, Setup};
use crate::counters::{arrivals, stretch, Counters, Counts, PerThread, Reasons, Sends, Span, Times};
use crate::draw::Sizes;
use crate::hist::{add, Histogram, Recorder};
use crate::schedule::{Course, Schedule};
use serde_json::{json, Value};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering::*};
use std::sync::{Condvar, Mutex, OnceLock};

/// Marks a slot without an exchange in flight.
const IDLE: i64 = i64::MAX;
/// Slots of one client in all.
const MOST_SLOTS: i64 = 1 << 22;

const BEFORE: usize = 0;
const WINDOW: usize = 1;
const DRAIN: usize = 2;
const OVER: usize = 3; // nothing is counted any more

struct Shard {
    phases: [Counters; 3],
    times: Times,
    again: AtomicU64,
}

/// What all slots share.
pub(crate) struct Core {
    plan: Plan,
    sizes: Sizes,
    up: i64,   // bytes that each exchange sends; 0 where sizes vary
    down: AtomicI64,
    course: Option<Course>,
    shards: PerThread<Shard>,
    phase: AtomicUsize,
    start_ns: AtomicI64,
    from_ns: AtomicI64,
    close_ns: AtomicI64, // IDLE until the load ends
    reasons: Reasons,
}

impl Core {
    #[inline]
    fn shard(&self) -> &Shard {
        self.shards.mine(|| Shard {
            phases: Default::default(),
            times: Times {
                service: Recorder::default(),
                response: self.course.is_some().then(Recorder::default),
                lag: (self.course.is_some() || self.plan.think_ns > 0).then(Recorder::default),
                sends: self.course.is_some().then(|| Sends::new(self.plan.rate)),
                lengths: OnceLock::new(),
            },
            again: AtomicU64::new(0),
        })
    }
}

/// A place for one exchange in flight.
#[repr(align(64))]
pub struct Slot {
    core: &'static Core,
    pending: AtomicI64, // due of the exchange in flight
    free: AtomicI64,    // when its last exchange ended; before the first, an offset from the start
    left: AtomicI64,
    canceled: AtomicI64,
    begin: Schedule,
    k: AtomicU64, // where the schedule is
    at: AtomicU64,
    number: AtomicU64,
    up: AtomicI64,
    down: AtomicI64,
    place: usize,
    started: AtomicBool,
    out: AtomicBool,
}

impl Slot {
    /// When the next exchange is due on the clock of now; that may be in the past. None when no exchange
    /// is left. Call it only when no exchange is in flight.
    #[inline]
    pub fn next(&self, now: i64) -> Option<i64> {
        let core = self.core;
        let closing = core.close_ns.load(Relaxed);
        if !self.started.load(Relaxed) {
            self.started.store(true, Relaxed);
            self.free.store(self.free.load(Relaxed) + core.start_ns.load(Relaxed), Relaxed);
        }
        let left = self.left.load(Relaxed);
        let mut schedule = self.schedule();
        let due = match &core.course {
            _ if left == 0 => IDLE,
            // An open loop still sends what was due before the end, because a stall at the window's end
            // must not vanish. A closed loop has nothing left to send.
            Some(course) => core.start_ns.load(Relaxed) + schedule.peek(course),
            None if closing != IDLE => IDLE,
            None if core.plan.think_ns > 0 => self.free.load(Relaxed) + core.plan.think_ns,
            None => now,
        };
        if due > closing || due == IDLE {
            return None;
        }
        if let Some(course) = &core.course {
            schedule.advance(course);
            self.k.store(schedule.k, Relaxed);
            self.at.store(schedule.at.to_bits(), Relaxed);
        }
        if core.sizes.vary() {
            self.draw();
        }
        self.left.store(left - 1, Relaxed);
        self.pending.store(due, Relaxed);
        Some(due)
    }

    #[cold]
    fn draw(&self) {
        let n = self.number.load(Relaxed);
        let (up, down) = self.core.sizes.of(n);
        self.number.store(n + self.core.slots() as u64, Relaxed);
        self.up.store(up, Relaxed);
        self.down.store(down, Relaxed);
    }

    /// Bytes up and down of the exchange in flight.
    #[inline]
    pub fn sizes(&self) -> (i64, i64) {
        (self.up.load(Relaxed), self.down.load(Relaxed))
    }

    /// The request of the exchange in flight goes out, at least in part, or once more.
    #[inline]
    pub fn goes_out(&self) {
        if self.out.load(Relaxed) {
            add(&self.core.shard().again, 1);
        }
        self.out.store(true, Relaxed);
    }

    /// The exchange in flight is complete: when it was sent, when it completed, and the payload that came.
    #[inline]
    pub fn done(&self, sent: i64, now: i64, received: i64) {
        let core = self.core;
        let phase = core.phase.load(Acquire);
        let (due, free) = (self.pending.load(Relaxed), self.free.load(Relaxed));
        if phase == OVER {
            return; // it stays unfinished
        }
        self.free.store(now, Relaxed);
        self.pending.store(IDLE, Relaxed);
        self.out.store(false, Relaxed);
        let shard = core.shard();
        let counters = &shard.phases[phase];
        add(&counters.exchanges, 1);
        add(&counters.received, received as u64);
        if core.sizes.up_varies() {
            add(&counters.sent, self.up.load(Relaxed) as u64);
        }
        if phase == BEFORE {
            return;
        }
        let from = core.from_ns.load(Relaxed);
        add(&counters.parts.idle_ns, (sent - free) as u64);
        if phase == DRAIN || free < from {
            let window = Span { from, to: if phase == DRAIN { core.close_ns.load(Relaxed) } else { i64::MAX } };
            counters.parts.note(window, if phase == WINDOW { 1.0 } else { 0.0 }, free, sent, now);
        }
        let times = &shard.times;
        if received != core.down.load(Relaxed) || core.sizes.down_varies() {
            times.lengths.get_or_init(Recorder::default).record(received);
        }
        times.service.record(now - sent);
        if let Some(lag) = &times.lag {
            lag.record(sent - due);
        }
        if let (Some(response), Some(sends)) = (&times.response, &times.sends) {
            response.record(now - due);
            if sent >= from && sent < from + stretch(core.plan.rate) {
                sends.record(sent);
            }
        }
    }

    /// The exchange in flight failed. It is counted by kind and reason, and enters no histogram.
    pub fn fail(&self, failure: &Failure) {
        let phase = self.core.phase.load(Acquire);
        if phase == OVER {
            return;
        }
        self.pending.store(IDLE, Relaxed);
        self.free.store(crate::clock::now(), Relaxed);
        let counters = &self.core.shard().phases[phase];
        add(&counters.errors[failure.kind as usize], 1);
        if !self.out.swap(false, Relaxed) {
            add(&counters.unsent, 1);
        }
        if phase != BEFORE {
            self.core.reasons.add(failure.kind, &failure.text);
        }
    }

    /// Says when the slot became free, for tests.
    #[cfg(test)]
    pub(crate) fn became_free(&self, at: i64) {
        self.free.store(at, Relaxed);
    }

    /// Takes back an exchange that next promised and that will not be sent.
    pub fn cancel(&self) {
        self.canceled.store(self.pending.swap(IDLE, Relaxed), Relaxed);
    }

    /// When the exchange was due for which the slot waited at the closing; None where it did not wait.
    fn due_after(&self, closing: i64, start: i64) -> Option<i64> {
        let (pending, canceled) = (self.pending.load(Relaxed), self.canceled.load(Relaxed));
        let due = if pending != IDLE {
            pending
        } else if canceled > closing {
            canceled
        } else if self.left.load(Relaxed) == 0 {
            return None;
        } else if let Some(course) = &self.core.course {
            start + self.schedule().peek(course)
        } else {
            self.free_since(start) + self.core.plan.think_ns
        };
        (due > closing).then_some(due)
    }

    fn free_since(&self, start: i64) -> i64 {
        self.free.load(Relaxed) + if self.started.load(Relaxed) { 0 } else { start }
    }

    /// The schedule as next has left it.
    #[inline]
    fn schedule(&self) -> Schedule {
        Schedule { k: self.k.load(Relaxed), at: f64::from_bits(self.at.load(Relaxed)), ..self.begin }
    }
}

impl Core {
    fn active(&self) -> usize {
        let share = self.plan.active_share * self.plan.connections as f64;
        ((share - 1e-9).ceil() as usize).max(1)
    }

    fn slots(&self) -> usize {
        self.active() * self.plan.in_flight as usize
    }
}

/// The work of one client in one trial. The worker calls start, open, close and end; the transport owns
/// the slots.
pub struct Load {
    core: &'static Core,
    slots: &'static [Slot],
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
    if !["constant", "poisson", "drawn"].contains(&plan.arrival.as_str()) {
        return Err(format!("load.arrival is {:?}, expected constant, poisson or drawn", plan.arrival));
    }
    if plan.rate == 0.0 && (!plan.phases.is_empty() || plan.arrival == "drawn") {
        return Err("load.rate is 0 with load.phases or arrival drawn: a closed loop has no schedule".into());
    }
    if plan.rate > 0.0 && plan.think_ns > 0 {
        return Err(format!("load.think_ns is {} with load.rate {}: an open loop does not think", plan.think_ns, plan.rate));
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
        let sizes = Sizes::new(&setup.exchange, setup.seed)?;
        let core: &'static mut Core = Box::leak(Box::new(Core {
            up: if sizes.up_varies() { 0 } else { setup.exchange.up_bytes },
            down: AtomicI64::new(setup.exchange.down_bytes),
            sizes,
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
        let slots: Vec<Slot> = (0..core.slots()).map(|i| slot(core, &setup.exchange, i)).collect();
        Ok(Box::leak(Box::new(Load {
            core,
            slots: Box::leak(slots.into_boxed_slice()),
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

    /// Bytes up and down of the first exchange of a connection, which is verified.
    pub fn first_sizes(&self, connection: usize) -> (i64, i64) {
        self.core.sizes.of(connection as u64)
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

fn slot(core: &'static Core, x: &crate::contract::Exchange, i: usize) -> Slot {
    let (n, active) = (core.plan.in_flight as usize, core.active());
    let place = (i % n) * active + i / n; // neighbours in time are not of one connection
    let (mut left, mut free) = (i64::MAX, 0);
    if core.plan.amount > 0 {
        let n = n as i64;
        left = core.plan.amount / n + i64::from((i as i64 % n) < core.plan.amount % n);
    }
    let blank = Course { rate: 1.0, poisson: false, cycle: None, warp: None, slots: 1.0, seed: 0 };
    let schedule = Schedule::new(core.course.as_ref().unwrap_or(&blank), place);
    if let Some(course) = &core.course {
        if course.even() {
            free = schedule.peek(course) - course.step() as i64; // as if it had run before
        }
    } else if core.plan.think_ns > 0 {
        let think = core.plan.think_ns as i128;
        free = (think * i as i128 / core.slots() as i128 - think) as i64; // no burst at the start
    }
    Slot {
        core,
        pending: AtomicI64::new(IDLE),
        free: AtomicI64::new(free),
        left: AtomicI64::new(left),
        canceled: AtomicI64::new(0),
        k: AtomicU64::new(schedule.k),
        at: AtomicU64::new(schedule.at.to_bits()),
        begin: schedule,
        number: AtomicU64::new(place as u64),
        up: AtomicI64::new(x.up_bytes),
        down: AtomicI64::new(x.down_bytes),
        place,
        started: AtomicBool::new(false),
        out: AtomicBool::new(false),
    }
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

    fn opened(&self) -> bool {
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
        for shard in self.core.shards.all() {
            shard.phases[..phases].iter().for_each(|p| c.add(p, self.core.up));
        }
        c
    }

    /// Times of what completed since the last call, in the window or draining; for ticks.
    pub fn slice(&self) -> Option<Value> {
        let mut all = Histogram::default();
        for s in self.core.shards.all() {
            all.merge(s.times.response.as_ref().unwrap_or(&s.times.service));
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

    /// The requests of the load's exchanges, each once; verify is how many were sent before ready.
    pub fn sent(&self, verify: i64) -> Value {
        let mut phases = [0i64; 3];
        let mut again = 0;
        for shard in self.core.shards.all() {
            again += shard.again.load(Relaxed);
            for (sum, c) in phases.iter_mut().zip(&shard.phases) {
                let errors: u64 = c.errors.iter().map(|e| e.load(Relaxed)).sum();
                *sum += (c.exchanges.load(Relaxed) + errors) as i64 - c.unsent.load(Relaxed) as i64;
            }
        }
        let begun = |s: &&Slot| s.pending.load(Relaxed) != IDLE && s.out.load(Relaxed);
        phases[DRAIN] += self.slots.iter().filter(begun).count() as i64;
        json!({"verify": verify, "before": phases[0], "window": phases[1], "drain": phases[2], "again": again})
    }

    /// What the window holds. Call it when every slot is let go, or the time to drain is over: nothing is
    /// counted from then on.
    pub fn result(&self, now: i64, verified: i64) -> Value {
        self.end(now);
        self.core.phase.store(OVER, SeqCst);
        std::thread::sleep(std::time::Duration::from_millis(1)); // what is being counted gets there
        let (open, to) = (self.opened(), self.core.close_ns.load(SeqCst));
        let from = if open { self.core.from_ns.load(SeqCst) } else { to };
        let (mut counts, mut drained) = (Counts::default(), Counts::default());
        let mut hists: [Histogram; 4] = Default::default();
        let mut over = 0;
        for shard in self.core.shards.all() {
            counts.add(&shard.phases[WINDOW], self.core.up);
            drained.add(&shard.phases[DRAIN], self.core.up);
            let t = &shard.times;
            over += t.service.over_max();
            for (to, from) in hists.iter_mut().zip([Some(&t.service), t.response.as_ref(), t.lag.as_ref(), t.lengths.get()]) {
                from.into_iter().for_each(|r| to.merge(r));
            }
        }
        for (sum, n) in counts.errors.iter_mut().zip(drained.errors) {
            *sum += n;
        }
        counts.redialled = self.redialled.load(Relaxed);
        let [service, response, lag, mut lengths] = hists;
        if lengths.count() > 0 {
            let rest = service.count() - lengths.count();
            lengths.record(self.core.down.load(Relaxed), rest.max(0) as u64);
        }
        let ages = self.unfinished(crate::clock::now());
        let mut body = json!({
            "from_ns": from, "to_ns": to, "counts": counts.json(), "drained": drained.exchanges,
            "unfinished": ages.count(), "over_max": over, "reasons": self.core.reasons.json(), "sent": self.sent(verified),
        });
        if open {
            let mean = if self.core.course.is_some() { response.mean() } else { service.mean() };
            body["inside"] = self.inside(Span { from, to }, counts.exchanges, mean);
        }
        for (name, h) in [("ages", ages), ("service", service), ("response", response), ("lag", lag), ("lengths", lengths)] {
            if h.count() > 0 {
                body[name] = h.encode().into();
            }
        }
        if let Some(a) = self.arrivals(from, to).filter(|_| open) {
            body["arrivals"] = a;
        }
        body
    }

    fn arrivals(&self, from: i64, to: i64) -> Option<Value> {
        self.core.course.as_ref()?;
        let (mut all, mut until) = (Vec::new(), to.min(from + stretch(self.core.plan.rate)));
        for shard in self.core.shards.all() {
            until = until.min(shard.times.sends.as_ref()?.collect(&mut all));
        }
        arrivals(all, from, until)
    }

    /// Work inside the window, with exchanges that span an edge counted by their share.
    fn inside(&self, window: Span, completed: i64, mean: f64) -> Value {
        let (mut exchanges, mut cycles) = (completed as f64, completed as f64 + self.waiting(window, mean));
        let mut idle = 0i64;
        for shard in self.core.shards.all() {
            for c in &shard.phases[WINDOW..] {
                let (e, y) = c.parts.sums();
                exchanges += e;
                cycles += y;
                idle += c.parts.idle_ns.load(Relaxed) as i64;
            }
        }
        match &self.core.course {
            Some(course) => json!({"exchanges": exchanges, "cycles": cycles, "due": self.fell_due(course, window)}),
            None => json!({"exchanges": exchanges, "cycles": cycles, "idle_ns": idle}),
        }
    }

    /// The parts inside of the cycles of slots that waited for a due time when the window closed.
    fn waiting(&self, window: Span, mean: f64) -> f64 {
        if mean == 0.0 || (self.core.course.is_none() && self.core.plan.think_ns == 0) {
            return 0.0;
        }
        let start = self.core.start_ns.load(SeqCst);
        let part = |s: &Slot| Some(window.share(s.free_since(start), s.due_after(window.to, start)? + mean as i64));
        self.slots.iter().filter_map(part).sum()
    }

    /// How many exchanges the schedules had due in the window.
    fn fell_due(&self, course: &Course, window: Span) -> f64 {
        let start = self.core.start_ns.load(SeqCst);
        let place = |at: i64| match &course.warp {
            Some(warp) => warp.place((at - start) as f64),
            None => (at - start) as f64 / 1e9 * course.rate,
        };
        if course.even() || course.rate * (window.to - start) as f64 / 1e9 > (1 << 20) as f64 {
            return place(window.to) - place(window.from);
        }
        let mut due = 0.0;
        for slot in self.slots {
            let (mut s, mut last) = (Schedule::new(course, slot.place), start);
            while last < window.to {
                let next = start + s.peek(course);
                s.advance(course);
                due += window.share(last, next);
                last = next;
            }
        }
        due
    }

    /// Ages of exchanges that were due before the end and have not completed, sent or not.
    fn unfinished(&self, now: i64) -> Histogram {
        let mut ages = Histogram::default();
        let (start, closing) = (self.core.start_ns.load(SeqCst), self.core.close_ns.load(SeqCst));
        if start == 0 {
            return ages;
        }
        for slot in self.slots {
            let due = slot.pending.load(Relaxed);
            if due <= closing {
                ages.record(now - due, 1);
            }
            let Some(course) = &self.core.course else { continue };
            let (mut s, mut left) = (slot.schedule(), slot.left.load(Relaxed));
            while left > 0 && start + s.peek(course) <= closing {
                ages.record(now - start - s.peek(course), 1);
                s.advance(course);
                left -= 1;
            }
        }
        ages
    }
}
