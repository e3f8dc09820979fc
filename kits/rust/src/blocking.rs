//! Connections of wires echo and stream by blocking calls: a thread for each connection.

use crate::clock::now;
use crate::contract::{Failure, Kind};
use crate::flow::{ClientFlow, ServerFlow, Work};
use crate::load::Load;
use crate::net::{accept_failure, Allowed};
use std::io::{ErrorKind::UnexpectedEof, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// Accepts the trial's clients on a thread of its own, with TCP_NODELAY, and serves each on another.
/// Connections of others are closed at once.
pub fn accept(listener: TcpListener, allowed: Allowed, serve: impl Fn(TcpStream) + Send + Clone + 'static) {
    thread::spawn(move || loop {
        match listener.accept() {
            Ok((conn, from)) if allowed.admits(from.ip()) => {
                let serve = serve.clone();
                thread::spawn(move || conn.set_nodelay(true).map(|()| serve(conn)));
            }
            Ok(_) => {}
            Err(e) => accept_failure(&e),
        }
    });
}

/// Serves a connection until its client ends it or sends what it may not, which is the client's to count.
pub fn serve(mut conn: impl Read + Write, work: &'static Work) -> Result<(), Failure> {
    let (mut flow, mut buffer) = (ServerFlow::new(work), vec![0; work.buffer]);
    loop {
        if let Some(until) = flow.rests() {
            thread::sleep(Duration::from_nanos((until - now()).max(0) as u64));
            flow.rested();
        }
        while flow.unsent() {
            flow.written(conn.write(flow.outgoing(&buffer))?);
        }
        let room = flow.limit(buffer.len());
        match conn.read(&mut buffer[..room])? {
            0 => return Ok(()),
            n => flow.received(&buffer[..n])?,
        }
    }
}

/// The failure of what a thread cannot do that writes a message, then reads.
pub fn able(work: &Work, load: &Load) -> Result<(), Failure> {
    if work.both_ways() || load.plan().in_flight > 1 {
        let text = "a thread that writes a message, then reads, has one exchange in flight, of at most 256 KiB, and not both ways at once";
        return Err(Failure::new(Kind::Unsupported, text));
    }
    Ok(())
}

/// Makes the exchanges of every active connection, each on a thread. The failure says that all were lost.
pub fn run<S: Read + Write + Send>(conns: &mut [S], work: &'static Work, load: &'static Load) -> Result<(), Failure> {
    let lost = thread::scope(|threads| {
        let active = conns.iter_mut().take(load.active()).enumerate();
        let all: Vec<_> = active.map(|(i, conn)| threads.spawn(move || drive(conn, work, load, i).is_err())).collect();
        all.into_iter().map(|t| t.join()).filter(|lost| !matches!(lost, Ok(false))).count()
    });
    if lost == load.active() {
        return Err(Failure::new(Kind::Peer, "every connection was lost"));
    }
    Ok(())
}

fn drive(conn: &mut (impl Read + Write), work: &'static Work, load: &Load, i: usize) -> Result<(), Failure> {
    let (mut flow, mut buffer) = (ClientFlow::new(work, load.slots(i)), vec![0; work.buffer]);
    while flow.held() > 0 {
        turn(conn, &mut flow, &mut buffer, load).inspect_err(|why| flow.abandon(why))?;
    }
    Ok(())
}

fn turn(conn: &mut (impl Read + Write), flow: &mut ClientFlow, buffer: &mut [u8], load: &Load) -> Result<(), Failure> {
    while flow.unsent() {
        let n = conn.write(flow.outgoing())?;
        flow.written(n);
    }
    if flow.in_flight() {
        match conn.read(buffer)? {
            0 => return Err(std::io::Error::from(UnexpectedEof).into()),
            n => flow.received(n)?,
        }
    } else if let Some(due) = flow.due() {
        load.wait_until(due);
    }
    flow.fire(load);
    Ok(())
}
