package dev.netdyno.kit;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** The work of a server: for each exchange a time is drawn and spent, on a CPU or asleep (MIXES.md, section Work). Any thread may use it. */
public final class Service {
  private static final long MOST_NS = 4_000_000_000L;

  private final Drawer drawer;
  private final boolean sleeps;
  private final AtomicLong number = new AtomicLong();
  private final ScheduledThreadPoolExecutor later;

  /** The work that a setup asks a server for; null for none. What cannot be is a Failure of kind setup. */
  public static Service of(Setup s) {
    return s.work == null || !s.isServer() ? null : new Service(s);
  }

  private Service(Setup s) {
    sleeps = s.work.by.equals("sleep");
    if (!sleeps && !s.work.by.equals("cpu")) throw Failure.setup("setup.work.by is \"" + s.work.by + "\", expected cpu or sleep");
    Drawer.check("setup.work.ns", s.work.ns, MOST_NS);
    drawer = new Drawer(s.work.ns, s.seed, Drawer.WORK);
    later = sleeps ? new ScheduledThreadPoolExecutor(1, task -> {
      Thread t = new Thread(task, "work");
      t.setDaemon(true);
      return t;
    }) : null;
  }

  private long next() {
    return drawer.draw(number.getAndIncrement());
  }

  /** Whether the time is spent asleep. */
  public boolean sleeps() {
    return sleeps;
  }

  /** Does the work of the next exchange; the calling thread spends its CPU time on it, or sleeps. */
  public void serve() {
    long ns = next();
    if (!sleeps) {
      spend(ns);
      return;
    }
    long until = System.nanoTime() + ns;
    for (long left = ns; left > 0; left = until - System.nanoTime()) LockSupport.parkNanos(left);
  }

  /** Does the work of the next exchange on an event loop, and what comes after it; a sleep's end is told on another thread. */
  public void serve(Runnable then) {
    if (sleeps) {
      later.schedule(then, next(), TimeUnit.NANOSECONDS);
    } else {
      spend(next());
      then.run();
    }
  }

  /**
   * Makes the calling thread, which is no virtual one, use so many ns of its own CPU time. That
   * clock is a system call, so it is read only when the time may be over.
   */
  static void spend(long ns) {
    if (ns <= 0) return;
    for (long end = Clock.THREADS.getCurrentThreadCpuTime() + ns - Clock.READING;;) {
      long left = end - Clock.THREADS.getCurrentThreadCpuTime();
      if (left <= Clock.READING / 2) return; // nearer than the next reading could be
      for (long until = System.nanoTime() + left - Clock.READING; System.nanoTime() < until;) Thread.onSpinWait();
    }
  }

  /** The CPU clock of threads, and what it takes from one reading to the next: the median of some. */
  private static final class Clock {
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    static final long READING = reading();

    private static long reading() {
      long[] took = new long[2001]; // of which the first ones are interpreted
      for (int i = 0; i < took.length; i++) {
        long before = THREADS.getCurrentThreadCpuTime();
        took[i] = THREADS.getCurrentThreadCpuTime() - before;
      }
      took = Arrays.copyOfRange(took, took.length / 2, took.length);
      Arrays.sort(took);
      return took[took.length / 2];
    }
  }
}
