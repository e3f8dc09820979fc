package dev.netdyno.kit;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** Makes a client's result of what its shards counted. */
final class Outcome {
  /** Bounds how many due times are drawn again to count those of a window. */
  private static final double MOST_AGAIN = 1 << 20;

  private final Load load;
  private final Counters[] window;
  private final Counters[] drain;
  private Histogram follows = new Histogram(true);

  Outcome(Load load, Counters[] window, Counters[] drain) {
    this.load = load;
    this.window = window;
    this.drain = drain;
  }

  void times(Map<String, Object> r, long exchanges, long drained) {
    Histogram service = new Histogram(true);
    Histogram response = new Histogram(true);
    Histogram lag = new Histogram(true);
    Histogram lengths = new Histogram(true);
    for (Counters c : window) {
      service.merge(c.times.service);
      if (c.times.response != null) response.merge(c.times.response);
      if (c.times.lag != null) lag.merge(c.times.lag);
      if (c.times.lengths() != null) lengths.merge(c.times.lengths());
    }
    put(r, "service", service);
    put(r, "response", response);
    put(r, "lag", lag);
    if (service.overMax() > 0) r.put("over_max", service.overMax());
    long odd = lengths.count();
    if (odd > 0) {
      lengths.record(load.draws.down, Math.max(0, exchanges + drained - odd));
      put(r, "lengths", lengths);
    }
    follows = load.plan.rate > 0 ? response : service;
  }

  private static void put(Map<String, Object> r, String name, Histogram h) {
    if (h.count() > 0) r.put(name, h.encode());
  }

  /** How much work fell inside the window; before the schedules are walked to their end. */
  Map<String, Object> inside(long completed, long fromNs, Schedule.Cycle cycle, Schedule.Warp warp) {
    long toNs = load.closeNs;
    double exchanges = completed;
    double cycles = completed + waiting(fromNs, toNs);
    long idleNs = 0;
    for (Counters[] phase : new Counters[][] {window, drain}) {
      for (Counters c : phase) {
        exchanges += (double) c.get(Counters.PART_EXCHANGES) / Counters.WHOLE;
        cycles += (double) c.get(Counters.PART_CYCLES) / Counters.WHOLE;
        idleNs += c.get(Counters.IDLE_NS);
      }
    }
    Map<String, Object> in = new LinkedHashMap<>();
    in.put("exchanges", exchanges);
    in.put("cycles", cycles);
    if (load.plan.rate > 0) {
      in.put("due", fellDue(fromNs, toNs, warp));
    } else {
      in.put("idle_ns", idleNs);
    }
    return in;
  }

  /** The parts inside of the cycles of slots that waited for a due time when the window closed. */
  private double waiting(long from, long to) {
    if (load.plan.rate == 0 && load.plan.thinkNs == 0 || follows.count() == 0) return 0;
    double sum = 0;
    long takes = (long) follows.mean();
    long start = load.startNs;
    for (Slot s : load.slots) {
      long due = s.dueAfter(to, start);
      if (due == Slot.NONE) continue;
      sum += Counters.share(from, to, s.free + (s.started ? 0 : start), due + takes);
    }
    return sum;
  }

  private double fellDue(long from, long to, Schedule.Warp warp) {
    long start = load.startNs;
    double expected = load.plan.rate * (to - from) / 1e9;
    if (warp != null) expected = warp.place(to - start) - warp.place(from - start);
    boolean constant = load.plan.arrival.equals("constant") && warp == null;
    if (constant || load.plan.rate * (to - start) / 1e9 > MOST_AGAIN) return expected;
    double due = 0;
    for (int i = 0; i < load.slots.length; i++) {
      Schedule schedule = load.scheduleOf(i);
      for (long last = start; last < to; ) {
        long next = start + schedule.peek();
        schedule.advance();
        due += Counters.share(from, to, last, next);
        last = next;
      }
    }
    return due;
  }

  /** Ages of what was due before the end and has not completed, unsent ones included. */
  Histogram unfinished(long now) {
    Histogram ages = new Histogram(true);
    long start = load.startNs;
    if (start == 0) return ages;
    for (Slot s : load.slots) {
      long due = s.pending();
      if (due <= load.closeNs && due != Slot.NONE) ages.record(now - due);
      if (!s.open) continue;
      for (; s.left > 0 && start + s.schedule.peek() <= load.closeNs; s.schedule.advance()) {
        ages.record(now - start - s.schedule.peek());
      }
    }
    return ages;
  }

  /** Gaps between the client's sends; null for a closed loop. */
  Map<String, Object> arrivals(long fromNs) {
    long until = load.closeNs;
    long[] all = new long[0];
    for (Counters c : window) {
      Counters.Sends s = c.times.sends;
      if (s == null || s.from == Long.MAX_VALUE) return null;
      until = Math.min(until, Math.min(s.until, s.refused.get()));
      long[] more = s.taken();
      int n = all.length;
      all = Arrays.copyOf(all, n + more.length);
      System.arraycopy(more, 0, all, n, more.length);
    }
    return gaps(all, fromNs, until);
  }

  /** Sums up the gaps between the instants that lie in from (inclusive) to until; null without any. */
  static Map<String, Object> gaps(long[] sent, long from, long until) {
    Arrays.sort(sent);
    long n = 0;
    long first = 0;
    long last = 0;
    double squares = 0;
    for (long at : sent) {
      if (at < from || at >= until) continue;
      if (n++ == 0) {
        first = at;
      } else {
        squares += (double) (at - last) * (at - last);
      }
      last = at;
    }
    if (n < 2) return null;
    Map<String, Object> a = new LinkedHashMap<>();
    a.put("gaps", n - 1);
    a.put("sum_ns", last - first);
    a.put("sum_squares_ns2", squares);
    a.put("stretch_ns", until - from);
    return a;
  }
}
