package dev.netdyno.kit;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Decides when a client sends and counts what came of it. A transport asks each slot for the next
 * exchange and reports each completion; it never sees rates, windows or histograms. The worker's
 * control thread calls start, open, close and end; the transport owns the slots.
 */
public final class Load {
  private static final long EPOCH = System.nanoTime();
  private static final int MOST_SLOTS = 1 << 22;

  final Setup.Plan plan;
  final Draws draws;
  final Slot[] slots;
  final Classes classes; // null without
  final boolean thinks; // classes say how long a slot pauses
  final Bins bins; // null where all exchanges are of one size
  final Reasons reasons = new Reasons();

  private final long seed;
  private final Schedule.Cycle cycle;
  private final Schedule.Warp warp;
  private final Counters[] before;
  private final Counters[] window;
  private final Counters[] drain;
  private volatile Counters[] current;

  volatile long startNs;
  volatile long closeNs = Long.MAX_VALUE;
  private long fromNs;
  private boolean opened;
  private Histogram sliced;
  private final List<Runnable> whenEnded = new ArrayList<>();

  /** For threads: any of them may use any slot, one at a time. */
  public static Load forThreads(Setup setup) {
    return new Load(setup, 2 * setup.loops(), false);
  }

  /** For event loops: the slots of connection i belong to loop i % loops alone. */
  public static Load forLoops(Setup setup, int loops) {
    return new Load(setup, loops, true);
  }

  Load(Setup setup, int shards, boolean alone) {
    plan = setup.load;
    seed = setup.seed;
    normalise(plan);
    draws = new Draws(setup);
    classes = plan.classes.isEmpty() ? null : new Classes(plan.classes);
    thinks = plan.thinks();
    cycle = plan.arrival.equals("drawn") ? new Schedule.Cycle(plan.gaps, seed) : null;
    warp = plan.phases.length > 0 ? new Schedule.Warp(plan.phases, plan.repeat) : null;
    int active = activeConnections();
    slots = new Slot[active * plan.inFlight];
    shards = Math.max(1, Math.min(shards, active));
    before = new Counters[shards];
    window = new Counters[shards];
    drain = new Counters[shards];
    for (int i = 0; i < shards; i++) {
      double share = (double) ((active + shards - 1 - i) / shards) / active;
      Counters.Times times = new Counters.Times(plan, share, alone);
      before[i] = new Counters(null, alone, plan.classes.size());
      window[i] = new Counters(times, alone, plan.classes.size());
      drain[i] = new Counters(times, alone, plan.classes.size());
    }
    current = before;
    for (int i = 0; i < slots.length; i++) slots[i] = newSlot(i, shards);
    bins = draws.vary() ? new Bins(Math.max(draws.up, draws.down)) : null;
    if (bins != null) vary();
  }

  private Slot newSlot(int i, int shards) {
    int n = slots.length;
    Schedule schedule = plan.rate > 0 ? new Schedule(plan, seed, place(i), n, cycle, warp) : null;
    Slot s = new Slot(this, i % plan.inFlight, i / plan.inFlight % shards, schedule);
    if (plan.amount > 0) { // shared out over the connection's slots, the remainder to the first
      s.left = plan.amount / plan.inFlight + (i % plan.inFlight < plan.amount % plan.inFlight ? 1 : 0);
    }
    if (schedule != null && plan.arrival.equals("constant") && warp == null) {
      s.free = (long) (schedule.first() - schedule.step); // as if it had run before
    } else if (schedule == null && plan.thinkNs > 0) {
      s.free = (long) ((double) plan.thinkNs * i / n) - plan.thinkNs; // staggered: no burst at the start
    }
    return s;
  }

  private void vary() {
    for (int i = 0; i < slots.length; i++) {
      slots[i].varies = true;
      slots[i].drawNumber = place(i);
    }
    if (plan.inFlight == 1 && plan.rate == 0) return; // no exchange can wait for another
    for (int c = 0; c < activeConnections(); c++) {
      Bins.Waits waits = new Bins.Waits(slots(c));
      for (Slot s : slots(c)) s.waits = waits;
    }
  }

