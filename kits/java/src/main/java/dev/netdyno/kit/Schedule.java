package dev.netdyno.kit;

/**
 * The intended starts of one slot of an open loop. It never looks at completions. One thread uses
 * it (CONTRACT.md, section Load; DRAWS.md, sections Gaps and Phases).
 */
final class Schedule {
  private final boolean poisson;
  private final double rate;
  private final double first;
  final double step;
  private final Cycle cycle;
  private final Warp warp;
  private final long seed;
  private long k;
  private double at;

  Schedule(Setup.Plan plan, long seed, int slot, int slots, Cycle cycle, Warp warp) {
    this.rate = plan.rate;
    this.cycle = cycle;
    this.warp = warp;
    poisson = plan.arrival.equals("poisson");
    boolean places = cycle != null || warp != null;
    first = places ? slot + 0.5 : (slot + 0.5) / plan.rate * 1e9;
    step = places ? slots : slots / plan.rate * 1e9;
    this.seed = Drawer.at(seed, slot);
    if (poisson) at = gap();
  }

  double first() {
    return first;
  }

  private double gap() {
    double u = (Drawer.at(seed, k) >>> 11) * 0x1p-53;
    return -Math.log(1 - u) * step;
  }

  /** The next intended start, in ns after the load's. */
  long peek() {
    double x = poisson ? at : first + k * step;
    if (warp == null && cycle == null) return (long) x;
    if (cycle != null) x = cycle.place((long) x);
    if (warp != null) return warp.due(x);
    return (long) (x / rate * 1e9);
  }

  void advance() {
    k++;
    if (poisson) at += gap();
  }

  /** Places of drawn arrivals, in exchanges. */
  static final class Cycle {
    private static final int GAPS = 1 << 16;
    private static final long MOST_GAP = 1000L << 20;
    private final long[] ends = new long[GAPS];
    private final double scale;

    Cycle(long[][] gaps, long seed) {
      Drawer.check("load.gaps", gaps, MOST_GAP);
      Drawer drawer = new Drawer(gaps, seed, Drawer.GAPS);
      long sum = 0;
      for (int i = 0; i < GAPS; i++) {
        sum += drawer.draw(i);
        ends[i] = sum;
      }
      if (sum == 0) throw Failure.setup("load.gaps: every gap is 0");
      scale = GAPS / (double) sum;
    }

    double place(long m) {
      return (double) (m / GAPS * GAPS) + ends[(int) (m % GAPS)] * scale;
    }
  }

  /** Turns places into times where the rate changes by phases. */
  static final class Warp {
    static final long NEVER = Long.MAX_VALUE / 4;
    private static final int MOST = 4096;
    private final double[][] phases; // [from ns, lasts ns, before, holds, first rate, last rate]
    private final boolean repeat;
    private double all;
    private double lasts;
    private int lastOf;

    Warp(double[][] given, boolean repeat) {
      this.repeat = repeat;
      if (given.length > MOST) throw Failure.setup("load.phases has " + given.length + ", expected at most " + MOST);
      phases = new double[given.length][];
      boolean some = false;
      for (int i = 0; i < given.length; i++) {
        double ns = given[i][0];
        double a = given[i][1];
        double b = given[i][2];
        boolean good = ns >= 1 && ns <= 1e15 && ns == Math.rint(ns) && a >= 0 && a <= 1e9 && b >= 0 && b <= 1e9;
        if (!good) {
          throw Failure.setup("load.phases: phase " + i + " is " + ns + " ns from " + a + " to " + b
              + " per second, expected whole ns up to 1e15 and rates of 0 to 1e9");
        }
        double holds = (a + b) / 2 * (ns / 1e9);
        if (holds > 0) lastOf = i;
        phases[i] = new double[] {lasts, ns, all, holds, a, b};
        all += holds;
        lasts += ns;
        some |= a > 0 || b > 0;
      }
      if (!some) throw Failure.setup("load.phases: no phase has a rate above 0");
    }

    long due(double x) {
      double base = 0;
      if (repeat) {
        double rounds = Math.floor(x / all);
        x = Math.max(0, x - rounds * all);
        base = rounds * lasts;
      } else if (x >= all) {
        double b = phases[phases.length - 1][5];
        return b <= 0 ? NEVER : clip(lasts + (x - all) / b * 1e9);
      }
      double[] p = phases[find(x)];
      double y = x - p[2];
      double slope = (p[5] - p[4]) / (p[1] / 1e9);
      double root = Math.sqrt(Math.max(0, p[4] * p[4] + 2 * slope * y));
      double seconds = 2 * y / (p[4] + root);
      return clip(base + p[0] + Math.min(p[1], seconds * 1e9));
    }

    /** How many exchanges the rates make until an instant, in ns after the start. */
    double place(double ns) {
      double base = 0;
      if (repeat) {
        double rounds = Math.floor(ns / lasts);
        ns -= rounds * lasts;
        base = rounds * all;
      } else if (ns >= lasts) {
        return all + (ns - lasts) / 1e9 * phases[phases.length - 1][5];
      }
      for (double[] p : phases) {
        double in = ns - p[0];
        if (in < p[1]) return base + p[2] + in / 1e9 * (p[4] + (p[5] - p[4]) * in / p[1] / 2);
      }
      return base + all;
    }

    private int find(double x) {
      int low = 0;
      int high = phases.length;
      while (low < high) {
        int middle = (low + high) >>> 1;
        if (x < phases[middle][2] + phases[middle][3]) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      return low == phases.length ? lastOf : low;
    }

    private static long clip(double ns) {
      return ns < NEVER ? (long) ns : NEVER;
    }
  }
}
