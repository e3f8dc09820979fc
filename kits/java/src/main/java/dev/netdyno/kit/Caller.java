package dev.netdyno.kit;

/**
 * A slot of a client that makes calls with replies on event loops, as HTTP and RPC libraries do.
 * The connection's loop alone uses it; nothing on the path of an exchange allocates but the library.
 */
public abstract class Caller implements Agenda.Waiter {
  protected final LoopClient client;
  protected final int connection;
  public final Slot slot;
  private final Runnable next = this::next;
  private long sentAt;
  private boolean out;

  protected Caller(LoopClient client, int connection, Slot slot) {
    this.client = client;
    this.connection = connection;
    this.slot = slot;
  }

  /** Makes an exchange: calls sent right before it hands over the request, and replied or failed once. */
  protected abstract void call();

  public void begin() {
    next();
  }

  private void next() {
    out = false;
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
    if (!out) sentAt = Load.now();
    out = true;
  }

  /** The whole reply has come, with so many bytes of payload. */
  public void replied(long bytes) {
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
    slot.fail(Failure.kindOf(why), Failure.reasonOf(why), out);
    return false;
  }
}
