//! Transport monoio: TCP on io_uring by monoio, a runtime on each thread and a task for each connection.
//! Wires echo and stream.

mod alarm;

use alarm::Alarm;
use monoio::buf::{SliceMut, IoBuf};
use monoio::io::{AsyncReadRent, AsyncWriteRentExt, Splitable};
use monoio::net::TcpStream;
use monoio::{IoUringDriver, RuntimeBuilder};
use netdyno_kit::flow::{describe, ClientFlow, ServerFlow, Work};
use netdyno_kit::net::{accept_failure, addresses_of, listen, Allowed};
use netdyno_kit::{json, now, Client, Counts, Failure, Kind, Load, Program, Server, Setup, Transport, Value};
use std::cell::RefCell;
use std::future::poll_fn;
use std::io::ErrorKind::UnexpectedEof;
use std::rc::Rc;
use std::sync::Mutex;
use std::task::{Poll, Waker};

struct Monoio;

impl Transport for Monoio {
    fn describe(&self) -> Value {
        describe(json!({"name": "monoio", "doc": "io_uring by monoio, a runtime per thread and a task per connection",
            "options": [{"name": "read_buffer", "type": "bytes", "unit": "B", "default": 0, "min": 0, "max": 64 << 20, "grid": ["4KiB", "64KiB", "256KiB"],
                "doc": "read buffer of each connection; 0 takes the size of what comes within 4 KiB (client: 512 B) and 64 KiB (streams: 128 KiB)"},
                {"name": "entries", "type": "int", "default": 1024, "min": 64, "max": 32768, "doc": "entries of each thread's ring"}]}))
    }

    fn server(&self, setup: &Setup) -> Result<Box<dyn Server>, Failure> {
        let plan = Plan::new(setup)?;
        let listeners = listen(setup)?;
        let ready = json!({"addresses": addresses_of(&listeners), "options": {"read_buffer": plan.buffer, "entries": plan.entries}});
        for _ in 0..setup.threads() {
            let own: Vec<_> = listeners.iter().map(|l| l.try_clone()).collect::<Result<_, _>>()?;
            let allowed = Allowed::new(setup)?;
            // Every thread accepts from every port; whichever is free first takes a connection.
            on_ring(plan, move || async move {
                let tasks: Vec<_> = own.into_iter().map(|l| monoio::spawn(accept(plan, l, allowed.clone()))).collect();
                for task in tasks {
                    task.await;
                }
            })?;
        }
        Ok(Box::new(Serving(plan.work, ready)))
    }

    fn client(&self, setup: &Setup) -> Result<Box<dyn Client>, Failure> {
        let (plan, load) = (Plan::new(setup)?, Load::new(setup)?);
        let conns = plan.work.connect(setup, load)?;
        Ok(Box::new(Driving { plan, load, threads: setup.threads(), conns }))
    }
}

/// What an end does in a trial.
#[derive(Clone, Copy)]
struct Plan {
    work: &'static Work,
    buffer: usize,
    entries: u32,
}

impl Plan {
    fn new(setup: &Setup) -> Result<Plan, Failure> {
        let work = Work::new(setup)?;
        let buffer = match setup.int("read_buffer") {
            0 => work.buffer(setup.is_server()),
            n => n as usize,
        };
        Ok(Plan { work, buffer, entries: setup.int("entries") as u32 })
    }
}

/// Runs a future on a runtime and a thread of its own, which it returns.
fn on_ring<F: std::future::Future<Output = ()>>(plan: Plan, make: impl FnOnce() -> F + Send + 'static) -> Result<std::thread::JoinHandle<()>, Failure> {
    let (told, begun) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || match RuntimeBuilder::<IoUringDriver>::new().with_entries(plan.entries).build() {
        Ok(mut runtime) => {
            let _ = told.send(None);
            runtime.block_on(make());
        }
        Err(e) => drop(told.send(Some(e))),
    });
    match begun.recv() {
        Ok(None) => Ok(thread),
        Ok(Some(e)) => Err(Failure::new(Kind::Setup, format!("make a ring: {e}: io_uring must be allowed (kernel.io_uring_disabled, seccomp)"))),
        Err(_) => Err(Failure::new(Kind::Bug, "a thread ended before its runtime began")),
    }
}

async fn accept(plan: Plan, listener: std::net::TcpListener, allowed: Allowed) {
    let Ok(listener) = monoio::net::TcpListener::from_std(listener) else { return };
    loop {
        match listener.accept().await {
            Ok((conn, from)) if allowed.admits(from.ip()) => drop(monoio::spawn(async move {
                let _ = conn.set_nodelay(true);
                let _ = serve(plan, conn).await; // how it ends is the client's to count
            })),
            Ok(_) => {}
            Err(e) => accept_failure(&e),
        }
    }
}

