//! Wires echo and stream, without an engine: which bytes of a connection go out next, and where those that
//! come in belong. A transport moves them.
//!
//! ```text
//! while flow.unsent() { n = write(flow.outgoing()); flow.written(n) }
//! n = read(buffer); flow.received(&buffer[..n])
//! ```

use crate::clock::now;
use crate::contract::{Exchange, Failure, Kind, Setup, MAX_MESSAGE};
use crate::counters::{Counts, Traffic};
use crate::crc::crc32c;
use crate::draw::at;
use crate::load::{Load, Slot};
use crate::net::{connect_failure, dial, each, routes, PATIENCE};
use crate::service::Service;
use serde_json::{json, Value};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::{Read, Write};
use std::net::TcpStream;

/// The codecs, features and wire of a transport of these wires, for its description.
pub fn describe(mut transport: Value) -> Value {
    transport["wire"] = "echo".into();
    transport["roles"] = vec!["server", "client"].into();
    transport["delivery"] = "chunks".into();
    transport["codecs"] = vec!["bytes"].into();
    if transport["features"].is_null() {
        transport["features"] = FEATURES.to_vec().into();
    }
    transport
}

/// What a transport of these wires has; the first needs one that writes and reads at the same time.
pub const FEATURES: [&str; 9] =
    ["stream-both", "stream-up", "stream-down", "sizes", "arrivals", "mix", "think", "work-cpu", "work-sleep"];

/// Option `read_buffer`.
pub fn read_buffer_option() -> Value {
    json!({"name": "read_buffer", "type": "bytes", "unit": "B", "default": 0, "min": 0, "max": 64 << 20, "grid": ["4KiB", "64KiB", "256KiB"],
        "doc": "read buffer of each connection; 0 takes the size of what comes within 4 KiB (client: 512 B) and 64 KiB (streams: 128 KiB)"})
}

/// What each message of one direction contains: a block, repeated.
pub struct Content {
    pub bytes: i64,
    block: Vec<u8>,
}

impl Content {
    /// The outputs of splitmix64 from a state on, in little endian.
    pub fn new(bytes: i64, chunk: i64, state: u64) -> Content {
        let size = bytes.min(chunk) as usize;
        let words = (0..size.div_ceil(8) as u64).flat_map(|n| at(state, n).to_le_bytes());
        Content { bytes, block: words.take(size).collect() }
    }

    /// The bytes of a message of so many bytes from a position on, in one piece.
    #[inline]
    pub fn part(&self, at: i64, size: i64) -> &[u8] {
        let from = (at % self.block.len() as i64) as usize;
        let to = (self.block.len() as i64).min(from as i64 + size - at) as usize;
        &self.block[from..to]
    }

    /// The CRC-32C of a message of so many bytes.
    pub fn sum(&self, size: i64) -> u32 {
        let (mut sum, mut at) = (0, 0);
        while at < size {
            let piece = self.part(at, size);
            sum = crc32c(sum, piece);
            at += piece.len() as i64;
        }
        sum
    }
}

/// What a trial asks of its connections.
pub struct Work {
    pub up: Content,
    pub down: Content,
    stream: String,
    varies: bool,
    pub buffer: usize, // of a connection's reads
    service: Option<Service>,
    traffic: Traffic,
}

