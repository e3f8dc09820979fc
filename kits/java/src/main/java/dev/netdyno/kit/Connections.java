package dev.netdyno.kit;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** Knows which of a load's active connections still work. Any thread may use it. */
public final class Connections {
  private final AtomicIntegerArray lost;
  private final AtomicBoolean closed = new AtomicBoolean();

  public Connections(Load load) {
    lost = new AtomicIntegerArray(load.activeConnections());
  }

  /** Says that connection i does not work any more. An idle one is not counted. */
  public void lose(int i) {
    if (i < lost.length()) lost.set(i, 1);
  }

  /** Says that the caller is about to break the connections; reports whether it was the first to. */
  public boolean close() {
    return closed.compareAndSet(false, true);
  }

  public boolean closed() {
    return closed.get();
  }

  /** Throws a Failure of kind peer when every connection was lost before close. */
  public void check() {
    if (closed()) return;
    for (int i = 0; i < lost.length(); i++) if (lost.get(i) == 0) return;
    throw Failure.peer("every connection was lost");
  }
}
