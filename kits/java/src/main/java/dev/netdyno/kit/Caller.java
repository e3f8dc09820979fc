package dev.netdyno.kit;

/**
 * A slot of a client that makes calls with replies on event loops, as HTTP and RPC libraries do.
 * The connection's loop alone uses it; nothing on the path of an exchange allocates but the library.
 */
public abstract class Caller implements Agenda.Waiter {
  protected final LoopClient client;
  public final int connection;
  public final Slot slot;
  private final Runnable next = this::next;
  private long sentAt;
  private boolean begun;
  private boolean out;
  private final Deadline deadline; // null where none is kept

  protected Caller(LoopClient client, int connection, Slot slot) {
    this(client, connection, slot, false);
  }

  /** With alarms deadlines are kept here, by late; else the library is told of them. */
  protected Caller(LoopClient client, int connection, Slot slot, boolean alarms) {
    this.client = client;
    this.connection = connection;
    this.slot = slot;
    deadline = alarms && client.load().plan().deadlines() ? new Deadline() : null;
  }

  /** The exchange was not answered within its class's deadline: break it off, so that nothing more is said of it. */
  protected void late() {}

  /** Makes an exchange: calls sent right before it hands over the request, and replied or failed once. */
  protected abstract void call();

  public void begin() {
    next();
  }

  private void next() {
    out = false;
    begun = false;
    long now = Load.now();
    long due = slot.next(now);
    if (due == Slot.NONE) {
      client.let(1);
    } else if (due > now) {
      client.agenda(connection).push(due, this, slot);
    } else {
      call();
    }
  }

  @Override
  public void due(Slot s) {
    call();
  }

  @Override
  public void cancel(Slot s) {
    s.cancel();
    client.let(1);
  }

  /** The request is handed over now. Of one that goes out again the first time counts. */
  public void sent() {
    out = true;
    sending();
  }

  /** The exchange's time begins, with what goes before its request: a connection of its own. */
  public void sending() {
    if (begun) return;
    begun = true;
    sentAt = Load.now();
    if (deadline != null) deadline.begin(client.load().plan().classes.get(slot.draw().kind).deadlineNs);
  }

  /** The whole reply has come, with so many bytes of payload. */
  public void replied(long bytes) {
    if (deadline != null) deadline.at = Slot.NONE;
    slot.done(sentAt, Load.now(), bytes);
    next();
    client.agenda(connection).fire();
  }

  /** The exchange failed, and the slot goes on. */
  public void failed(Throwable why) {
    if (!end(why)) client.executeOn(connection, next); // not from here: it may fail at once again
  }

  /** The exchange failed, and so will those to come. */
  public void lost(Throwable why) {
    if (end(why)) return;
    client.lost(connection);
    client.let(1);
  }

  /** Ends the exchange; true where this end has closed the connection, so that nothing follows. */
  private boolean end(Throwable why) {
    if (client.closed()) {
      slot.breakOff(out);
      client.let(1);
      return true;
    }
    if (deadline != null) deadline.at = Slot.NONE;
    slot.fail(Failure.kindOf(why), Failure.reasonOf(why), out);
    return false;
  }

  /**
   * When the exchange under way has failed for lack of a reply. Its alarm is an entry of the
   * agenda; those of exchanges that ended in time stay there until they go off, fewer of them than
   * there are classes.
   */
  private final class Deadline implements Agenda.Waiter {
    private final long[] alarms = new long[client.load().plan().classes.size() + 1]; // in the agenda, the earliest last
    private int set;
    private long at = Slot.NONE;
    private long lasts;

    void begin(long ns) {
      at = ns == 0 ? Slot.NONE : sentAt + ns;
      lasts = ns;
      arm();
    }

    private void arm() {
      if (at == Slot.NONE || set > 0 && alarms[set - 1] <= at) return;
      alarms[set++] = at;
      client.agenda(connection).push(at, this, slot);
    }

    @Override
    public void due(Slot s) {
      set--;
      if (at > Load.now()) {
        arm();
        return;
      }
      late();
      failed(Failure.late(lasts));
    }

    @Override
    public void cancel(Slot s) {
      client.agenda(connection).push(alarms[set - 1], this, slot); // the load has ended, and what is in flight has not
    }
  }
}
