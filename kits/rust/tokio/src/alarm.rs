//! Wakes tasks when exchanges are due. tokio's own timers have steps of 1 ms; a timerfd in the runtime's
//! epoll set is on time.

use netdyno_kit::{now, Load};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::future::poll_fn;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use tokio::io::unix::AsyncFd;
use tokio::io::Interest;

struct Entry(i64, Waker);

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.0 == other.0
    }
}
impl Eq for Entry {}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Ordering {
        self.0.cmp(&other.0)
    }
}

struct State {
    dues: BinaryHeap<Reverse<Entry>>,
    armed: i64, // what the timer is set to; i64::MAX for nothing
}

/// Some tasks' due times. Any thread may use it.
pub struct Alarm {
    timer: OwnedFd,
    state: Mutex<State>,
}

impl Alarm {
    pub(crate) fn new() -> std::io::Result<Alarm> {
        // SAFETY: a plain system call, whose descriptor is ours.
        let fd = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC | libc::TFD_NONBLOCK) };
        if fd < 0 {
            return Err(std::io::Error::last_os_error());
        }
        let state = State { dues: BinaryHeap::new(), armed: i64::MAX };
        // SAFETY: fd is open and nobody else's.
        Ok(Alarm { timer: unsafe { OwnedFd::from_raw_fd(fd) }, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Wakes what is due, until the runtime ends.
    pub(crate) async fn ring(&self) {
        // SAFETY: the timer is an open descriptor as long as this future, which borrows it.
        let Ok(readable) = (unsafe { AsyncFd::register_with_interest(self.timer.as_fd(), Interest::READABLE) }) else { return };
        loop {
            let Ok(mut guard) = readable.readable().await else { return };
            let mut times = [0u8; 8];
            // SAFETY: times has room for the eight bytes of a timerfd.
            unsafe { libc::read(self.timer.as_raw_fd(), times.as_mut_ptr().cast(), 8) };
            guard.clear_ready();
            let mut state = self.state();
            let at = now();
            while state.dues.peek().is_some_and(|Reverse(e)| e.0 <= at) {
                if let Some(Reverse(e)) = state.dues.pop() {
                    e.1.wake();
                }
            }
            state.armed = i64::MAX;
            self.arm(&mut state);
        }
    }

    fn arm(&self, state: &mut State) {
        let Some(Reverse(first)) = state.dues.peek() else { return };
        if first.0 >= state.armed {
            return;
        }
        state.armed = first.0;
        let at = libc::timespec { tv_sec: first.0 / 1_000_000_000, tv_nsec: first.0 % 1_000_000_000 };
        let setting = libc::itimerspec { it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 }, it_value: at };
        // SAFETY: setting is valid; the due is on the clock of now.
        unsafe { libc::timerfd_settime(self.timer.as_raw_fd(), libc::TFD_TIMER_ABSTIME, &setting, std::ptr::null_mut()) };
    }

    /// Wakes the task at an instant on the clock of now, and when the load ends.
    pub fn wake_at(&self, due: i64, cx: &Context<'_>) {
        let mut state = self.state();
        state.dues.push(Reverse(Entry(due, cx.waker().clone())));
        self.arm(&mut state);
    }

    /// Waits for an instant; false when the load ended before.
    pub async fn until(&self, due: i64, load: &Load) -> bool {
        if due <= now() {
            return true;
        }
        let mut asked = false;
        poll_fn(|cx| {
            if due <= now() {
                return Poll::Ready(true);
            }
            if !asked {
                asked = true;
                self.wake_at(due, cx); // before it looks: the end wakes those that wait
            }
            if load.ended() { Poll::Ready(false) } else { Poll::Pending }
        })
        .await
    }

    /// Wakes everything: the load has ended.
    pub(crate) fn wake_all(&self) {
        self.state().dues.drain().for_each(|Reverse(e)| e.1.wake());
    }
}