async fn serve(plan: Plan, mut conn: TcpStream) -> Result<(), Failure> {
    let (mut flow, mut buffer, mut held) = (ServerFlow::new(plan.work), vec![0u8; plan.buffer], 0);
    loop {
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
        let room = flow.limit(plan.buffer); // a read sets the buffer's length to what came
        let (read, back) = conn.read(SliceMut::new(buffer, 0, room)).await;
        buffer = back.into_inner();
        held = read?;
        if held == 0 {
            return Ok(());
        }
        flow.received(&buffer[..held])?;
    }
}

struct Serving(&'static Work, Value);

impl Server for Serving {
    fn ready(&self) -> Value {
        self.1.clone()
    }
    fn counts(&self) -> Counts {
        self.0.counts()
    }
}

struct Driving {
    plan: Plan,
    load: &'static Load,
    threads: usize,
    conns: Vec<std::net::TcpStream>,
}

impl Client for Driving {
    fn load(&self) -> &'static Load {
        self.load
    }

    fn run(&mut self) -> Result<(), Failure> {
        let (plan, load, threads) = (self.plan, self.load, self.threads.min(self.load.active()));
        let mut shares: Vec<Vec<_>> = (0..threads).map(|_| Vec::new()).collect();
        for (i, conn) in self.conns.iter().take(load.active()).enumerate() {
            shares[i % threads].push((i, conn.try_clone()?)); // the connections stay open until the process ends
        }
        let lost: &'static Mutex<usize> = Box::leak(Box::new(Mutex::new(0)));
        let begun = shares.into_iter().map(|share| on_ring(plan, move || drive_all(plan, load, share, lost))).collect::<Result<Vec<_>, _>>()?;
        begun.into_iter().for_each(|thread| drop(thread.join()));
        if *lost.lock().unwrap_or_else(|e| e.into_inner()) == load.active() {
            return Err(Failure::new(Kind::Peer, "every connection was lost"));
        }
        Ok(())
    }
}

async fn drive_all(plan: Plan, load: &'static Load, share: Vec<(usize, std::net::TcpStream)>, lost: &'static Mutex<usize>) {
    let alarm = match Alarm::new(share.len()) {
        Ok(alarm) => Rc::new(alarm),
        Err(e) => netdyno_kit::contract::fail(&Failure::new(Kind::Setup, format!("make a timer: {e}")), None),
    };
    let (ringing, fd) = (alarm.clone(), alarm.fd());
    monoio::spawn(async move { ringing.ring(load).await });
    load.on_end(move || alarm::set(fd, 1)); // at once
    let tasks: Vec<_> = share.into_iter().enumerate().map(|(task, (i, conn))| {
        let alarm = alarm.clone();
        monoio::spawn(async move {
            let flow = Rc::new(RefCell::new(Shared { flow: ClientFlow::new(plan.work, load.slots(i)), writer: None, reader: None, failed: false }));
            if let Err(why) = drive(plan, load, conn, &flow, &alarm, task).await {
                flow.borrow_mut().flow.abandon(&why);
                *lost.lock().unwrap_or_else(|e| e.into_inner()) += 1;
            }
        })
    }).collect();
    for task in tasks {
        task.await;
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

async fn drive(plan: Plan, load: &'static Load, conn: std::net::TcpStream, flow: &Flow, alarm: &Rc<Alarm>, task: usize) -> Result<(), Failure> {
    let (mut reader, mut writer) = TcpStream::from_std(conn)?.into_split();
    if load.plan().in_flight == 1 && !plan.work.both_ways() {
        let mut buffer = vec![0; plan.buffer];
        while let Some(piece) = next_piece(load, flow, alarm, task).await {
            writer.write_all(piece).await.0?;
            while !flow.borrow().flow.unsent() && flow.borrow().flow.in_flight() {
                buffer = receive(&mut reader, buffer, flow).await?;
            }
        }
        return Ok(());
    }
    let (sending, alarm) = (flow.clone(), alarm.clone());
    let sent = monoio::spawn(async move {
        while let Some(piece) = next_piece(load, &sending, &alarm, task).await {
            sending.borrow_mut().reader.take().into_iter().for_each(Waker::wake);
            if writer.write_all(piece).await.0.is_err() {
                break; // the reader meets the same end and counts it
            }
        }
        sending.borrow_mut().reader.take().into_iter().for_each(Waker::wake);
    });
    let mut buffer = vec![0; plan.buffer];
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
async fn next_piece(load: &Load, flow: &Flow, alarm: &Alarm, task: usize) -> Option<&'static [u8]> {
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
            alarm.wake_at(due.max(now()), task, cx.waker());
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
