//! Histograms of times (CONTRACT.md, section Histograms).

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The largest value, in ns.
pub const MAX: i64 = 300_000_000_000;

const LEN: usize = index(MAX) + 1;

const fn index(v: i64) -> usize {
    let bits = 64 - v.leading_zeros();
    let shift = bits.saturating_sub(11);
    shift as usize * 1024 + (v >> shift) as usize
}

/// The smallest value that an index counts, and how many values it counts.
fn range(index: usize) -> (i64, i64) {
    let shift = (index / 1024).saturating_sub(1);
    (((index - shift * 1024) as i64) << shift, 1 << shift)
}

/// Adds to a counter that one thread writes at a time and any may read: no locked instruction.
#[inline]
pub(crate) fn add(to: &AtomicU64, n: u64) {
    to.store(to.load(Relaxed).wrapping_add(n), Relaxed);
}

/// A histogram that one thread records into while others may read it.
pub struct Recorder {
    counts: Box<[AtomicU64]>,
    over: AtomicU64,
}

impl Default for Recorder {
    fn default() -> Recorder {
        let counts = vec![0u64; LEN].into_boxed_slice(); // zeroed by the kernel, so only what is used is in memory
        // SAFETY: AtomicU64 has the size, alignment and representation of u64.
        let counts = unsafe { Box::from_raw(Box::into_raw(counts) as *mut [AtomicU64]) };
        Recorder { counts, over: AtomicU64::new(0) }
    }
}

impl Recorder {
    #[inline]
    pub fn record(&self, v: i64) {
        let v = if v > MAX {
            add(&self.over, 1);
            MAX
        } else {
            v.max(0)
        };
        add(&self.counts[index(v)], 1);
    }

    pub fn over_max(&self) -> i64 {
        self.over.load(Relaxed) as i64
    }
}

/// A histogram at rest.
#[derive(Clone)]
pub struct Histogram {
    counts: Vec<u64>,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { counts: vec![0; LEN] }
    }
}

impl Histogram {
    pub fn record(&mut self, v: i64, n: u64) {
        self.counts[index(v.clamp(0, MAX))] += n;
    }

    pub fn merge(&mut self, from: &Recorder) {
        for (to, n) in self.counts.iter_mut().zip(from.counts.iter()) {
            *to += n.load(Relaxed);
        }
    }

    pub fn add(&mut self, other: &Histogram) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(to, n)| *to += n);
    }

    /// What was recorded since an earlier reading of the same recorders.
    pub fn since(&self, earlier: &Histogram) -> Histogram {
        Histogram { counts: self.counts.iter().zip(&earlier.counts).map(|(a, b)| a.saturating_sub(*b)).collect() }
    }

    pub fn count(&self) -> i64 {
        self.counts.iter().sum::<u64>() as i64
    }

    fn present(&self) -> impl DoubleEndedIterator<Item = (usize, u64)> + '_ {
        self.counts.iter().enumerate().filter(|(_, n)| **n > 0).map(|(i, n)| (i, *n))
    }

    /// The mean, from the middles of the indices; 0 when empty.
    pub fn mean(&self) -> f64 {
        let (mut sum, mut n) = (0.0, 0u64);
        for (i, k) in self.present() {
            let (low, width) = range(i);
            sum += (low as f64 + (width - 1) as f64 / 2.0) * k as f64;
            n += k;
        }
        if n == 0 { 0.0 } else { sum / n as f64 }
    }

    /// The largest value of the highest index in use; 0 when empty.
    pub fn max(&self) -> i64 {
        self.present().next_back().map_or(0, |(i, _)| range(i).0 + range(i).1 - 1)
    }

    /// The value below or at which a share of the values lies; None with under ten values beyond it.
    pub fn quantile(&self, share: f64) -> Option<i64> {
        let n = self.count();
        if (n as f64) * (1.0 - share) < 10.0 {
            return None;
        }
        let rank = (n as f64 * share).ceil() as i64;
        let mut below = 0;
        for (i, k) in self.present() {
            below += k as i64;
            if below >= rank {
                return Some(range(i).0 + range(i).1 - 1);
            }
        }
        None
    }

    /// The V2 payload with its header, not compressed.
    pub fn payload(&self) -> Vec<u8> {
        let (mut body, mut at) = (Vec::new(), 0);
        for (i, n) in self.present() {
            match i - at {
                0 => {}
                1 => leb(&mut body, 0),
                gap => leb(&mut body, -(gap as i64)),
            }
            leb(&mut body, n as i64);
            at = i + 1;
        }
        if at == 0 {
            leb(&mut body, 0);
        }
        let mut out = Vec::with_capacity(40 + body.len());
        for word in [0x1c84_9313u32, body.len() as u32, 0, 3] {
            out.extend(word.to_be_bytes());
        }
        out.extend(1i64.to_be_bytes());
        out.extend(MAX.to_be_bytes());
        out.extend(1f64.to_be_bytes());
        out.extend(body);
        out
    }

    /// The text of a result; empty when nothing was recorded.
    pub fn encode(&self) -> String {
        if self.count() == 0 {
            return String::new();
        }
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(&self.payload(), 6);
        let mut out = 0x1c84_9314u32.to_be_bytes().to_vec();
        out.extend((packed.len() as u32).to_be_bytes());
        out.extend(packed);
        base64(&out)
    }
}

fn leb(to: &mut Vec<u8>, n: i64) {
    let mut z = ((n << 1) ^ (n >> 63)) as u64;
    while z > 127 {
        to.push(z as u8 & 127 | 128);
        z >>= 7;
    }
    to.push(z as u8);
}

/// Base64 in the standard alphabet, padded.
pub fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word = three.iter().fold(0u32, |w, b| w << 8 | u32::from(*b)) << (8 * (3 - three.len()));
        for i in 0..4 {
            let digit = ALPHABET[(word >> (18 - 6 * i)) as usize & 63];
            out.push(if i <= three.len() { digit as char } else { '=' });
        }
    }
    out
}
