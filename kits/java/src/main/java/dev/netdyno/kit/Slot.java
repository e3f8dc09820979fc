package dev.netdyno.kit;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Room for one exchange in flight. It belongs to one thread or event loop at a time; nothing on its
 * path locks or allocates.
 *
 * <pre>
 *   long due = slot.next(Load.now());       // NONE: let the slot go; else wait until due, then send
 *   slot.done(sent, Load.now(), received);  // or fail, or cancel
 * </pre>
 */
public final class Slot {
  /** What next returns when no exchange is left. */
  public static final long NONE = Long.MAX_VALUE;

  private static final VarHandle PENDING;

  static {
    try {
      PENDING = MethodHandles.lookup().findVarHandle(Slot.class, "pending", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** The slot's number among those of its connection. */
  public final int number;

  final Draw draw = new Draw();
  final Load load;
  final int shard;
  final boolean open;
  long thinkNs;
  final Schedule schedule;

  @SuppressWarnings("unused") // by PENDING
  private long pending = NONE;

  long left = Long.MAX_VALUE;
  long canceled;
  long free;
  boolean started;
  boolean held; // the request of the exchange in flight never went out

  // Where sizes are drawn.
  boolean varies;
  long drawNumber;
  Bins.Waits waits;
  int bin;

  Slot(Load load, int number, int shard, Schedule schedule) {
    this.load = load;
    this.number = number;
    this.shard = shard;
    this.schedule = schedule;
    open = schedule != null;
    thinkNs = load.plan.thinkNs;
    draw.up = load.draws.up;
    draw.down = load.draws.down;
  }

  long pending() {
    return (long) PENDING.getAcquire(this);
  }

  private void pending(long due) {
    PENDING.setRelease(this, due);
  }

  /** What the exchange in flight carries. */
  public Draw draw() {
    return draw;
  }

  /**
   * When the next exchange is due on the clock of Load.now, perhaps in the past; NONE when none is
   * left. Call it only when no exchange is in flight.
   */
  public long next(long now) {
    long closing = load.closeNs;
    if (!started) {
      started = true;
      free += load.startNs;
    }
    if (left == 0) return let();
    long due = now;
    if (open) {
      due = load.startNs + schedule.peek();
    } else if (thinkNs > 0) {
      due = free + thinkNs;
    }
    // An open loop still sends what was due before the end, because a stall there must not vanish.
    if (due > closing || !open && closing != Long.MAX_VALUE) return let();
    if (open) schedule.advance();
    if (varies) redraw();
    left--;
    pending(due);
    return due;
  }

  private long let() {
    pending(NONE);
    return NONE;
  }

  private void redraw() {
    load.draws.draw(drawNumber, draw);
    drawNumber += load.slots.length;
    bin = Bins.binOf(Math.max(draw.up, draw.down));
    if (waits != null) waits.begin(this);
  }

  /** Reports the exchange as complete: when it was sent, when it completed, the payload bytes that came. */
  public void done(long sent, long now, long received) {
    long due = pending();
    long before = free;
    free = now;
    pending(NONE);
    Counters c = load.current(shard);
    c.add(Counters.EXCHANGES, 1);
    c.add(Counters.RECEIVED, received);
    if (varies) countDrawn(c, sent, now, due, received);
    Counters.Times t = c.times;
    if (t == null) return;
    c.addParts(before, sent, now);
    t.service.record(now - sent);
    if (received != load.draws.down || varies && load.draws.downVaries()) t.differs(received);
    if (t.lag != null) t.lag.record(sent - due);
    if (t.response != null) {
      t.response.record(now - due);
      t.sends.record(sent);
    }
  }

  /** Counts what of a completed exchange was drawn: bytes, class, times by size. */
  private void countDrawn(Counters c, long sent, long now, long due, long received) {
    pause();
    c.add(Counters.SENT, draw.up);
    if (load.classes != null) load.classes.count(c, draw, received, now - sent, now - due);
    if (c.times != null) load.bins.count(this, sent, now, due);
    if (waits != null) waits.end(this, sent, now);
  }

  /** Sets how long the slot waits after an exchange of the class that has ended. */
  private void pause() {
    if (load.thinks) thinkNs = load.plan.classes.get(draw.kind).thinkNs;
  }

  /** Reports the exchange as failed because of what was thrown. */
  public void fail(Throwable why) {
    fail(Failure.kindOf(why), Failure.reasonOf(why), true);
  }

  /** Reports the exchange as failed; wasSent is false where its request never went out. */
  public void fail(Failure.Kind kind, String reason, boolean wasSent) {
    pending(NONE);
    if (waits != null) waits.end(this, 0, 0);
    free = Load.now();
    pause();
    Counters c = load.current(shard);
    if (load.classes != null) load.classes.fail(c, draw);
    if (!wasSent) c.add(Counters.UNSENT, 1);
    if (c.times != null) load.reasons.add(kind, reason);
    c.add(Counters.ERRORS + kind.ordinal(), 1);
  }

  /** Says that this end broke off the exchange in flight: it stays unfinished. */
  public void breakOff(boolean wasSent) {
    held = !wasSent;
  }

  /** Takes back an exchange that next promised and that will not be sent. */
  public void cancel() {
    canceled = pending();
    pending(NONE);
    if (waits != null) waits.end(this, 0, 0);
  }

  /** When the exchange was due for which the slot waited at the closing; NONE where it did not wait. */
  long dueAfter(long closing, long start) {
    long due = pending();
    if (due != NONE) {
      // promised, and perhaps in flight
    } else if (canceled > closing) {
      due = canceled;
    } else if (left == 0) {
      return NONE;
    } else if (open) {
      due = start + schedule.peek();
    } else {
      due = free + thinkNs + (started ? 0 : start);
    }
    return due <= closing ? NONE : due;
  }
}
