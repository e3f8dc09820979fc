//! The worker contract of netdyno (contract/CONTRACT.md) for workers in Rust, without an engine of its own.
//!
//! A worker implements [`Transport`] and calls [`Program::main`]. On the wires echo and stream [`flow`] says
//! which bytes to move; any other transport pulls its exchanges from the slots of a [`load::Load`].

pub mod alarm;
mod bins;
pub mod blocking;
pub mod clock;
pub mod contract;
pub mod counters;
pub mod crc;
pub mod draw;
pub mod flow;
pub mod hist;
pub mod load;
pub mod net;
mod options;
mod result;
mod schedule;
pub mod service;
mod slot;
#[cfg(test)]
mod vectors;
mod worker;

pub use alarm::Alarm;
pub use clock::now;
pub use contract::{Failure, Kind, Setup};
pub use counters::{Counts, Traffic};
pub use load::{Load, Slot};
pub use serde_json::{json, Value};
pub use service::Service;
pub use worker::{driving, serving, Client, Driving, Program, Server, Transport};
