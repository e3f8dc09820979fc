//! Transport monoio: TCP on io_uring by monoio, a runtime on each thread and a task for each connection.
//! Wires echo and stream.

use monoio::buf::{SliceMut, IoBuf};
use monoio::io::{AsyncReadRent, AsyncWriteRentExt, Splitable};
use monoio::net::{TcpStream, UnixStream};
use monoio::{IoUringDriver, RuntimeBuilder};
use netdyno_kit::flow::{describe, read_buffer_option, ClientFlow, ServerFlow, Work};
use netdyno_kit::net::{accept_failure, addresses_of, listen, Allowed};
use netdyno_kit::{driving, json, now, serving, Alarm, Client, Failure, Kind, Load, Program, Server, Setup, Transport, Value};
use std::cell::RefCell;
use std::future::{poll_fn, Future};
use std::io::ErrorKind::UnexpectedEof;
use std::rc::Rc;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Poll, Waker};
use std::thread::JoinHandle;

struct Monoio;

impl Transport for Monoio {
    fn describe(&self) -> Value {
        describe(json!({"name": "monoio", "doc": "io_uring by monoio, a runtime per thread and a task per connection",
            "options": [read_buffer_option(),
                {"name": "entries", "type": "int", "default": 1024, "min": 64, "max": 32768, "doc": "entries of each thread's ring"}]}))
    }

    fn server(&self, setup: &Setup) -> Result<Box<dyn Server>, Failure> {
        let plan = Plan::new(setup)?;
        let listeners = listen(setup)?;
        let ready = json!({"addresses": addresses_of(&listeners), "options": {"read_buffer": plan.work.buffer, "entries": plan.entries}});
        for _ in 0..setup.threads() {
            let own: Vec<_> = listeners.iter().map(|l| l.try_clone()).collect::<Result<_, _>>()?;
            let allowed = Allowed::new(setup)?;
            // Every thread accepts from every port; whichever is free first takes a connection.
            on_ring(plan, move |alarm| async move {
                let tasks: Vec<_> = own.into_iter().map(|l| monoio::spawn(accept(plan, l, allowed.clone(), alarm))).collect();
                for task in tasks {
                    task.await;
                }
            })?;
        }
        Ok(serving(ready, || plan.work.counts()))
    }

    fn client(&self, setup: &Setup) -> Result<Box<dyn Client>, Failure> {
        let (plan, load) = (Plan::new(setup)?, Load::new(setup)?);
        let conns = plan.work.connect(setup, load)?;
        let threads = setup.threads().min(load.active());
        Ok(Box::new(driving(load, move || run(plan, load, threads, conns))))
    }
}

/// What an end does in a trial.
#[derive(Clone, Copy)]
struct Plan {
    work: &'static Work,
    entries: u32,
}

impl Plan {
    fn new(setup: &Setup) -> Result<Plan, Failure> {
        Ok(Plan { work: Work::new(setup)?, entries: setup.int("entries") as u32 })
    }
}

/// Runs a future on a runtime and a thread of its own, which it returns.
fn on_ring<F: Future<Output = ()> + 'static>(plan: Plan, make: impl FnOnce(&'static Alarm) -> F + Send + 'static) -> Result<JoinHandle<()>, Failure> {
    let (told, begun) = std::sync::mpsc::channel();
    let alarm: &'static Alarm = Box::leak(Box::new(Alarm::new()?));
    let thread = std::thread::spawn(move || match RuntimeBuilder::<IoUringDriver>::new().with_entries(plan.entries).build() {
        Ok(mut runtime) => {
            let _ = told.send(None);
            runtime.block_on(async move {
                monoio::spawn(ring(alarm));
                make(alarm).await;
            });
        }
        Err(e) => drop(told.send(Some(e))),
    });
    match begun.recv() {
        Ok(None) => Ok(thread),
        Ok(Some(e)) => Err(Failure::new(Kind::Setup, format!("make a ring: {e}: io_uring must be allowed (kernel.io_uring_disabled, seccomp)"))),
        Err(_) => Err(Failure::new(Kind::Bug, "a thread ended before its runtime began")),
    }
}

