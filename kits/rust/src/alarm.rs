//! Due times of tasks, for engines whose own timers have steps of 1 ms: a timerfd that the engine polls.

use crate::clock::now;
use crate::load::Load;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::future::{poll_fn, Future};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::pin::pin;
use std::sync::{Mutex, MutexGuard};
use std::task::{Poll, Waker};

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
    all: bool,
}

/// Some tasks' due times. Any thread may use it; whoever polls the timer calls ring when it can be read.
pub struct Alarm {
    timer: OwnedFd,
    state: Mutex<State>,
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}

impl Alarm {
    pub fn new() -> io::Result<Alarm> {
        // SAFETY: a plain system call, whose descriptor is ours.
        let fd = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC | libc::TFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        let state = State { dues: BinaryHeap::new(), armed: i64::MAX, all: false };
        // SAFETY: fd is open and nobody else's.
        Ok(Alarm { timer: unsafe { OwnedFd::from_raw_fd(fd) }, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Wakes what is due.
    pub fn ring(&self) {
        let mut times = [0u8; 8];
        // SAFETY: times has room for the eight bytes of a timerfd.
        unsafe { libc::read(self.timer.as_raw_fd(), times.as_mut_ptr().cast(), 8) };
        let mut state = self.state();
        if std::mem::take(&mut state.all) {
            state.dues.iter().for_each(|Reverse(e)| e.1.wake_by_ref());
        }
        let at = now();
        while state.dues.peek().is_some_and(|Reverse(e)| e.0 <= at) {
            if let Some(Reverse(e)) = state.dues.pop() {
                e.1.wake();
            }
        }
        state.armed = i64::MAX;
        if let Some(first) = state.dues.peek().map(|Reverse(e)| e.0) {
            self.arm(&mut state, first);
        }
    }

    fn arm(&self, state: &mut State, due: i64) {
        if due >= state.armed {
            return;
        }
        state.armed = due;
        let at = libc::timespec { tv_sec: due / 1_000_000_000, tv_nsec: due % 1_000_000_000 };
        let setting = libc::itimerspec { it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 }, it_value: at };
        // SAFETY: setting is valid; the due is on the clock of now.
        unsafe { libc::timerfd_settime(self.timer.as_raw_fd(), libc::TFD_TIMER_ABSTIME, &setting, std::ptr::null_mut()) };
    }

    /// Wakes a task at an instant on the clock of now, and at wake_all.
    pub fn wake_at(&self, due: i64, waker: &Waker) {
        let mut state = self.state();
        state.dues.push(Reverse(Entry(due, waker.clone())));
        self.arm(&mut state, due);
    }

    /// Makes the next ring, at once, wake everything: the load has ended.
    pub fn wake_all(&self) {
        let mut state = self.state();
        state.all = true;
        self.arm(&mut state, 1);
    }

    /// Waits for an instant; false when the load ended before.
    pub async fn until(&self, due: i64, load: Option<&Load>) -> bool {
        let mut asked = false;
        poll_fn(|cx| {
            if due <= now() {
                return Poll::Ready(true);
            }
            if !asked {
                asked = true;
                self.wake_at(due, cx.waker()); // before it looks: the end wakes those that wait
            }
            if load.is_some_and(Load::ended) { Poll::Ready(false) } else { Poll::Pending }
        })
        .await
    }

    /// Carries a task on until an instant; None when that came first, also where nobody looked in time. armed is the caller's, 0 at first: the
    /// task's alarm that is set already, so that a task has few of them however often it calls this.
    pub async fn within<T>(&self, end: i64, armed: &mut i64, task: impl Future<Output = T>) -> Option<T> {
        let mut task = pin!(task);
        poll_fn(|cx| {
            if let Poll::Ready(made) = task.as_mut().poll(cx) {
                return Poll::Ready((now() < end).then_some(made));
            }
            let at = now();
            if at >= end {
                return Poll::Ready(None);
            }
            if *armed <= at || *armed > end {
                *armed = end;
                self.wake_at(end, cx.waker());
            }
            Poll::Pending
        })
        .await
    }
}