impl Work {
    /// Reads setup.exchange. The failure is of kind setup or unsupported.
    pub fn new(setup: &Setup) -> Result<&'static Work, Failure> {
        let x = &setup.exchange;
        let (varies, service) = (!x.up_sizes.is_empty() || !x.down_sizes.is_empty(), Service::new(setup)?);
        let (up, down) = if x.stream.is_empty() { echo(x, setup.seed)? } else { streams(x, varies)? };
        if varies && service.is_some() {
            let text = "work is given and sizes vary: a server of wire echo does not see where a message ends, which begins its work";
            return Err(Failure::new(Kind::Unsupported, text));
        }
        let mut work = Work { up, down, stream: x.stream.clone(), varies, buffer: 0, service, traffic: Traffic::default() };
        work.buffer = match setup.int("read_buffer") {
            0 => work.usual_buffer(setup.is_server()),
            n => n as usize,
        };
        Ok(Box::leak(Box::new(work)))
    }

    fn streams(&self) -> bool {
        !self.stream.is_empty()
    }

    /// The size of the reply to an exchange that has so many bytes up.
    pub fn reply_bytes(&self, up: i64) -> i64 {
        if self.streams() { self.down.bytes } else { up }
    }

    /// The size and CRC-32C of the reply to a first exchange.
    fn first_reply(&self, up: i64) -> (i64, u32) {
        let size = self.reply_bytes(up);
        (size, self.down.sum(size))
    }

    /// Compares what came of a first reply.
    pub fn check_first(&self, i: usize, up: i64, came: i64, sum: u32) -> Result<(), Failure> {
        match self.first_reply(up) {
            (size, want) if (size, want) != (came, sum) => Err(different(&format!("verify connection {i}"), came, sum, size, want)),
            _ => Ok(()),
        }
    }

    /// Whether bytes of one exchange travel in both directions at the same time, so that an end that only
    /// writes, then reads, might wait for ever.
    pub fn both_ways(&self) -> bool {
        self.stream == "both" || !self.streams() && self.up.bytes > 256 << 10
    }

    /// How many bytes a server may have sent on a connection when so many have come to it.
    fn owed(&self, up: i64) -> i64 {
        if !self.streams() {
            return up;
        }
        let (whole, part) = (up / self.up.bytes, up % self.up.bytes);
        let begun = if self.stream == "both" && part > 0 { self.down.bytes - 1 } else { 0 };
        whole * self.down.bytes + begun
    }

    /// A read buffer's usual size: that of what comes, within bounds.
    fn usual_buffer(&self, server: bool) -> usize {
        let (least, comes) = if server { (4 << 10, self.up.bytes) } else { (512, self.down.bytes) };
        let most = if self.streams() { 128 << 10 } else { 64 << 10 };
        comes.clamp(least, most) as usize
    }

    /// The sums of all flows of a server.
    pub fn counts(&self) -> Counts {
        let up = if self.streams() { None } else { Some(self.up.bytes) };
        let mut c = self.traffic.counts(up);
        if self.varies {
            c.exchanges = 0; // it does not see where messages end
        }
        c
    }

    /// Makes the first exchange of a connection, and compares what comes back.
    fn verify(&'static self, mut conn: &TcpStream, i: usize, up: i64) -> Result<(), Failure> {
        let (size, _) = self.first_reply(up);
        conn.set_read_timeout(Some(PATIENCE))?;
        let sender = conn.try_clone()?;
        let send = move || {
            let mut at = 0;
            while at < up {
                let piece = self.up.part(at, up);
                (&sender).write_all(piece)?;
                at += piece.len() as i64;
            }
            Ok::<(), std::io::Error>(())
        };
        // What is larger than the socket buffers would wait for itself.
        let sending = match up > 32 << 10 {
            true => Some(std::thread::spawn(send)),
            false => {
                send()?;
                None
            }
        };
        let (mut came, mut sum) = (0, 0);
        let mut buffer = vec![0; size.min(64 << 10) as usize];
        while came < size {
            let room = buffer.len().min((size - came) as usize);
            match conn.read(&mut buffer[..room]) {
                Ok(0) if came == 0 => return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into()),
                Ok(0) => break,
                Ok(n) => {
                    sum = crc32c(sum, &buffer[..n]);
                    came += n as i64;
                }
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {
                    return Err(Failure::new(Kind::Timeout, format!("verify connection {i}: {came} of {size} bytes came within 10 s")));
                }
                Err(e) => return Err(e.into()),
            }
        }
        self.check_first(i, up, came, sum)?;
        if let Some(Err(e)) = sending.and_then(|s| s.join().ok()) {
            return Err(e.into());
        }
        Ok(conn.set_read_timeout(None)?)
    }

    /// Opens every connection of a client, with one verified exchange on each.
    pub fn connect(&'static self, setup: &Setup, load: &'static Load) -> Result<Vec<TcpStream>, Failure> {
        let routes = routes(setup)?;
        let made = each(routes.len(), |i| {
            let conn = dial(&routes[i]).map_err(|e| connect_failure(i, routes.len(), &routes[i], &e))?;
            self.verify(&conn, i, load.first(i).up)?;
            Ok(conn)
        })?;
        load.open_connections.store(made.len() as i64, std::sync::atomic::Ordering::Relaxed);
        Ok(made)
    }
}

