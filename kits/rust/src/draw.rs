//! Draws of the contract (contract/DRAWS.md): sizes, gaps, and rates that change. All of it is a function
//! of the seed and the exchange's number, so that every worker draws the same. Any thread may use it.

use crate::contract::{Failure, Kind, Plan, Setup, Table, MAX_MESSAGE};

pub const UP: u64 = 1;
pub const DOWN: u64 = 2;
pub const GAPS: u64 = 3;
pub const CLASSES: u64 = 4;
pub const KEYS: u64 = 5;
pub const WORK: u64 = 6;

/// Classes of a load.
const MOST_CLASSES: usize = 64;
/// The largest number that stands for {key}.
const MOST_KEY: i64 = (1 << 53) - 1;

/// Output number n of splitmix64 that begins at a state.
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
#[inline]
pub fn at(state: u64, n: u64) -> u64 {
    let mut z = state.wrapping_add(n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// Checks a table whose values may be at most `most`.
pub fn check(table: &Table, most: i64) -> Result<(), String> {
    if table.is_empty() || table.len() > 4096 {
        return Err(format!("{} segments, expected 1 to 4096", table.len()));
    }
    let mut last = 0;
    for (i, [end, low, high]) in table.iter().enumerate() {
        if *end <= last || *end > 1 << 32 {
            return Err(format!("segment {i} ends at {end}, expected more than {last}, at most 2^32"));
        }
        if *low < 0 || high < low || *high > most {
            return Err(format!("segment {i} goes from {low} to {high}, expected 0 to {most}, rising"));
        }
        last = *end;
    }
    if last != 1 << 32 {
        return Err(format!("the last segment ends at {last}, expected 2^32"));
    }
    Ok(())
}

/// Draws from a table by one stream of the seed.
pub struct Drawer {
    base: u64,
    guide: Box<[u16]>,
    segments: Vec<(u64, u64, u64)>, // end, low, span
}

const GUIDE_BITS: u32 = 10;

impl Drawer {
    /// table has passed check.
    pub fn new(table: &Table, seed: u64, stream: u64) -> Drawer {
        let segments: Vec<_> = table.iter().map(|[e, l, h]| (*e as u64, *l as u64, (h - l) as u64 + 1)).collect();
        let mut here = 0;
        let guide = (0..1u64 << GUIDE_BITS)
            .map(|g| {
                while segments[here].0 <= g << (32 - GUIDE_BITS) {
                    here += 1;
                }
                here as u16
            })
            .collect();
        Drawer { base: at(seed, stream - 1), guide, segments }
    }

    #[inline]
    pub fn draw(&self, n: u64) -> i64 {
        let u = at(self.base, n);
        let mut i = self.guide[(u >> (64 - GUIDE_BITS)) as usize] as usize;
        while self.segments[i].0 <= u >> 32 {
            i += 1;
        }
        let (_, low, span) = self.segments[i];
        (low + ((u & 0xffff_ffff) * span >> 32)) as i64
    }
}

/// What one exchange carries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Draw {
    pub up: i64, // bytes
    pub down: i64,
    pub class: usize, // 0 where there are none
    pub key: i64,
}

/// What a client's exchanges carry: sizes, and of a mix classes and keys (contract/MIXES.md).
#[derive(Default)]
pub struct Draws {
    fixed: Draw,
    up: Option<Drawer>,
    down: Option<Drawer>,
    classes: Option<Drawer>,
    keys: Option<Drawer>,
    by_class: Vec<Draws>,
}

impl Draws {
    /// The draws of a trial. The failure is of kind setup.
    pub fn new(setup: &Setup) -> Result<Draws, Failure> {
        let x = &setup.exchange;
        let made = Draws::sizes("exchange", [(x.up_bytes, &x.up_sizes), (x.down_bytes, &x.down_sizes)], setup.seed);
        made.and_then(|d| d.mix(&setup.load, setup.seed)).map_err(|why| Failure::new(Kind::Setup, why))
    }

    fn sizes(field: &str, of: [(i64, &Table); 2], seed: u64) -> Result<Draws, String> {
        let drawer = |name: &str, (largest, table): (i64, &Table), stream| {
            if table.is_empty() {
                return Ok(None);
            }
            check(table, MAX_MESSAGE).map_err(|why| format!("{field}.{name}_sizes: {why}"))?;
            match table.iter().map(|s| s[2]).max() {
                Some(most) if most == largest => Ok(Some(Drawer::new(table, seed, stream))),
                most => Err(format!("{field}.{name}_sizes: the largest size is {} and {field}.{name}_bytes is {largest}, expected the same", most.unwrap_or(0))),
            }
        };
        let fixed = Draw { up: of[0].0, down: of[1].0, ..Draw::default() };
        Ok(Draws { fixed, up: drawer("up", of[0], UP)?, down: drawer("down", of[1], DOWN)?, ..Draws::default() })
    }

    /// Takes up the classes of a load.
    fn mix(mut self, load: &Plan, seed: u64) -> Result<Draws, String> {
        if load.classes.len() > MOST_CLASSES {
            return Err(format!("load.classes has {}, expected at most {MOST_CLASSES}", load.classes.len()));
        }
        let mut ends = Table::new();
        for (i, c) in load.classes.iter().enumerate() {
            let field = format!("load.classes[{i}]");
            let mut of = Draws::sizes(&field, [(c.up_bytes, &c.up_sizes), (c.down_bytes, &c.down_sizes)], seed)?;
            if !(0..=self.fixed.up).contains(&c.up_bytes) || !(0..=self.fixed.down).contains(&c.down_bytes) {
                let most = self.fixed;
                return Err(format!("{field} has {} bytes up and {} down, and exchange at most {} and {}", c.up_bytes, c.down_bytes, most.up, most.down));
            }
            of.fixed.class = i;
            self.by_class.push(of);
            ends.push([c.end, i as i64, i as i64]);
        }
        if !ends.is_empty() {
            check(&ends, MOST_CLASSES as i64).map_err(|why| format!("load.classes: their ends: {why}"))?;
            self.classes = Some(Drawer::new(&ends, seed, CLASSES));
        }
        if !load.keys.is_empty() {
            check(&load.keys, MOST_KEY).map_err(|why| format!("load.keys: {why}"))?;
            self.keys = Some(Drawer::new(&load.keys, seed, KEYS));
        }
        Ok(self)
    }

    pub fn vary(&self) -> bool {
        self.up.is_some() || self.down.is_some() || self.classes.is_some()
    }

    /// Whether bytes that are sent are counted by exchange.
    pub fn up_varies(&self) -> bool {
        self.up.is_some() || self.classes.is_some()
    }

    /// Whether the lengths of all replies are counted.
    pub fn down_varies(&self) -> bool {
        self.down.is_some() || self.classes.is_some()
    }

    /// The largest sizes up and down.
    pub fn largest(&self) -> (i64, i64) {
        (self.fixed.up, self.fixed.down)
    }

    /// What exchange number n carries, and the first exchange of connection n.
    #[inline]
    pub fn of(&self, n: u64) -> Draw {
        let of = self.classes.as_ref().map_or(self, |c| &self.by_class[c.draw(n) as usize]);
        let or = |d: &Option<Drawer>, fixed| d.as_ref().map_or(fixed, |d| d.draw(n));
        Draw { up: or(&of.up, of.fixed.up), down: or(&of.down, of.fixed.down), class: of.fixed.class, key: or(&self.keys, 0) }
    }
}

const CYCLE: u64 = 1 << 16;

/// Gaps of arrival `drawn`.
pub struct Cycle {
    ends: Vec<i64>,
    scale: f64,
}

impl Cycle {
    pub fn new(gaps: &Table, seed: u64) -> Result<Cycle, String> {
        check(gaps, 1000 << 20)?;
        let drawer = Drawer::new(gaps, seed, GAPS);
        let mut sum = 0;
        let ends = (0..CYCLE)
            .map(|n| {
                sum += drawer.draw(n);
                sum
            })
            .collect();
        if sum == 0 {
            return Err("every gap is 0".into());
        }
        Ok(Cycle { ends, scale: CYCLE as f64 / sum as f64 })
    }

    pub fn place(&self, m: u64) -> f64 {
        (m / CYCLE * CYCLE) as f64 + self.ends[(m % CYCLE) as usize] as f64 * self.scale
    }
}

/// A due time that never comes.
pub const NEVER: i64 = i64::MAX / 4;

struct Phase {
    from: f64,
    lasts: f64,
    before: f64,
    holds: f64,
    first: f64,
    last: f64,
}

/// A rate that changes: from places in exchanges to times.
pub struct Warp {
    phases: Vec<Phase>,
    repeat: bool,
    all: f64,
    lasts: f64,
    last_of: usize,
}

impl Warp {
    pub fn new(phases: &[[f64; 3]], repeat: bool) -> Result<Option<Warp>, String> {
        if phases.is_empty() {
            return Ok(None);
        }
        if phases.len() > 4096 {
            return Err(format!("{} phases, expected at most 4096", phases.len()));
        }
        let mut w = Warp { phases: Vec::new(), repeat, all: 0.0, lasts: 0.0, last_of: 0 };
        for (i, [ns, first, last]) in phases.iter().copied().enumerate() {
            if !(1.0..=1e15).contains(&ns) || ns != ns.trunc() {
                return Err(format!("phase {i} lasts {ns} ns, expected a whole number from 1 to 1e15"));
            }
            if !(0.0..=1e9).contains(&first) || !(0.0..=1e9).contains(&last) {
                return Err(format!("phase {i} goes from {first} to {last} exchanges per second, expected 0 to 1e9"));
            }
            let holds = (first + last) / 2.0 * (ns / 1e9);
            if holds > 0.0 {
                w.last_of = i;
            }
            w.phases.push(Phase { from: w.lasts, lasts: ns, before: w.all, holds, first, last });
            w.all += holds;
            w.lasts += ns;
        }
        if w.all <= 0.0 {
            return Err("no phase has a rate above 0".into());
        }
        Ok(Some(w))
    }

    pub fn due_ns(&self, place: f64) -> i64 {
        let (mut x, mut base) = (place, 0.0);
        if self.repeat {
            let rounds = (x / self.all).floor();
            x = (x - rounds * self.all).max(0.0);
            base = rounds * self.lasts;
        } else if x >= self.all {
            let last = self.phases[self.phases.len() - 1].last;
            return if last <= 0.0 { NEVER } else { clip(self.lasts + (x - self.all) / last * 1e9) };
        }
        let found = self.phases.partition_point(|p| x >= p.before + p.holds);
        let p = &self.phases[if found == self.phases.len() { self.last_of } else { found }];
        let y = x - p.before;
        let slope = (p.last - p.first) / (p.lasts / 1e9);
        let root = (p.first * p.first + 2.0 * slope * y).max(0.0).sqrt();
        let seconds = 2.0 * y / (p.first + root);
        clip(base + p.from + p.lasts.min(seconds * 1e9))
    }

    /// How many exchanges fall due until so many ns after the start.
    pub fn place(&self, ns: f64) -> f64 {
        let (mut ns, mut base) = (ns, 0.0);
        if self.repeat {
            let rounds = (ns / self.lasts).floor();
            ns -= rounds * self.lasts;
            base = rounds * self.all;
        } else if ns >= self.lasts {
            return self.all + (ns - self.lasts) / 1e9 * self.phases[self.phases.len() - 1].last;
        }
        match self.phases.iter().find(|p| ns - p.from < p.lasts) {
            Some(p) => {
                let t = ns - p.from;
                base + p.before + t / 1e9 * (p.first + (p.last - p.first) * t / p.lasts / 2.0)
            }
            None => base + self.all,
        }
    }
}

fn clip(ns: f64) -> i64 {
    if ns < NEVER as f64 { ns as i64 } else { NEVER }
}
