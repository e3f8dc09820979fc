//! Due times: a timerfd that the ring polls, because monoio's own timers have steps of 1 ms.

use netdyno_kit::{now, Load};
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::{AsRawFd, FromRawFd};
use std::task::Waker;

/// The due times of one thread's tasks.
pub struct Alarm {
    fd: i32,
    poll: monoio::net::UnixStream, // the timer, as the ring polls it
    dues: RefCell<BinaryHeap<Reverse<(i64, usize)>>>,
    wakers: RefCell<Vec<Option<Waker>>>, // by task
    armed: Cell<i64>,
}

impl Alarm {
    /// Makes the alarm of so many tasks, on the thread of their runtime.
    pub fn new(tasks: usize) -> std::io::Result<Alarm> {
        // SAFETY: a plain system call, whose descriptor is ours.
        let fd = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC | libc::TFD_NONBLOCK) };
        if fd < 0 {
            return Err(std::io::Error::last_os_error());
        }
        // SAFETY: fd is open and nobody else's; it is polled alone, which any descriptor can be.
        let poll = monoio::net::UnixStream::from_std(unsafe { std::os::unix::net::UnixStream::from_raw_fd(fd) })?;
        let (dues, wakers) = (RefCell::default(), RefCell::new(vec![None; tasks]));
        Ok(Alarm { fd: poll.as_raw_fd(), poll, dues, wakers, armed: Cell::new(i64::MAX) })
    }

    /// Wakes what is due, and everything once the load has ended.
    pub async fn ring(&self, load: &Load) {
        while self.poll.readable(false).await.is_ok() {
            let mut times = [0u8; 8];
            // SAFETY: times has room for the eight bytes of a timerfd.
            unsafe { libc::read(self.fd, times.as_mut_ptr().cast(), 8) };
            let (at, ended) = (now(), load.ended());
            let mut dues = self.dues.borrow_mut();
            while dues.peek().is_some_and(|Reverse((due, _))| ended || *due <= at) {
                if let Some(waker) = dues.pop().and_then(|Reverse((_, task))| self.wakers.borrow_mut()[task].take()) {
                    waker.wake();
                }
            }
            self.armed.set(i64::MAX);
            if let Some(Reverse((due, _))) = dues.peek() {
                self.arm(*due);
            }
        }
    }

    fn arm(&self, due: i64) {
        if due < self.armed.get() {
            self.armed.set(due);
            set(self.fd, due);
        }
    }

    /// The timer's number, by which another thread ends the waiting.
    pub fn fd(&self) -> i32 {
        self.fd
    }

    /// Wakes a task at an instant on the clock of now, and when the load ends.
    pub fn wake_at(&self, due: i64, task: usize, waker: &Waker) {
        self.wakers.borrow_mut()[task] = Some(waker.clone());
        self.dues.borrow_mut().push(Reverse((due, task)));
        self.arm(due);
    }
}

/// Sets a timer. Any thread may call it.
pub fn set(fd: i32, due: i64) {
    let at = libc::timespec { tv_sec: due / 1_000_000_000, tv_nsec: due % 1_000_000_000 };
    let setting = libc::itimerspec { it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 }, it_value: at };
    // SAFETY: setting is valid, and due on the clock of now.
    unsafe { libc::timerfd_settime(fd, libc::TFD_TIMER_ABSTIME, &setting, std::ptr::null_mut()) };
}