fn different(what: &str, came: i64, sum: u32, size: i64, want: u32) -> Failure {
    let text = format!("{what}: received {came} bytes with CRC-32C {sum:08x}, expected {size} with {want:08x}: the peer sends other content");
    Failure::new(Kind::Invalid, text)
}

fn echo(x: &Exchange, seed: u64) -> Result<(Content, Content), Failure> {
    let refuse = |text: String| Err(Failure::new(Kind::Setup, text));
    if !(1..=MAX_MESSAGE).contains(&x.up_bytes) {
        return refuse(format!("exchange.up_bytes is {}, expected 1 to {MAX_MESSAGE} on wire echo", x.up_bytes));
    }
    if x.up_sizes.iter().any(|s| s[1] < 1) {
        return refuse("exchange.up_sizes has messages of 0 bytes, expected at least 1 on wire echo".into());
    }
    if x.down_bytes != x.up_bytes || x.down_sizes != x.up_sizes {
        return refuse(format!("exchange is {} bytes up and {} down; wire echo returns what it is sent", x.up_bytes, x.down_bytes));
    }
    let content = || Content::new(x.up_bytes, x.up_bytes, at(seed, 0));
    Ok((content(), content()))
}

fn streams(x: &Exchange, varies: bool) -> Result<(Content, Content), Failure> {
    let refuse = |text: String| Err(Failure::new(Kind::Setup, text));
    if varies {
        let text = "exchange.up_sizes or down_sizes is given: wire stream has no headers to tell messages of several sizes apart";
        return Err(Failure::new(Kind::Unsupported, text));
    }
    for bytes in [x.up_bytes, x.down_bytes] {
        if !(1..=MAX_MESSAGE).contains(&bytes) {
            return refuse(format!("exchange has a message of {bytes} bytes, expected 1 to {MAX_MESSAGE} on wire stream"));
        }
    }
    let chunk = if x.chunk_bytes == 0 { 64 << 10 } else { x.chunk_bytes };
    if !(1..=64 << 20).contains(&chunk) {
        return refuse(format!("exchange.chunk_bytes is {chunk}, expected 1 to 64 MiB"));
    }
    Ok((Content::new(x.up_bytes, chunk, 1), Content::new(x.down_bytes, chunk, 2)))
}

/// An exchange on its way, or queued.
struct Flight {
    slot: usize, // its number in the connection
    sent: i64,
    up: i64,
    down: i64,
}

/// A client's end of one connection. Answers come in the order sent. One task uses it at a time.
pub struct ClientFlow {
    work: &'static Work,
    flights: VecDeque<Flight>, // the first `begun` of them are on their way
    begun: usize,
    waiting: BinaryHeap<Reverse<(i64, usize)>>, // due, number of the slot
    slots: &'static [Slot],
    held: usize,
    at: i64,   // bytes written of the message under way; 0 between two
    size: i64, // of that message
    sent: i64,
    came: i64,
    answers: i64, // bytes that came and belong to no completed exchange
}