/// Wakes what is due: monoio's own timers have steps of 1 ms.
async fn ring(alarm: &'static Alarm) {
    // The ring polls the timer as it polls a socket; nothing else is done with it here.
    let Ok(timer) = alarm.as_fd().try_clone_to_owned().and_then(|fd| UnixStream::from_std(fd.into())) else { return };
    while timer.readable(false).await.is_ok() {
        alarm.ring();
    }
}

async fn accept(plan: Plan, listener: std::net::TcpListener, allowed: Allowed, alarm: &'static Alarm) {
    let Ok(listener) = monoio::net::TcpListener::from_std(listener) else { return };
    loop {
        match listener.accept().await {
            Ok((conn, from)) if allowed.admits(from.ip()) => drop(monoio::spawn(async move {
                let _ = conn.set_nodelay(true);
                let _ = serve(plan, conn, alarm).await; // how it ends is the client's to count
            })),
            Ok(_) => {}
            Err(e) => accept_failure(&e),
        }
    }
}

async fn serve(plan: Plan, mut conn: TcpStream, alarm: &Alarm) -> Result<(), Failure> {
    let (mut flow, mut buffer, mut held) = (ServerFlow::new(plan.work), vec![0u8; plan.work.buffer], 0);
    loop {
        if let Some(until) = flow.rests() {
            alarm.until(until, None).await;
            flow.rested();
        }
        while flow.unsent() {
            // Counted as it goes out: the client may have it before this task hears so.
            if let Some(piece) = flow.streamed() {
                flow.written(piece.len());
                conn.write_all(piece).await.0?;
            } else {
                flow.written(held);
                let (wrote, back) = conn.write_all(buffer.slice(..held)).await;
                wrote?;
                buffer = back.into_inner();
            }
        }
        let room = flow.limit(plan.work.buffer); // a read sets the buffer's length to what came
        let (read, back) = conn.read(SliceMut::new(buffer, 0, room)).await;
        buffer = back.into_inner();
        held = read?;
        if held == 0 {
            return Ok(());
        }
        flow.received(&buffer[..held])?;
    }
}

/// Makes the exchanges of every active connection, each on a thread.
fn run(plan: Plan, load: &'static Load, threads: usize, conns: Vec<std::net::TcpStream>) -> Result<(), Failure> {
    let mut shares: Vec<Vec<_>> = (0..threads).map(|_| Vec::new()).collect();
    for (i, conn) in conns.iter().take(load.active()).enumerate() {
        shares[i % threads].push((i, conn.try_clone()?));
    }
    std::mem::forget(conns); // open until the process ends
    let lost: &'static AtomicUsize = Box::leak(Box::default());
    let drive_all = |share: Vec<(usize, std::net::TcpStream)>| {
        on_ring(plan, move |alarm| async move {
            load.on_end(|| alarm.wake_all());
            let one = |(i, conn)| monoio::spawn(async move {
                let flow = Rc::new(RefCell::new(Shared { flow: ClientFlow::new(plan.work, load.slots(i)), writer: None, reader: None, failed: false }));
                if let Err(why) = drive(plan, load, conn, &flow, alarm).await {
                    flow.borrow_mut().flow.abandon(&why);
                    lost.fetch_add(1, Relaxed);
                }
            });
            for task in share.into_iter().map(one).collect::<Vec<_>>() {
                task.await;
            }
        })
    };
    let begun = shares.into_iter().map(drive_all).collect::<Result<Vec<_>, _>>()?;
    begun.into_iter().for_each(|thread| drop(thread.join()));
    match lost.load(Relaxed) == load.active() {
        true => Err(Failure::new(Kind::Peer, "every connection was lost")),
        false => Ok(()),
    }
}

