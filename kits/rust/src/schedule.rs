//! The intended starts of one slot in an open loop, which never look at completions.

use crate::contract::Plan;
use crate::draw::{at, Cycle, Warp};

/// What all slots' schedules share.
pub(crate) struct Course {
    pub rate: f64,
    pub poisson: bool,
    pub cycle: Option<Cycle>,
    pub warp: Option<Warp>,
    pub slots: f64,
    pub seed: u64,
}

impl Course {
    pub fn new(plan: &Plan, seed: u64, slots: usize) -> Result<Course, String> {
        let cycle = match plan.arrival.as_str() {
            "drawn" => Some(Cycle::new(&plan.gaps, seed).map_err(|e| format!("load.gaps: {e}"))?),
            _ => None,
        };
        let warp = Warp::new(&plan.phases, plan.repeat).map_err(|e| format!("load.phases: {e}"))?;
        Ok(Course { rate: plan.rate, poisson: plan.arrival == "poisson", cycle, warp, slots: slots as f64, seed })
    }

    /// Whether all gaps of a slot are alike.
    pub fn even(&self) -> bool {
        !self.poisson && self.cycle.is_none() && self.warp.is_none()
    }

    fn by_places(&self) -> bool {
        self.cycle.is_some() || self.warp.is_some()
    }

    /// Mean time between starts of a slot in ns, or where places are counted in exchanges.
    pub fn step(&self) -> f64 {
        if self.by_places() { self.slots } else { self.slots / self.rate * 1e9 }
    }
}

/// Where one slot is in its schedule. Plain data, so that it can be begun again.
#[derive(Clone, Copy)]
pub(crate) struct Schedule {
    pub first: f64,
    pub k: u64,
    pub at: f64, // Poisson: the last start drawn
    pub random: u64,
}

impl Schedule {
    /// The schedule of the slot that all know by the number place.
    pub fn new(course: &Course, place: usize) -> Schedule {
        let first = place as f64 + 0.5;
        let first = if course.by_places() { first } else { first / course.rate * 1e9 };
        let mut s = Schedule { first, k: 0, at: 0.0, random: at(course.seed, 0) ^ at(place as u64, 0) };
        if course.poisson {
            s.at = s.exponential() * course.step();
        }
        s
    }

    fn exponential(&mut self) -> f64 {
        let u = at(self.random, self.k) >> 11;
        -(-(u as f64) * (-53f64).exp2()).ln_1p()
    }

    /// The next intended start in ns after the load's.
    #[inline]
    pub fn peek(&self, course: &Course) -> i64 {
        let mut at = if course.poisson { self.at } else { self.first + self.k as f64 * course.step() };
        if !course.by_places() {
            return at as i64;
        }
        if let Some(cycle) = &course.cycle {
            at = cycle.place(at as u64);
        }
        match &course.warp {
            Some(warp) => warp.due_ns(at),
            None => (at / course.rate * 1e9) as i64,
        }
    }

    /// Goes on to the start after that.
    #[inline]
    pub fn advance(&mut self, course: &Course) {
        self.k += 1;
        if course.poisson {
            self.at += self.exponential() * course.step();
        }
    }
}
