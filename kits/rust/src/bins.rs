//! Times of exchanges by size, and which small exchanges had a larger one on their connection
//! (contract/DRAWS.md, section Times by size).

use crate::hist::{Histogram, Recorder};
use crate::load::IDLE;
use crate::slot::Slot;
use serde_json::{json, Value};
use std::sync::atomic::{AtomicI32, AtomicI64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};

/// The bin of an exchange by its larger message: bin 0 is below 64 B, and bin k from 64·4^(k−1) B on.
#[inline]
pub(crate) fn bin_of(bytes: i64) -> usize {
    (64 - bytes.leading_zeros() as usize).saturating_sub(5) / 2
}

/// From where up to where, exclusive, a bin's sizes are, in bytes.
pub(crate) fn edges(bin: usize) -> (i64, i64) {
    (if bin > 0 { 64 << (2 * (bin - 1)) } else { 0 }, 64 << (2 * bin))
}

/// One of the largest message has bin MOST − 1.
pub(crate) const MOST: usize = 14;
/// How many bins larger an exchange is that holds up a small one.
const APART: usize = 2;

/// The times of one shard's exchanges of one bin. Those of the whole client are their sums, so that an
/// exchange is recorded once; what is behind or free is not in whole.
#[derive(Default)]
pub(crate) struct Bin {
    service: OnceLock<Recorder>, // of an open loop
    whole: OnceLock<Recorder>,
    behind: OnceLock<Recorder>,
    free: OnceLock<Recorder>,
}

#[derive(Default)]
pub(crate) struct Bins([Bin; MOST]);

fn record(to: &OnceLock<Recorder>, ns: i64) {
    to.get_or_init(Recorder::default).record(ns);
}

impl Bins {
    /// Counts an exchange of a bin; of an open loop due is given, and the largest bin of the load always.
    pub fn count(&self, bin: usize, largest: usize, waits: Option<&Waits>, sent: i64, now: i64, due: Option<i64>) {
        let of = &self.0[bin];
        if due.is_some() {
            record(&of.service, now - sent);
        }
        let due = due.unwrap_or(sent);
        let to = match waits {
            Some(waits) if bin + APART <= largest => if waits.behind(bin, largest, due, sent) { &of.behind } else { &of.free },
            _ => &of.whole,
        };
        record(to, now - due);
    }

    /// The recorders of all service times, or of all response times of an open loop.
    pub fn recorders(&self, of_service: bool, open: bool) -> impl Iterator<Item = &Recorder> {
        self.0.iter().flat_map(move |b| match (of_service, open) {
            (true, true) => [b.service.get(), None, None],
            (false, false) => [None, None, None],
            _ => [b.whole.get(), b.behind.get(), b.free.get()],
        }).flatten()
    }
}

/// What all histograms of bins take of the result's line, in bytes.
const MOST_TEXT: usize = 256 << 10;

/// The `bins` of a result. Where all histograms would not fit, those of the largest sizes are left out.
pub(crate) fn results<'a>(shards: impl Iterator<Item = &'a Bins> + Clone, open: bool) -> Vec<Value> {
    let mut room = MOST_TEXT;
    let mut all = Vec::new();
    for i in 0..MOST {
        let mut hists: [Histogram; 4] = Default::default();
        for b in shards.clone().map(|s| &s.0[i]) {
            for (to, from) in hists.iter_mut().zip([&b.service, &b.whole, &b.behind, &b.free]) {
                from.get().into_iter().for_each(|r| to.merge(r));
            }
        }
        let [alone, mut times, behind, free] = hists;
        times.add(&behind);
        times.add(&free);
        if times.count() == 0 {
            continue;
        }
        let (from, to) = edges(i);
        let mut bin = json!({"from_bytes": from, "to_bytes": to});
        let named = if open { [("service", alone), ("response", times)] } else { [("service", times), ("response", alone)] };
        for (name, h) in named.into_iter().chain([("behind", behind), ("free", free)]) {
            put(&mut bin, name, &h, &mut room);
        }
        all.push(bin);
    }
    all
}

/// Enters a histogram into a part of the result while there is room for it.
pub(crate) fn put(to: &mut Value, name: &str, h: &Histogram, room: &mut usize) {
    let text = h.encode();
    if !text.is_empty() && text.len() <= *room {
        *room -= text.len();
        to[name] = text.into();
    }
}

/// Says of a small exchange whether a larger one was in flight on its connection. Of exchanges that have
/// completed the last one of each bin is known alone.
#[derive(Default)]
pub(crate) struct Waits {
    last: [(AtomicI64, AtomicI64); MOST], // from when until when it was in flight
    begun: [AtomicI32; MOST],
    slots: OnceLock<&'static [Slot]>, // of a connection that has several
    lock: Mutex<()>,                  // of last, where it has
}

impl Waits {
    /// Tells the connection's slots, where it has several.
    pub fn among(&self, slots: &'static [Slot]) {
        let _ = self.slots.set(slots);
    }

    /// An exchange of a bin begins; it returns what its slot has in flight for the others to see.
    pub fn begin(&self, bin: usize) -> usize {
        if self.slots.get().is_none() || bin < APART {
            return 0;
        }
        self.begun[bin].fetch_add(1, Relaxed);
        bin
    }

    /// That exchange ended. One that completed says from when until when it was in flight.
    pub fn end(&self, bin: usize, flying: usize, completed: Option<(i64, i64)>) {
        if let (Some((from, to)), true) = (completed, bin >= APART) {
            let _held = self.slots.get().map(|_| self.lock.lock());
            self.last[bin].0.store(from, Relaxed);
            self.last[bin].1.store(to, Relaxed);
        }
        if flying > 0 {
            self.begun[flying].fetch_sub(1, Relaxed);
        }
    }

    /// Whether an exchange larger than those of a bin was in flight at some moment from when one was due
    /// until it was sent.
    pub fn behind(&self, bin: usize, largest: usize, due: i64, sent: i64) -> bool {
        let slots = self.slots.get();
        let begun = |b: usize| self.begun[b].load(Relaxed) > 0;
        let flies = |b: usize| slots.is_some_and(|all| all.iter().any(|s| s.flies(b, sent)));
        if (bin + APART..=largest).any(|b| begun(b) && flies(b)) {
            return true;
        }
        let _held = slots.map(|_| self.lock.lock());
        self.last[(bin + APART).min(largest + 1)..=largest].iter().any(|(from, to)| {
            let to = to.load(Relaxed);
            to != 0 && due <= to && from.load(Relaxed) <= sent
        })
    }
}

const _: () = assert!(IDLE == i64::MAX); // a slot without an exchange was due after everything

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::{all, int, vectors};

    #[test]
    fn vectors_of_bins() {
        let v = vectors("bins");
        for b in all(&v["bins"]) {
            assert_eq!(edges(bin_of(int(&b["bytes"]))), (int(&b["from_bytes"]), int(&b["to_bytes"])), "{b}");
        }
        for c in all(&v["waiting"]) {
            let waits = Waits::default();
            for o in all(&c["others"]) {
                waits.end(bin_of(int(&o[0])), 0, Some((int(&o[1]), int(&o[2]))));
            }
            let got = waits.behind(bin_of(int(&c["bytes"])), bin_of(int(&c["largest_bytes"])), int(&c["due"]), int(&c["sent"]));
            assert_eq!(got, c["behind"] == true, "{}", c["name"]);
        }
    }
}