  /** The number by which schedules and draws know a slot: connection by connection. */
  private int place(int slot) {
    return slot % plan.inFlight * activeConnections() + slot / plan.inFlight;
  }

  private static void normalise(Setup.Plan p) {
    if (p.inFlight == 0) p.inFlight = 1;
    if (p.activeShare == 0) p.activeShare = 1;
    if (p.arrival.isEmpty()) p.arrival = "constant";
    if (p.drainNs == 0) p.drainNs = 2_000_000_000L;
    boolean drawn = p.arrival.equals("drawn");
    String wrong = null;
    if (p.connections < 1 || p.connections > MOST_SLOTS) {
      wrong = "load.connections is " + p.connections + ", expected 1 to " + MOST_SLOTS;
    } else if ((long) p.connections * p.inFlight > MOST_SLOTS) {
      wrong = "load.in_flight is " + p.inFlight + " over " + p.connections + " connections, expected up to " + MOST_SLOTS + " in all";
    } else if (p.activeShare < 0 || p.activeShare > 1) {
      wrong = "load.active_share is " + p.activeShare + ", expected more than 0 up to 1";
    } else if (p.rate < 0 || p.rate > 1e9) {
      wrong = "load.rate is " + p.rate + ", expected 0 (closed loop) to 1e9 exchanges per second";
    } else if (!drawn && !p.arrival.equals("constant") && !p.arrival.equals("poisson")) {
      wrong = "load.arrival is \"" + p.arrival + "\", expected constant, poisson or drawn";
    } else if (p.trace) {
      wrong = "load.trace is given with load.arrival " + p.arrival + ": this kit replays no recorded traffic";
    } else if (p.rate == 0 && (p.phases.length > 0 || drawn)) {
      wrong = "load.rate is 0 with load.phases or arrival drawn: a closed loop has no schedule";
    } else if (p.rate > 0 && p.thinkNs > 0) {
      wrong = "load.think_ns is " + p.thinkNs + " with load.rate " + p.rate + ": an open loop does not think";
    } else if (p.thinks() && p.thinkNs <= 0) {
      wrong = "load.think_ns is " + p.thinkNs + ", expected the mean of the classes' pauses, above 0";
    } else if (p.classes.stream().anyMatch(c -> c.thinkNs < 0 || c.deadlineNs < 0)) {
      wrong = "load.classes: a think_ns or deadline_ns is negative";
    } else if (p.thinkNs < 0 || p.amount < 0 || p.drainNs < 0) {
      wrong = "load.think_ns, load.amount or load.drain_ns is negative";
    }
    if (wrong != null) throw Failure.setup(wrong);
  }

  /** The worker's monotonic clock in ns. */
  public static long now() {
    return System.nanoTime() - EPOCH;
  }

  public Setup.Plan plan() {
    return plan;
  }

  /** How many connections, the first ones, carry load. */
  public int activeConnections() {
    return Math.max(1, (int) Math.ceil(plan.activeShare * plan.connections - 1e-9));
  }

  /** The slots of one connection; none when it is idle. */
  public Slot[] slots(int connection) {
    if (connection >= activeConnections()) return new Slot[0];
    return Arrays.copyOfRange(slots, connection * plan.inFlight, (connection + 1) * plan.inFlight);
  }

  /** What the first exchange of a connection carries, which is verified. */
  public Draw first(int connection) {
    return draws.draw(connection, new Draw());
  }

  Counters current(int shard) {
    return current[shard];
  }

  /** Tells whether the load has ended: nothing due later is sent. */
  public boolean ended() {
    return closeNs != Long.MAX_VALUE;
  }

  /** Has what waits for due times woken when the load ends. */
  public synchronized void whenEnded(Runnable wake) {
    whenEnded.add(wake);
  }

  void start() {
    long now = now();
    startNs = now;
    if (plan.amount > 0 && !opened) open(now);
  }

  void open(long now) {
    opened = true;
    fromNs = now;
    for (Counters c : window) {
      if (c.times.sends != null) c.times.sends.open(now, plan.rate);
      c.insideFrom = now;
      c.insideTo = Long.MAX_VALUE;
      c.counted = Counters.WHOLE;
    }
    current = window;
  }

