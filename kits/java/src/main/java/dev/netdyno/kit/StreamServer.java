package dev.netdyno.kit;

/** A server's end of one connection on wire stream: what it owes for what has come. One thread uses it. */
public final class StreamServer {
  private final Work work;
  private final Traffic traffic;
  private final Content.Verifier verifier;
  private long received;
  private long sent;
  private long at;

  public StreamServer(Work work, Traffic traffic) {
    this.work = work;
    this.traffic = traffic;
    verifier = new Content.Verifier(work.up, work.up.bytes);
  }

  /** How many of the bytes that came belong to the first message, which is given to verify. */
  public int unverified(int n) {
    return (int) Math.min(n, verifier.left());
  }

  public Content.Verifier verifier() {
    return verifier;
  }

  /** Takes note of bytes that came. A Failure means that the first message was not the expected one. */
  public void received(int n, boolean verified) {
    traffic.addReceived(n);
    if (verified && verifier.left() == 0) verifier.check(0);
    received += n;
  }

  /** How many bytes may be written now, from position at of a message: no more than a block has. */
  public int outgoing() {
    return (int) Math.min(work.down.reach(at, work.down.bytes), work.owed(received) - sent);
  }

  /** Where in the block of work.down they lie. */
  public int offset() {
    return work.down.offset(at);
  }

  /** Says that n bytes were handed over; the end of a message is an exchange. */
  public boolean written(int n) {
    sent += n;
    at += n;
    if (at < work.down.bytes) return false;
    at = 0;
    return true;
  }
}
