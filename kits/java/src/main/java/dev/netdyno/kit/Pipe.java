package dev.netdyno.kit;

import java.nio.ByteBuffer;

/**
 * A client's end of one connection on the wires echo and stream, for event loops: which bytes are
 * to be sent, and which exchanges those that come complete. Answers come in the order sent. The
 * connection's loop alone calls its methods.
 */
public abstract class Pipe implements Agenda.Waiter {
  private final Work work;
  private final LoopClient client;
  private final Agenda agenda;
  private final int connection;
  private final Slot[] slots;

  // Exchanges have growing numbers: answered <= begun <= queued.
  private final Slot[] flying;
  private final long[] sentAt;
  private final long[] downs;
  private long answered;
  private long begun;
  private long queued;

  private Content.Verifier verifier; // of the first exchange, while it is under way
  private long firstUp;
  private boolean lost;
  private long at; // bytes sent of the message under way; 0 between two
  private long size; // of that message
  private long sent;
  private long came;
  private long answers; // bytes that came and belong to no completed exchange

  protected Pipe(LoopClient client, Work work, Agenda agenda, int connection) {
    this.client = client;
    this.work = work;
    this.agenda = agenda;
    this.connection = connection;
    slots = client.load().slots(connection);
    int room = Math.max(1, slots.length);
    flying = new Slot[room];
    sentAt = new long[room];
    downs = new long[room];
  }

  /** Has the connection's bytes sent: called when there may be some that were not there before. */
  protected abstract void send();

  /** Breaks the connection. */
  protected abstract void disconnect();

  /** Begins the first exchange, which is compared. */
  public void verify() {
    Content down = work.down;
    firstUp = client.load().first(connection).up;
    verifier = new Content.Verifier(down, work.varies ? firstUp : down.bytes);
    send();
  }

  public Agenda agenda() {
    return agenda;
  }

  /** Asks every slot for its first exchange. */
  public void begin() {
    if (lost) {
      client.let(slots.length);
      return;
    }
    long now = Load.now();
    for (Slot s : slots) next(s, now);
    if (unsent()) send();
  }

  private void next(Slot slot, long now) {
    long due = slot.next(now);
    if (due == Slot.NONE) {
      client.let(1);
    } else if (due > now) {
      agenda.push(due, this, slot);
    } else {
      queue(slot);
    }
  }

  private void queue(Slot slot) {
    int i = (int) (queued++ % flying.length);
    flying[i] = slot;
    downs[i] = work.varies ? slot.draw().up : work.down.bytes;
  }

  /** A slot's time has come. */
  @Override
  public void due(Slot slot) {
    if (lost) {
      cancel(slot);
    } else {
      queue(slot);
      send();
    }
  }

  @Override
  public void cancel(Slot slot) {
    slot.cancel();
    client.let(1);
  }

  /** Whether bytes are to be sent. */
  public boolean unsent() {
    return !lost && (at > 0 || begun < queued || verifier != null && sent == 0);
  }

  /** How many bytes of the message under way may be handed over now, from offset on: one block at most. */
  public int outgoing() {
    if (at == 0) {
      if (verifier != null) {
        size = firstUp;
      } else {
        int i = (int) (begun % flying.length);
        size = work.varies ? flying[i].draw().up : work.up.bytes;
        sentAt[i] = Load.now();
      }
    }
    return work.up.reach(at, size);
  }

  /** Where in the block of work.up they lie. */
  public int offset() {
    return work.up.offset(at);
  }

  public void written(int n) {
    if (at == 0 && verifier == null) begun++;
    sent += n;
    at += n;
    if (at == size) at = 0;
  }

  /** Takes n bytes that came; of the first exchange they are in piece. */
  public void received(ByteBuffer piece, int n) {
    if (lost) return;
    if (verifier != null) {
      verified(piece, n);
      return;
    }
    came += n;
    answers += n;
    if (came > work.owed(sent)) {
      abandon(Failure.invalid("the peer sent more than it owes"));
      return;
    }
    long now = 0;
    while (answered < begun) {
      int i = (int) (answered % flying.length);
      long down = downs[i];
      if (answers < down) break;
      if (now == 0) now = Load.now();
      Slot slot = flying[i];
      long sentNs = sentAt[i];
      answered++;
      answers -= down;
      slot.done(sentNs, now, down);
      next(slot, now);
    }
    if (unsent()) send();
  }

  /** Whether received needs the bytes themselves. */
  public boolean compares() {
    return verifier != null;
  }

  private void verified(ByteBuffer piece, int n) {
    try {
      if (n > verifier.left()) throw Failure.invalid("verify connection " + connection + ": the peer sent more than it owes");
      verifier.add(piece);
      if (verifier.left() > 0) return;
      verifier.check(connection);
      verifier = null;
      sent = 0;
      client.verified(null);
    } catch (Failure e) {
      client.verified(e);
    }
  }

  /** The connection has ended; why says how. */
  public void ended(Throwable why) {
    if (verifier == null) {
      abandon(why);
      return;
    }
    try {
      if (verifier.came() > 0) verifier.check(connection);
      client.verified(Addresses.connectFailure(connection, client.routes().size(), client.routes().get(connection), why));
    } catch (Failure e) {
      client.verified(e);
    }
  }

  /** Gives up the connection: fails what is in flight, or breaks it off where this end has closed it. */
  public void abandon(Throwable why) {
    if (lost) return;
    lost = true;
    boolean closed = client.closed();
    if (!closed && Failure.kindOf(why) == Failure.Kind.INVALID && answered == queued && slots.length > 0) {
      slots[0].fail(Failure.Kind.INVALID, Failure.reasonOf(why), false); // counts once, though nothing was in flight
    }
    for (; answered < queued; answered++) {
      Slot slot = flying[(int) (answered % flying.length)];
      boolean wasSent = answered < begun;
      if (closed) {
        slot.breakOff(wasSent);
      } else {
        slot.fail(Failure.kindOf(why), Failure.reasonOf(why), wasSent);
      }
      client.let(1);
    }
    begun = queued;
    at = 0;
    agenda.drop(this);
    if (!closed) client.lost(connection);
    disconnect();
  }
}
