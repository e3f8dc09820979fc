package dev.netdyno.kit;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/** Drives a load by blocking calls, with one thread, virtual or not, for each slot. */
public final class SlotThreads {
  private static final int CONNECTING = 128;

  private final Load load;
  private final boolean virtual;
  public final Connections connections;
  private final Set<Thread> waiting = ConcurrentHashMap.newKeySet();

  public SlotThreads(Load load, boolean virtual) {
    this.load = load;
    this.virtual = virtual;
    connections = new Connections(load);
    load.whenEnded(() -> waiting.forEach(LockSupport::unpark));
  }

  /** Carries out exchanges of one slot and blocks until the last byte of each has come. */
  public interface Call {
    /** Makes an exchange and returns the payload bytes that came. */
    long exchange(Slot slot) throws Exception;
  }

  /** Gives each slot its call; it is used on the thread that makes the slot's exchanges. */
  public interface Calls {
    Call of(int connection, Slot slot);
  }

  /** Something done for a connection. */
  public interface Task {
    void run(int connection) throws Exception;
  }

  /** Does a task for connections 0 to n - 1, at most 128 at once, and throws the first failure. */
  public void each(int n, Task task) throws Exception {
    Semaphore permits = new Semaphore(CONNECTING);
    CountDownLatch left = new CountDownLatch(n);
    AtomicReference<Exception> failed = new AtomicReference<>();
    for (int i = 0; i < n; i++) {
      int connection = i;
      permits.acquire();
      Threads.start(virtual, "connect", () -> {
        try {
          if (failed.get() == null) task.run(connection);
        } catch (Exception e) {
          failed.compareAndSet(null, e);
        } finally {
          permits.release();
          left.countDown();
        }
      });
    }
    left.await();
    if (failed.get() != null) throw failed.get();
  }

  /** Drives every slot until it is let go or the connections are closed. */
  public void run(Calls calls) throws InterruptedException {
    CountDownLatch left = new CountDownLatch(load.slots.length);
    for (int i = 0; i < load.activeConnections(); i++) {
      for (Slot slot : load.slots(i)) {
        int connection = i;
        Threads.start(virtual, "slot", () -> {
          try {
            drive(connection, slot, calls.of(connection, slot));
          } finally {
            left.countDown();
          }
        });
      }
    }
    left.await();
    connections.check();
  }

  private void drive(int connection, Slot slot, Call call) {
    boolean waits = load.plan.rate > 0 || load.plan.thinkNs > 0;
    if (waits) waiting.add(Thread.currentThread());
    while (true) {
      long due = slot.next(Load.now());
      if (due == Slot.NONE) break;
      if (waits && !await(due)) {
        slot.cancel();
        break;
      }
      long sent = Load.now();
      try {
        long received = call.exchange(slot);
        slot.done(sent, Load.now(), received);
      } catch (Exception e) {
        if (connections.closed()) {
          slot.breakOff(true);
          break;
        }
        slot.fail(e);
        if (Failure.kindOf(e) == Failure.Kind.PEER) {
          connections.lose(connection);
          break;
        }
      }
    }
    if (waits) waiting.remove(Thread.currentThread());
  }

  /** Waits until due; false when the load has ended before. */
  private boolean await(long due) {
    for (long now = Load.now(); now < due; now = Load.now()) {
      if (load.ended()) return false;
      LockSupport.parkNanos(due - now);
    }
    return true;
  }
}
