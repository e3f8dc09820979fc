//! What a client's load made of its window.

use crate::bins;
use crate::counters::{arrivals, stretch, ClassCounts, Counts, Span};
use crate::hist::Histogram;
use crate::load::{Load, DRAIN, IDLE, OVER, WINDOW};
use crate::schedule::{Course, Schedule};
use crate::slot::Slot;
use serde_json::{json, Value};
use std::sync::atomic::Ordering::*;

impl Load {
    /// The requests of the load's exchanges, each once; verify is how many were sent before ready.
    pub fn sent(&self, verify: i64) -> Value {
        let mut phases = [0i64; 3];
        let mut again = 0;
        for shard in self.core.all_shards() {
            again += shard.again.load(Relaxed);
            for (sum, c) in phases.iter_mut().zip(&shard.phases) {
                let errors: u64 = c.errors.iter().map(|e| e.load(Relaxed)).sum();
                *sum += (c.exchanges.load(Relaxed) + errors) as i64 - c.unsent.load(Relaxed) as i64;
            }
        }
        let begun = |s: &&Slot| matches!(s.in_flight(), (due, true) if due != IDLE);
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
        for shard in self.core.all_shards() {
            counts.add(&shard.phases[WINDOW], self.core.up);
            drained.add(&shard.phases[DRAIN], self.core.up);
            let t = &shard.times;
            let [service, response, lag, lengths] = &mut hists;
            t.recorders(true, self.core.varies).for_each(|r| {
                over += r.over_max();
                service.merge(r);
            });
            t.recorders(false, self.core.varies).for_each(|r| response.merge(r));
            t.lag.iter().for_each(|r| lag.merge(r));
            t.lengths.get().into_iter().for_each(|r| lengths.merge(r));
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
        if !self.core.plan.classes.is_empty() {
            body["classes"] = self.classes().into();
        }
        if self.core.varies {
            body["bins"] = bins::results(self.core.all_shards().map(|s| &s.times.bins), self.core.course.is_some()).into();
        }
        if let Some(a) = self.arrivals(from, to).filter(|_| open) {
            body["arrivals"] = a;
        }
        body
    }

    /// What each class had. The histograms of the rarest are left out where all would not fit into a line.
    fn classes(&self) -> Vec<Value> {
        const MOST_TEXT: usize = 512 << 10;
        let plan = &self.core.plan.classes;
        let sums = |i: usize| {
            let mut of = ClassCounts::default();
            self.core.all_shards().for_each(|s| of.add(&s.phases[WINDOW].classes[i], &s.phases[DRAIN].classes[i]));
            of
        };
        let counts: Vec<_> = (0..plan.len()).map(sums).collect();
        let mut all: Vec<Value> = counts.iter().zip(plan).map(|(c, of)| c.json(&of.name)).collect();
        let mut order: Vec<usize> = (0..plan.len()).collect();
        order.sort_by_key(|i| std::cmp::Reverse(counts[*i].exchanges.load(Relaxed)));
        let mut room = MOST_TEXT;
        for i in order {
            for (name, at) in [("service", 0), ("response", 1)] {
                let mut h = Histogram::default();
                self.core.all_shards().filter_map(|s| s.times.classes[i].0[at].get()).for_each(|r| h.merge(r));
                bins::put(&mut all[i], name, &h, &mut room);
            }
        }
        all
    }

    fn arrivals(&self, from: i64, to: i64) -> Option<Value> {
        self.core.course.as_ref()?;
        let (mut all, mut until) = (Vec::new(), to.min(from + stretch(self.core.plan.rate)));
        for shard in self.core.all_shards() {
            until = until.min(shard.times.sends.as_ref()?.collect(&mut all));
        }
        arrivals(all, from, until)
    }

    /// Work inside the window, with exchanges that span an edge counted by their share.
    fn inside(&self, window: Span, completed: i64, mean: f64) -> Value {
        let (mut exchanges, mut cycles) = (completed as f64, completed as f64 + self.waiting(window, mean));
        let mut idle = 0i64;
        for shard in self.core.all_shards() {
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
            let (mut s, mut last) = (Schedule::new(course, slot.left().1), start);
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
            let (due, _) = slot.in_flight();
            if due <= closing {
                ages.record(now - due, 1);
            }
            let Some(course) = &self.core.course else { continue };
            let (mut s, (mut left, _)) = (slot.schedule(), slot.left());
            while left > 0 && start + s.peek(course) <= closing {
                ages.record(now - start - s.peek(course), 1);
                s.advance(course);
                left -= 1;
            }
        }
        ages
    }
}
