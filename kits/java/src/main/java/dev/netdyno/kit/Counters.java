package dev.netdyno.kit;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The completions of one shard in one phase of the trial. A shard is the slots of one event loop,
 * or some of those that threads drive; only the latter need atomic instructions.
 */
final class Counters {
  static final int EXCHANGES = 16; // what lies before and behind keeps shards off each other's cache lines
  static final int RECEIVED = 17;
  static final int SENT = 18; // bytes, where sizes up vary
  static final int UNSENT = 19;
  static final int PART_EXCHANGES = 20;
  static final int PART_CYCLES = 21;
  static final int IDLE_NS = 22;
  static final int ERRORS = 23;
  /** An exchange in the sums of parts. */
  static final long WHOLE = 1_000_000_000;

  final AtomicLongArray sums = new AtomicLongArray(48);
  final AtomicLongArray classes; // null without
  final Times times; // null before the window
  final boolean alone;

  // The window as far as it is known, and what the phase counts an exchange as.
  long insideFrom;
  long insideTo = Long.MAX_VALUE;
  long counted;

  Counters(Times times, boolean alone, int kinds) {
    classes = kinds > 0 ? new AtomicLongArray(Classes.PLACES * kinds) : null;
    this.times = times;
    this.alone = alone;
  }

  void add(int i, long n) {
    Histogram.add(sums, i, n, alone);
  }

  void addClass(int i, long n) {
    Histogram.add(classes, i, n, alone);
  }

  long get(int i) {
    return sums.get(i);
  }

  /** Notes an exchange: when its slot became free for it, when it was sent, when it completed. */
  void addParts(long free, long sent, long now) {
    add(IDLE_NS, sent - free);
    if (counted == WHOLE && free >= insideFrom) return;
    add(PART_EXCHANGES, Math.round(WHOLE * share(insideFrom, insideTo, sent, now)) - counted);
    add(PART_CYCLES, Math.round(WHOLE * share(insideFrom, insideTo, free, now)) - counted);
  }

  /** The share of begin to end that lies in from to to. */
  static double share(long from, long to, long begin, long end) {
    if (end <= begin) return end >= from && end <= to ? 1 : 0;
    return Math.max(0, (double) (Math.min(end, to) - Math.max(begin, from)) / (end - begin));
  }

  /** Histograms of one shard, and when it sent. */
  static final class Times {
    final Histogram service;
    final Histogram response; // null in a closed loop
    final Histogram lag; // null without a due time
    final Sends sends; // null in a closed loop
    private final boolean alone;
    private volatile Histogram lengths;

    Times(Setup.Plan plan, double share, boolean alone) {
      this.alone = alone;
      service = new Histogram(alone);
      response = plan.rate > 0 ? new Histogram(alone) : null;
      lag = plan.rate > 0 || plan.thinkNs > 0 ? new Histogram(alone) : null;
      sends = plan.rate > 0 ? new Sends(plan.rate, share) : null;
    }

    /** Counts a reply of another length than expected; the first one of a shard allocates. */
    void differs(long received) {
      Histogram h = lengths;
      if (h == null) {
        synchronized (this) {
          if (lengths == null) lengths = new Histogram(alone);
          h = lengths;
        }
      }
      h.record(received);
    }

    Histogram lengths() {
      return lengths;
    }
  }

  /** When exchanges of a stretch of the window were sent. Any thread may record; nothing locks. */
  static final class Sends {
    private static final double MOST_SECONDS = 30;
    private static final int MOST = 1 << 17;
    long from = Long.MAX_VALUE;
    long until;
    final AtomicLong refused = new AtomicLong(Long.MAX_VALUE);
    private final AtomicLong next = new AtomicLong();
    private final AtomicLongArray at;

    Sends(double rate, double share) {
      at = new AtomicLongArray((int) (stretch(rate) / 1e9 * rate * share * 1.25) + 64);
    }

    static long stretch(double rate) {
      return (long) Math.min(MOST / rate * 1e9, MOST_SECONDS * 1e9);
    }

    void open(long now, double rate) {
      if (until != 0) return;
      until = now + stretch(rate);
      from = now;
    }

    void record(long sent) {
      if (sent < from || sent >= until) return;
      long i = next.getAndIncrement();
      if (i < at.length()) {
        at.setRelease((int) i, sent);
      } else {
        refused.accumulateAndGet(sent, Math::min);
      }
    }

    long[] taken() {
      int n = (int) Math.min(next.get(), at.length());
      long[] all = new long[n];
      for (int i = 0; i < n; i++) all[i] = at.get(i);
      return all;
    }
  }
}
