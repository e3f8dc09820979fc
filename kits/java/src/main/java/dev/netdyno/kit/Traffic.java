package dev.netdyno.kit;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.HashSet;
import java.util.Set;

/** What a server moved on one connection. One thread at a time counts; any may read. */
public final class Traffic {
  private static final VarHandle SENT;
  private static final VarHandle RECEIVED;
  private static final VarHandle EXCHANGES;

  static {
    try {
      MethodHandles.Lookup l = MethodHandles.lookup();
      SENT = l.findVarHandle(Traffic.class, "sent", long.class);
      RECEIVED = l.findVarHandle(Traffic.class, "received", long.class);
      EXCHANGES = l.findVarHandle(Traffic.class, "exchanges", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private long sent;
  private long received;
  private long exchanges;

  public void addSent(long n) {
    SENT.setRelease(this, sent + n);
  }

  public void addReceived(long n) {
    RECEIVED.setRelease(this, received + n);
  }

  public void addExchanges(long n) {
    EXCHANGES.setRelease(this, exchanges + n);
  }

  private void addTo(Counts c) {
    c.exchanges += (long) EXCHANGES.getAcquire(this);
    c.receivedBytes += (long) RECEIVED.getAcquire(this);
    c.sentBytes += (long) SENT.getAcquire(this);
  }

  /** A server's open connections and the sums of the ended ones. Any thread may use it. */
  public static final class All {
    private final long echoBytes; // by which exchanges follow from bytes; 0 where they are counted
    private final boolean blind;
    private final Set<Traffic> open = new HashSet<>();
    private final Counts gone = new Counts();

    /** Of a server that counts its exchanges. */
    public All() {
      echoBytes = 0;
      blind = false;
    }

    /** Of a server on the wires echo and stream. */
    public All(Work work) {
      echoBytes = work.streams() ? 0 : work.up.bytes;
      blind = work.varies;
    }

    public synchronized Traffic begin() {
      Traffic t = new Traffic();
      open.add(t);
      return t;
    }

    public synchronized void end(Traffic t) {
      if (open.remove(t)) t.addTo(gone);
    }

    public synchronized void addError(Failure.Kind kind) {
      gone.errors[kind.ordinal()]++;
    }

    public synchronized Counts counts() {
      Counts c = new Counts();
      c.exchanges = gone.exchanges;
      c.sentBytes = gone.sentBytes;
      c.receivedBytes = gone.receivedBytes;
      System.arraycopy(gone.errors, 0, c.errors, 0, c.errors.length);
      for (Traffic t : open) t.addTo(c);
      c.connections = open.size();
      if (echoBytes > 0) c.exchanges = blind ? 0 : c.sentBytes / echoBytes;
      return c;
    }
  }
}
