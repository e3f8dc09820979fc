package dev.netdyno.kit;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Wakes event loops when exchanges are due. Libraries' own timers have steps of a millisecond where
 * they wait in select or epoll_wait; one thread that parks is punctual to some 60 µs.
 */
public final class Alarm {
  private final AtomicLongArray dues;
  private final Runnable[] wakes;
  private final Thread thread = new Thread(this::run, "alarm");
  private volatile long sleepsUntil;

  /** Each loop's wake is run on the alarm's thread, and must hand over to the loop. */
  public Alarm(Runnable... wakes) {
    this.wakes = wakes;
    dues = new AtomicLongArray(wakes.length);
    for (int i = 0; i < wakes.length; i++) dues.set(i, Slot.NONE);
    thread.setDaemon(true);
    thread.start();
  }

  /** Sets when a loop is to be woken next. */
  public void set(int loop, long due) {
    dues.set(loop, due);
    if (due < sleepsUntil) LockSupport.unpark(thread);
  }

  long due(int loop) {
    return dues.get(loop);
  }

  private void run() {
    while (true) {
      sleepsUntil = Slot.NONE; // so that a due which is set from here on unparks
      long next = Slot.NONE;
      for (int i = 0; i < wakes.length; i++) next = Math.min(next, dues.get(i));
      long now = Load.now();
      if (next > now) {
        sleepsUntil = next;
        if (next == Slot.NONE) {
          LockSupport.park();
        } else {
          LockSupport.parkNanos(next - now);
        }
        continue;
      }
      for (int i = 0; i < wakes.length; i++) {
        long due = dues.get(i);
        if (due <= now && dues.compareAndSet(i, due, Slot.NONE)) wakes[i].run();
      }
    }
  }
}
