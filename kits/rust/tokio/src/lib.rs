//! netdyno-kit on tokio: the runtimes of a trial, due times, accepting, and connections of wires echo and
//! stream. See netdyno-kit for what a worker is.

mod connection;
mod single;

pub use connection::{drive, serve};
pub use single::{dial, verify, Fresh};

use netdyno_kit::net::{accept_failure, Allowed};
use netdyno_kit::{json, now, Alarm, Failure, Kind, Load, Service, Setup, Slot, Value};
use std::future::{pending, Future};
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::channel;
use tokio::io::unix::AsyncFd;
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Handle};
use tokio::sync::Semaphore;

/// Connections that are made at once.
static CONNECTING: Semaphore = Semaphore::const_new(128);

/// Option `runtime`, by which a user of tokio chooses how tasks meet threads.
pub fn runtime_option() -> Value {
    json!({"name": "runtime", "type": "choice", "default": "shared", "choices": ["shared", "per-thread"], "grid": ["shared", "per-thread"],
        "doc": "shared: one runtime whose threads steal tasks from each other; per-thread: a current-thread runtime on each thread, and a connection stays on one"})
}

/// Wakes what is due, until the runtime ends.
async fn ring(alarm: &'static Alarm) {
    // SAFETY: the timer is open as long as the alarm, which lives as long as the process.
    let Ok(timer) = (unsafe { AsyncFd::register_with_interest(alarm.as_fd(), Interest::READABLE) }) else { return };
    while let Ok(mut guard) = timer.readable().await {
        guard.clear_ready(); // before it is read: what is set meanwhile makes it ready again
        alarm.ring();
    }
}

/// The runtimes of a trial. They last as long as the process. Any thread may use it.
pub struct Engine {
    handles: Vec<Handle>,
    alarms: Vec<Alarm>,
    next: AtomicUsize,
}