impl ClientFlow {
    /// Takes the slots of a connection and asks each for its first exchange.
    pub fn new(work: &'static Work, slots: &'static [Slot]) -> ClientFlow {
        let mut flow = ClientFlow {
            work, slots, flights: VecDeque::with_capacity(slots.len()), begun: 0,
            waiting: BinaryHeap::with_capacity(slots.len()), held: slots.len(), at: 0, size: 0, sent: 0, came: 0, answers: 0,
        };
        let at = now();
        (0..slots.len()).for_each(|i| flow.queue_next(i, at));
        flow
    }

    #[inline]
    fn queue_next(&mut self, i: usize, now: i64) {
        match self.slots[i].next(now) {
            None => self.held -= 1,
            Some(due) if due > now => self.waiting.push(Reverse((due, i))),
            Some(_) => self.queue(i),
        }
    }

    #[inline]
    fn queue(&mut self, i: usize) {
        let slot = &self.slots[i];
        let (up, down) = match self.work.varies {
            true => (slot.draw().up, slot.draw().up), // an echo
            false => (self.work.up.bytes, self.work.down.bytes),
        };
        self.flights.push_back(Flight { slot: i, sent: 0, up, down });
    }

    /// How many slots are not let go. At 0 the load of this connection is over.
    pub fn held(&self) -> usize {
        self.held
    }

    /// When the next waiting slot is due.
    pub fn due(&self) -> Option<i64> {
        self.waiting.peek().map(|Reverse((due, _))| *due)
    }

    /// Takes up what is due by now; where the load has ended, lets go of what is due later.
    #[inline]
    pub fn fire(&mut self, load: &Load) {
        if self.waiting.is_empty() {
            return;
        }
        let (ended, now) = (load.ended(), now());
        while let Some(Reverse((due, i))) = self.waiting.peek().copied() {
            if due <= now {
                self.queue(i);
            } else if ended {
                self.slots[i].cancel();
                self.held -= 1;
            } else {
                break;
            }
            self.waiting.pop();
        }
    }

    #[inline]
    pub fn unsent(&self) -> bool {
        self.at > 0 || self.begun < self.flights.len()
    }

    /// The bytes to write now, of one message. Call it only where some are unsent.
    #[inline]
    pub fn outgoing(&mut self) -> &'static [u8] {
        if self.at == 0 {
            let flight = &mut self.flights[self.begun];
            flight.sent = now();
            self.size = flight.up;
        }
        self.work.up.part(self.at, self.size)
    }

    /// So many bytes of outgoing were written.
    #[inline]
    pub fn written(&mut self, n: usize) {
        if self.at == 0 && n > 0 {
            self.slots[self.flights[self.begun].slot].goes_out();
            self.begun += 1;
        }
        self.sent += n as i64;
        self.at += n as i64;
        if self.at == self.size {
            self.at = 0;
        }
    }

    /// Whether an answer is to come.
    pub fn in_flight(&self) -> bool {
        self.begun > 0
    }

    /// Completes exchanges with n bytes that came.
    #[inline]
    pub fn received(&mut self, n: usize) -> Result<(), Failure> {
        self.came += n as i64;
        self.answers += n as i64;
        if self.came > self.work.owed(self.sent) {
            return Err(Failure::new(Kind::Invalid, "the peer sent more than it owes"));
        }
        let mut at = 0;
        while self.begun > 0 && self.answers >= self.flights[0].down {
            at = if at == 0 { now() } else { at };
            let Some(f) = self.flights.pop_front() else { break };
            self.begun -= 1;
            self.answers -= f.down;
            self.slots[f.slot].done(f.sent, at, f.down);
            self.queue_next(f.slot, at);
        }
        Ok(())
    }

    /// The connection broke: what is under way has failed. Where nothing was, a peer that sends what nobody
    /// asked for still counts once.
    pub fn abandon(&mut self, why: &Failure) {
        if self.flights.is_empty() && why.kind == Kind::Invalid {
            if let Some(slot) = self.slots.first() {
                slot.fail(why);
            }
        }
        self.flights.drain(..).for_each(|f| self.slots[f.slot].fail(why));
        self.waiting.drain().for_each(|Reverse((_, i))| self.slots[i].cancel());
        self.held = 0;
    }
}

