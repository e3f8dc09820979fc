//! A client's slots: when each sends, and what came of its exchanges. Nothing on a slot's path locks or
//! allocates, but for a lock that slots of one connection share where sizes vary.

use crate::bins::{bin_of, Waits};
use crate::contract::Failure;
use crate::counters::{stretch, Span};
use crate::draw::Draw;
use crate::hist::{add, Recorder};
use crate::load::{Core, Shard, BEFORE, DRAIN, IDLE, OVER, WINDOW};
use crate::schedule::{Course, Schedule};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering::*};

/// A place for one exchange in flight.
#[repr(align(64))]
pub struct Slot {
    core: &'static Core,
    pending: AtomicI64, // due of the exchange in flight
    free: AtomicI64,    // when its last exchange ended; before the first, an offset from the start
    left: AtomicI64,
    canceled: AtomicI64,
    think: AtomicI64, // how long it pauses, in ns
    begin: Schedule,
    k: AtomicU64, // where the schedule is
    at: AtomicU64,
    place: usize,
    started: AtomicBool,
    out: AtomicBool,
    drawn: Drawn,
}

/// What of a slot's exchange is drawn.
struct Drawn {
    number: AtomicU64, // of the exchange to begin next
    up: AtomicI64,
    down: AtomicI64,
    class: AtomicUsize,
    key: AtomicI64,
    bin: AtomicUsize,
    flying: AtomicUsize, // bin, for the connection's other slots; 0 for a small one
    waits: Option<&'static Waits>,
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
            None => match self.think.load(Relaxed) {
                0 => now,
                think => self.free.load(Relaxed) + think,
            },
        };
        if due > closing || due == IDLE {
            return None;
        }
        if let Some(course) = &core.course {
            schedule.advance(course);
            self.k.store(schedule.k, Relaxed);
            self.at.store(schedule.at.to_bits(), Relaxed);
        }
        if core.varies {
            self.draw_next();
        }
        self.left.store(left - 1, Relaxed);
        self.pending.store(due, Relaxed);
        Some(due)
    }

    fn draw_next(&self) {
        let to = &self.drawn;
        let n = to.number.load(Relaxed);
        let draw = self.core.draws.of(n);
        to.number.store(n + self.core.slots() as u64, Relaxed);
        to.up.store(draw.up, Relaxed);
        to.down.store(draw.down, Relaxed);
        to.class.store(draw.class, Relaxed);
        to.key.store(draw.key, Relaxed);
        let bin = bin_of(draw.up.max(draw.down));
        to.bin.store(bin, Relaxed);
        if let Some(waits) = to.waits {
            to.flying.store(waits.begin(bin), Relaxed);
        }
    }

    /// What the exchange in flight carries.
    #[inline]
    pub fn draw(&self) -> Draw {
        let of = &self.drawn;
        let (up, down) = (of.up.load(Relaxed), of.down.load(Relaxed));
        Draw { up, down, class: of.class.load(Relaxed), key: of.key.load(Relaxed) }
    }

    /// How long after its send the exchange in flight has failed, in ns; 0 for never.
    #[inline]
    pub fn deadline_ns(&self) -> i64 {
        if self.core.plan.classes.is_empty() { 0 } else { self.core.plan.classes[self.drawn.class.load(Relaxed)].deadline_ns }
    }

    /// Whether it has an exchange of a bin in flight that was due until an instant.
    pub(crate) fn flies(&self, bin: usize, until: i64) -> bool {
        self.drawn.flying.load(Relaxed) == bin && self.pending.load(Relaxed) <= until
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
        if core.varies {
            self.count_drawn(shard, phase, [sent, now, due, received]);
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
        if received != core.down.load(Relaxed) || core.varies && core.draws.down_varies() {
            times.lengths.get_or_init(Recorder::default).record(received);
        }
        if !core.varies {
            times.service.record(now - sent);
            if let Some(response) = &times.response {
                response.record(now - due);
            }
        }
        if let Some(lag) = &times.lag {
            lag.record(sent - due);
        }
        if let Some(sends) = &times.sends {
            if sent >= from && sent < from + stretch(core.plan.rate) {
                sends.record(sent);
            }
        }
    }

    /// Adds to a completed exchange what of it is drawn: bytes, class, times by size.
    fn count_drawn(&self, shard: &Shard, phase: usize, [sent, now, due, received]: [i64; 4]) {
        let (core, drawn) = (self.core, &self.drawn);
        let (up, counters) = (drawn.up.load(Relaxed), &shard.phases[phase]);
        if core.draws.up_varies() {
            add(&counters.sent, up as u64);
        }
        let open = core.course.is_some().then_some(due);
        if let Some(class) = counters.classes.get(drawn.class.load(Relaxed)) {
            add(&class.exchanges, 1);
            add(&class.sent, up as u64);
            add(&class.received, received as u64);
            if phase != BEFORE {
                shard.times.classes[drawn.class.load(Relaxed)].record(now - sent, open.map(|due| now - due));
            }
        }
        let bin = drawn.bin.load(Relaxed);
        if phase != BEFORE {
            shard.times.bins.count(bin, core.largest, drawn.waits, sent, now, open);
        }
        self.ended(Some((sent, now)));
    }

    /// Notes that the exchange is no longer in flight, and how long the slot pauses after it.
    fn ended(&self, completed: Option<(i64, i64)>) {
        if let Some(waits) = self.drawn.waits {
            waits.end(self.drawn.bin.load(Relaxed), self.drawn.flying.swap(0, Relaxed), completed);
        }
        if self.core.thinks {
            self.think.store(self.core.plan.classes[self.drawn.class.load(Relaxed)].think_ns, Relaxed);
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
        if self.core.varies {
            if let Some(class) = counters.classes.get(self.drawn.class.load(Relaxed)) {
                add(&class.errors, 1);
            }
            self.ended(None);
        }
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
        if let Some(waits) = self.drawn.waits {
            waits.end(0, self.drawn.flying.swap(0, Relaxed), None);
        }
    }

    /// When the exchange was due for which the slot waited at the closing; None where it did not wait.
    pub(crate) fn due_after(&self, closing: i64, start: i64) -> Option<i64> {
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
            self.free_since(start) + self.think.load(Relaxed)
        };
        (due > closing).then_some(due)
    }

    pub(crate) fn free_since(&self, start: i64) -> i64 {
        self.free.load(Relaxed) + if self.started.load(Relaxed) { 0 } else { start }
    }

    /// When the exchange in flight was due; IDLE without one. Whether its request went out.
    pub(crate) fn in_flight(&self) -> (i64, bool) {
        (self.pending.load(Relaxed), self.out.load(Relaxed))
    }

    /// How many exchanges it may begin, and the place by which schedules know it.
    pub(crate) fn left(&self) -> (i64, usize) {
        (self.left.load(Relaxed), self.place)
    }

    /// The schedule as next has left it.
    #[inline]
    pub(crate) fn schedule(&self) -> Schedule {
        Schedule { k: self.k.load(Relaxed), at: f64::from_bits(self.at.load(Relaxed)), ..self.begin }
    }

    /// Slot i of a client. waits are its connection's, where exchanges can wait for each other.
    pub(crate) fn new(core: &'static Core, i: usize, waits: Option<&'static Waits>) -> Slot {
        let (plan, n, active) = (&core.plan, core.plan.in_flight as usize, core.active());
        let place = (i % n) * active + i / n; // neighbours in time are not of one connection
        let (mut left, mut free) = (i64::MAX, 0);
        if plan.amount > 0 {
            let n = n as i64;
            left = plan.amount / n + i64::from((i as i64 % n) < plan.amount % n);
        }
        let blank = Course { rate: 1.0, poisson: false, cycle: None, warp: None, slots: 1.0, seed: 0 };
        let schedule = Schedule::new(core.course.as_ref().unwrap_or(&blank), place);
        if let Some(course) = &core.course {
            if course.even() {
                free = schedule.peek(course) - course.step() as i64; // as if it had run before
            }
        } else if plan.think_ns > 0 {
            let think = plan.think_ns as i128;
            free = (think * i as i128 / core.slots() as i128 - think) as i64; // no burst at the start
        }
        let (up, down) = core.draws.largest();
        Slot {
            core,
            pending: AtomicI64::new(IDLE),
            free: AtomicI64::new(free),
            left: AtomicI64::new(left),
            canceled: AtomicI64::new(0),
            think: AtomicI64::new(plan.think_ns),
            k: AtomicU64::new(schedule.k),
            at: AtomicU64::new(schedule.at.to_bits()),
            begin: schedule,
            place,
            started: AtomicBool::new(false),
            out: AtomicBool::new(false),
            drawn: Drawn {
                number: AtomicU64::new(place as u64), up: AtomicI64::new(up), down: AtomicI64::new(down), class: AtomicUsize::new(0),
                key: AtomicI64::new(0), bin: AtomicUsize::new(0), flying: AtomicUsize::new(0), waits,
            },
        }
    }
}