impl Engine {
    /// Starts the runtimes that a setup asks for.
    pub fn new(setup: &Setup) -> Result<&'static Engine, Failure> {
        let refuse = |e: std::io::Error| Failure::new(Kind::Setup, format!("start tokio: {e}"));
        let threads = setup.threads();
        let alarms = (0..threads).map(|_| Alarm::new()).collect::<Result<_, _>>().map_err(refuse)?;
        let mut handles = Vec::new();
        if setup.text("runtime") == "per-thread" {
            for _ in 0..threads {
                let runtime = Builder::new_current_thread().enable_all().build().map_err(refuse)?;
                handles.push(runtime.handle().clone());
                std::thread::spawn(move || runtime.block_on(pending::<()>()));
            }
        } else {
            let runtime = Builder::new_multi_thread().worker_threads(threads).enable_all().build().map_err(refuse)?;
            handles.push(runtime.handle().clone());
            std::mem::forget(runtime);
        }
        let engine: &'static Engine = Box::leak(Box::new(Engine { handles, alarms, next: AtomicUsize::new(0) }));
        for (i, alarm) in engine.alarms.iter().enumerate() {
            engine.spawn(i, ring(alarm));
        }
        Ok(engine)
    }

    /// The runtime of connection i.
    pub fn handle(&self, i: usize) -> &Handle {
        &self.handles[i % self.handles.len()]
    }

    /// The alarm of connection i.
    pub fn alarm(&self, i: usize) -> &Alarm {
        &self.alarms[i % self.alarms.len()]
    }

    /// Runs a task on the runtime of connection i.
    pub fn spawn(&self, i: usize, task: impl Future<Output = ()> + Send + 'static) {
        self.handle(i).spawn(task);
    }

    /// Runs a future to its end from a thread that is not the runtime's.
    pub fn block<T: Send + 'static>(&self, i: usize, task: impl Future<Output = T> + Send + 'static) -> Result<T, Failure> {
        let (done, result) = channel();
        self.spawn(i, async move {
            let _ = done.send(task.await);
        });
        result.recv().map_err(|_| Failure::new(Kind::Bug, "a task ended without its result"))
    }

    /// Accepts the trial's clients, with TCP_NODELAY, and serves each on a runtime in turn. Connections of
    /// others are closed at once.
    pub fn accept<F: Future<Output = ()> + Send + 'static>(
        &'static self, listeners: Vec<TcpListener>, allowed: Allowed, serve: impl Fn(TcpStream, &'static Alarm) -> F + Send + Sync + 'static,
    ) -> Result<(), Failure> {
        let serve: &'static _ = Box::leak(Box::new(serve));
        for (at, listener) in listeners.into_iter().enumerate() {
            listener.set_nonblocking(true)?;
            let allowed = allowed.clone();
            self.spawn(at, async move {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                loop {
                    match listener.accept().await {
                        Ok((stream, from)) if allowed.admits(from.ip()) => self.admit(stream, serve),
                        Ok(_) => {}
                        Err(e) => {
                            accept_failure(&e);
                            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                        }
                    }
                }
            });
        }
        Ok(())
    }

    fn admit<F: Future<Output = ()> + Send + 'static>(
        &'static self, stream: TcpStream, serve: &'static (impl Fn(TcpStream, &'static Alarm) -> F + Send + Sync + 'static),
    ) {
        let _ = stream.set_nodelay(true); // the client's check of speed would show it
        let i = self.next.fetch_add(1, Relaxed);
        if self.handles.len() == 1 {
            return self.spawn(0, serve(stream, self.alarm(i)));
        }
        let Ok(moved) = stream.into_std() else { return };
        self.spawn(i, async move {
            if let Ok(stream) = TcpStream::from_std(moved) {
                serve(stream, self.alarm(i)).await;
            }
        });
    }

    /// Opens connections 0 to n − 1, each on its runtime, and returns the first failure.
    pub fn open<F>(&'static self, n: usize, open: impl Fn(usize) -> F) -> Result<(), Failure>
    where
        F: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        let (done, results) = channel();
        for i in 0..n {
            let (done, task) = (done.clone(), open(i));
            self.spawn(i, async move {
                let _permit = CONNECTING.acquire().await;
                let _ = done.send(task.await);
            });
        }
        drop(done);
        results.iter().try_for_each(|one| one)
    }

    /// Runs a task for each active connection until all have ended. The failure says that every one was lost.
    pub fn run<F>(&'static self, load: &'static Load, task: impl FnMut(usize) -> F) -> Result<(), Failure>
    where
        F: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        let all: Vec<_> = (0..load.active()).map(task).enumerate().collect();
        self.run_all(load, all)
    }

    /// Runs a task for each slot, as run does for each connection.
    pub fn run_slots<F>(&'static self, load: &'static Load, mut task: impl FnMut(usize, &'static Slot) -> F) -> Result<(), Failure>
    where
        F: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        let slots = (0..load.active()).flat_map(|i| load.slots(i).iter().map(move |slot| (i, slot)));
        let all: Vec<_> = slots.map(|(i, slot)| (i, task(i, slot))).collect();
        self.run_all(load, all)
    }

    fn run_all<F>(&'static self, load: &'static Load, tasks: Vec<(usize, F)>) -> Result<(), Failure>
    where
        F: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        load.on_end(|| self.alarms.iter().for_each(Alarm::wake_all));
        let (done, results) = channel();
        let n = tasks.len();
        for (i, task) in tasks {
            let done = done.clone();
            self.spawn(i, async move {
                let _ = done.send(task.await.is_err());
            });
        }
        drop(done);
        if results.iter().filter(|lost| *lost).count() == n {
            return Err(Failure::new(Kind::Peer, "every connection was lost"));
        }
        Ok(())
    }
}

/// Carries out the exchanges of one slot, one after the other.
pub trait Call: Send {
    /// Makes one exchange and returns the payload that came. A failure of kind peer means that the connection
    /// is lost for good.
    fn exchange(&mut self, slot: &'static Slot) -> impl Future<Output = Result<i64, Failure>> + Send;

    /// Whether a failure ends the slot.
    fn ends(&self, failure: &Failure) -> bool {
        failure.kind == Kind::Peer
    }
}

/// Does what a server is told to do for an exchange before its reply.
pub async fn work(service: &Option<Service>, alarm: &Alarm) {
    if let Some(until) = service.as_ref().and_then(Service::serve) {
        alarm.until(until, None).await;
    }
}

/// Makes the exchanges of one slot until it is let go, or by a failure that ends it. One that is late by its
/// class's deadline is dropped.
pub async fn exchanges(load: &'static Load, slot: &'static Slot, alarm: &'static Alarm, call: &mut impl Call) -> Result<(), Failure> {
    let mut armed = 0;
    while let Some(due) = slot.next(now()) {
        if !alarm.until(due, Some(load)).await {
            slot.cancel();
            break;
        }
        let sent = now();
        let made = match slot.deadline_ns() {
            0 => call.exchange(slot).await,
            ns => alarm.within(sent + ns, &mut armed, call.exchange(slot)).await.unwrap_or_else(|| Err(Failure::late(ns))),
        };
        match made {
            Ok(received) => slot.done(sent, now(), received),
            Err(failure) => {
                slot.fail(&failure);
                if call.ends(&failure) {
                    return Err(failure);
                }
            }
        }
    }
    Ok(())
}