  /** Ends an open window, and with it the load. */
  void close(long now) {
    if (opened) end(now);
  }

  void end(long now) {
    synchronized (this) {
      if (ended()) return;
      for (Counters c : drain) {
        c.insideFrom = fromNs;
        c.insideTo = now;
      }
      closeNs = now;
      current = drain;
    }
    for (Runnable wake : whenEnded) wake.run();
  }

  /** The sums since ready as they were when the window last opened or closed. */
  Counts snapshot() {
    return ended() ? sum(before, window) : sum(before);
  }

  Counts counts() {
    return sum(before, window, drain);
  }

  private Counts sum(Counters[]... phases) {
    Counts counts = new Counts();
    for (Counters[] phase : phases) {
      for (Counters c : phase) {
        long n = c.get(Counters.EXCHANGES);
        counts.exchanges += n;
        counts.sentBytes += bins == null ? n * draws.up : c.get(Counters.SENT);
        counts.receivedBytes += c.get(Counters.RECEIVED);
        for (int i = 0; i < counts.errors.length; i++) counts.errors[i] += c.get(Counters.ERRORS + i);
      }
    }
    return counts;
  }

  /** Times of what completed since the last call, in the window or draining; null when nothing did. */
  Map<String, Object> slice() {
    if (sliced == null) sliced = new Histogram(true);
    Histogram all = new Histogram(true);
    for (Counters c : window) all.merge(c.times.response != null ? c.times.response : c.times.service);
    Histogram h = all.since(sliced);
    if (h.count() == 0) return null;
    Map<String, Object> t = new LinkedHashMap<>();
    t.put("count", h.count());
    t.put("p50_ns", h.quantile(0.5));
    t.put("p99_ns", h.quantile(0.99));
    t.put("max_ns", h.quantile(1));
    return t;
  }

  /** What the window holds. Call it when the transport has let go of every slot, or the drain is over. */
  Map<String, Object> result() {
    long now = now();
    end(now);
    Map<String, Object> r = new LinkedHashMap<>();
    r.put("from_ns", opened ? fromNs : closeNs);
    r.put("to_ns", closeNs);
    Counts counts = sum(window);
    Counts drained = sum(drain);
    for (int i = 0; i < counts.errors.length; i++) counts.errors[i] += drained.errors[i];
    r.put("counts", counts.toMap());
    r.put("drained", drained.exchanges);
    Outcome outcome = new Outcome(this, window, drain);
    outcome.times(r, counts.exchanges, drained.exchanges);
    if (opened) r.put("inside", outcome.inside(counts.exchanges, fromNs, cycle, warp));
    List<Map<String, Object>> why = reasons.most();
    if (!why.isEmpty()) r.put("reasons", why);
    Map<String, Object> arrivals = outcome.arrivals(opened ? fromNs : closeNs);
    if (arrivals != null) r.put("arrivals", arrivals);
    if (classes != null) r.put("classes", classes.results(window, drain));
    if (bins != null) r.put("bins", bins.results(plan.rate > 0));
    Histogram ages = outcome.unfinished(now);
    r.put("unfinished", ages.count());
    if (ages.count() > 0) r.put("ages", ages.encode());
    return r;
  }

  Schedule scheduleOf(int slot) {
    return new Schedule(plan, seed, place(slot), slots.length, cycle, warp);
  }

  /** The requests of the exchanges, each once. Call it as result. */
  Map<String, Object> sent() {
    Map<String, Object> sent = new LinkedHashMap<>();
    sent.put("before", sent(before));
    sent.put("window", sent(window));
    long underWay = 0;
    for (Slot s : slots) {
      long due = s.pending();
      if (due != Slot.NONE && due <= closeNs && !s.held) underWay++;
    }
    sent.put("drain", sent(drain) + underWay);
    return sent;
  }

  private static long sent(Counters[] phase) {
    long n = 0;
    for (Counters c : phase) {
      n += c.get(Counters.EXCHANGES) - c.get(Counters.UNSENT);
      for (int i = 0; i < Failure.Kind.values().length; i++) n += c.get(Counters.ERRORS + i);
    }
    return n;
  }
}
