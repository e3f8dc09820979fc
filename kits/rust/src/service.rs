//! The work of a server: a time for each exchange, drawn and spent on a CPU or asleep (contract/MIXES.md,
//! section Work). Any thread may use it.

use crate::clock::now;
use crate::contract::{Failure, Kind, Setup};
use crate::draw::{check, Drawer, WORK};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::OnceLock;

/// The longest work for an exchange, in ns.
const MOST: i64 = 4_000_000_000;

pub struct Service {
    drawer: Drawer,
    sleeps: bool,
    number: AtomicU64, // of the next exchange
}

impl Service {
    /// The work that a setup asks a server for; None for none. The failure is of kind setup.
    pub fn new(setup: &Setup) -> Result<Option<Service>, Failure> {
        let Some(work) = setup.work.as_ref().filter(|_| setup.is_server()) else { return Ok(None) };
        let refuse = |why: String| Failure::new(Kind::Setup, why);
        let sleeps = match work.by.as_str() {
            "cpu" => false,
            "sleep" => true,
            other => return Err(refuse(format!("work.by is {other:?}, expected cpu or sleep"))),
        };
        check(&work.ns, MOST).map_err(|why| refuse(format!("work.ns: {why}")))?;
        Ok(Some(Service { drawer: Drawer::new(&work.ns, setup.seed, WORK), sleeps, number: AtomicU64::new(0) }))
    }

    /// Does the work of the next exchange, or returns until when, on the clock of now, that exchange sleeps.
    /// The calling thread uses its CPU for the work.
    pub fn serve(&self) -> Option<i64> {
        let ns = self.drawer.draw(self.number.fetch_add(1, Relaxed));
        if !self.sleeps {
            spend(ns);
        }
        (self.sleeps && ns > 0).then(|| now() + ns)
    }
}

/// Makes the calling thread use ns of its own CPU time: what preempts it makes it last longer and takes
/// nothing from the work. The thread's clock is a system call: it is read only when the time may be over, and
/// what it takes from one reading to the next, the median of some, belongs to the work.
fn spend(ns: i64) {
    static READING: OnceLock<i64> = OnceLock::new();
    if ns <= 0 {
        return;
    }
    let reading = *READING.get_or_init(|| {
        let mut took: [i64; 101] = std::array::from_fn(|_| -thread_cpu() + thread_cpu());
        took.sort_unstable();
        took[took.len() / 2]
    });
    let end = thread_cpu() + ns - reading;
    loop {
        let left = end - thread_cpu();
        if left <= reading / 2 {
            return; // nearer than the next reading could be
        }
        // The next reading sees a time as much later as a reading takes, besides the wait.
        let until = now() + left - reading;
        while now() < until {
            std::hint::spin_loop();
        }
    }
}

/// The CPU time of the calling thread, in ns.
fn thread_cpu() -> i64 {
    crate::clock::read(libc::CLOCK_THREAD_CPUTIME_ID)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn working(by: &str, ns: i64) -> Result<Option<Service>, Failure> {
        let work = serde_json::json!({"role": "server", "seed": 71, "work": {"by": by, "ns": [[1i64 << 32, ns, ns]]}});
        Service::new(&serde_json::from_value(work).unwrap())
    }

    #[test]
    fn time_is_spent() {
        const NS: i64 = 3_000_000;
        let (cpu, sleep) = (working("cpu", NS).unwrap().unwrap(), working("sleep", NS).unwrap().unwrap());
        let (began, before) = (now(), thread_cpu());
        assert_eq!(cpu.serve(), None);
        assert!(now() - began >= NS && thread_cpu() - before >= NS);
        let (began, before) = (now(), thread_cpu());
        assert!(sleep.serve().unwrap() >= began + NS && thread_cpu() - before < NS);
        assert!(working("nap", 1).is_err() && working("cpu", MOST + 1).is_err());
    }

    #[test]
    fn clients_do_no_work() {
        assert!(Service::new(&Setup { work: Some(Default::default()), role: "client".into(), ..Setup::default() }).unwrap().is_none());
    }
}