/// A connection's flow, between the task that writes and the one that reads.
struct Shared {
    flow: ClientFlow,
    writer: Option<Waker>,
    reader: Option<Waker>,
    failed: bool,
}

type Flow = Rc<RefCell<Shared>>;

async fn drive(plan: Plan, load: &'static Load, conn: std::net::TcpStream, flow: &Flow, alarm: &'static Alarm) -> Result<(), Failure> {
    let (mut reader, mut writer) = TcpStream::from_std(conn)?.into_split();
    if load.plan().in_flight == 1 && !plan.work.both_ways() {
        let mut buffer = vec![0; plan.work.buffer];
        while let Some(piece) = next_piece(load, flow, alarm).await {
            writer.write_all(piece).await.0?;
            while !flow.borrow().flow.unsent() && flow.borrow().flow.in_flight() {
                buffer = receive(&mut reader, buffer, flow).await?;
            }
        }
        return Ok(());
    }
    let sending = flow.clone();
    let sent = monoio::spawn(async move {
        while let Some(piece) = next_piece(load, &sending, alarm).await {
            sending.borrow_mut().reader.take().into_iter().for_each(Waker::wake);
            if writer.write_all(piece).await.0.is_err() {
                break; // the reader meets the same end and counts it
            }
        }
        sending.borrow_mut().reader.take().into_iter().for_each(Waker::wake);
    });
    let mut buffer = vec![0; plan.work.buffer];
    let read = loop {
        if !expects(flow).await {
            break Ok(());
        }
        match receive(&mut reader, buffer, flow).await {
            Ok(back) => buffer = back,
            Err(why) => break Err(why),
        }
        flow.borrow_mut().writer.take().into_iter().for_each(Waker::wake);
    };
    flow.borrow_mut().failed = read.is_err();
    flow.borrow_mut().writer.take().into_iter().for_each(Waker::wake);
    if read.is_ok() {
        sent.await;
    }
    read
}

/// The bytes to write next, of which it says that they are written before their answer can come; None when
/// every slot is let go or the connection has broken.
async fn next_piece(load: &Load, flow: &Flow, alarm: &Alarm) -> Option<&'static [u8]> {
    poll_fn(|cx| {
        let mut shared = flow.borrow_mut();
        shared.flow.fire(load);
        if shared.failed || shared.flow.held() == 0 {
            return Poll::Ready(None);
        }
        if shared.flow.unsent() {
            let piece = shared.flow.outgoing();
            shared.flow.written(piece.len());
            return Poll::Ready(Some(piece));
        }
        if let Some(due) = shared.flow.due() {
            alarm.wake_at(due.max(now()), cx.waker());
            if load.ended() {
                cx.waker().wake_by_ref(); // the end may have come before the alarm knew
            }
        }
        shared.writer = Some(cx.waker().clone());
        Poll::Pending
    })
    .await
}

/// Waits until an answer is to come; false when none will.
async fn expects(flow: &Flow) -> bool {
    poll_fn(|cx| {
        let mut shared = flow.borrow_mut();
        if shared.flow.in_flight() {
            return Poll::Ready(true);
        }
        if shared.flow.held() == 0 {
            return Poll::Ready(false);
        }
        shared.reader = Some(cx.waker().clone());
        Poll::Pending
    })
    .await
}

async fn receive(reader: &mut impl AsyncReadRent, buffer: Vec<u8>, flow: &Flow) -> Result<Vec<u8>, Failure> {
    let (read, back) = reader.read(buffer).await;
    match read? {
        0 => Err(std::io::Error::from(UnexpectedEof).into()),
        n => flow.borrow_mut().flow.received(n).map(|()| back),
    }
}

static WORKER: Program = Program {
    name: "netdyno-worker-monoio",
    version: env!("CARGO_PKG_VERSION"),
    libraries: &[("monoio", "0.2.4")],
    transports: &[&Monoio],
};

fn main() {
    WORKER.main()
}