/// A server's end of one connection. One task uses it at a time.
pub struct ServerFlow {
    work: &'static Work,
    came: i64,
    sent: i64,
    at: i64,                // bytes sent of the message under way; 0 between two
    first: u32,             // CRC of the first message up, as far as it came
    pending: (usize, usize), // wire echo: what of the caller's buffer is to be written
    part: i64,               // of a message that is worked for, the bytes that came
    rests: Option<i64>,      // until when the exchange sleeps
    _open: crate::counters::Connected,
}

impl ServerFlow {
    pub fn new(work: &'static Work) -> ServerFlow {
        ServerFlow { work, came: 0, sent: 0, at: 0, first: 0, pending: (0, 0), part: 0, rests: None, _open: work.traffic.connected() }
    }

    /// Until when, on the clock of now, the exchange sleeps whose reply is next: call rested then. Nothing is to
    /// be written or read before.
    #[inline]
    pub fn rests(&self) -> Option<i64> {
        self.rests
    }

    pub fn rested(&mut self) {
        self.rests = None;
    }

    #[inline]
    pub fn unsent(&self) -> bool {
        if self.rests.is_some() {
            return false;
        }
        if !self.work.streams() {
            return self.pending.0 < self.pending.1;
        }
        self.sent < self.work.owed(self.came)
    }

    /// The bytes to write now; on wire echo they are those of the buffer that was read into.
    #[inline]
    pub fn outgoing<'a>(&self, buffer: &'a [u8]) -> &'a [u8] {
        if !self.work.streams() {
            return &buffer[self.pending.0..self.pending.1];
        }
        let piece = self.work.down.part(self.at, self.work.down.bytes);
        &piece[..piece.len().min((self.work.owed(self.came) - self.sent) as usize)]
    }

    /// As outgoing on wire stream; None on wire echo, where all that was read goes out.
    pub fn streamed(&self) -> Option<&'static [u8]> {
        let piece = self.work.down.part(self.at, self.work.down.bytes);
        let owed = self.work.owed(self.came) - self.sent;
        self.work.streams().then(|| &piece[..piece.len().min(owed as usize)])
    }

    #[inline]
    pub fn written(&mut self, n: usize) {
        let mut exchanges = 0;
        if !self.work.streams() {
            self.pending.0 += n;
        } else {
            self.sent += n as i64;
            self.at += n as i64;
            if self.at == self.work.down.bytes {
                self.at = 0;
                exchanges = 1;
            }
        }
        self.work.traffic.moved(0, n, exchanges);
    }

    /// How many bytes may be read now; 0 where what came last must be written first.
    #[inline]
    pub fn limit(&self, most: usize) -> usize {
        let most = match self.work.service {
            Some(_) => most.min((self.work.up.bytes - self.part) as usize), // each message by itself
            None => most,
        };
        if !self.work.streams() {
            return if self.unsent() { 0 } else { most };
        }
        match self.work.up.bytes - self.came {
            left if left > 0 => most.min(left as usize), // the first message is compared by itself
            _ => most,
        }
    }

    /// Takes what came to the beginning of the buffer.
    #[inline]
    pub fn received(&mut self, piece: &[u8]) -> Result<(), Failure> {
        self.work.traffic.moved(piece.len(), 0, 0);
        if let Some(service) = &self.work.service {
            self.part += piece.len() as i64;
            if self.part == self.work.up.bytes {
                self.part = 0;
                self.rests = service.serve();
            }
        }
        if !self.work.streams() {
            self.pending = (0, piece.len());
            return Ok(());
        }
        let up = &self.work.up;
        if self.came < up.bytes {
            self.first = crc32c(self.first, piece);
            if self.came + piece.len() as i64 == up.bytes && self.first != up.sum(up.bytes) {
                return Err(different("the first message", up.bytes, self.first, up.bytes, up.sum(up.bytes)));
            }
        }
        self.came += piece.len() as i64;
        Ok(())
    }
}
