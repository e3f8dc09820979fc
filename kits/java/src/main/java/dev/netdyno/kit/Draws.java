package dev.netdyno.kit;

import java.util.List;

/** What a client's exchanges carry, by their numbers (DRAWS.md, section Sizes; MIXES.md, section Classes). It never changes. */
final class Draws {
  private static final int MOST_CLASSES = 64;
  private static final long MOST_KEY = (1L << 53) - 1;

  final long up;
  final long down;
  private final boolean echoes; // a reply is as long as its request
  private final Drawer ups; // null where all are of one size
  private final Drawer downs;
  private Drawer kinds; // null without classes
  private Drawer keys;
  private Draws[] byKind;

  /** Those of a setup. What cannot be is a Failure of kind setup. */
  Draws(Setup s) {
    this("exchange", s.exchange.upBytes, s.exchange.downBytes, s.exchange.upSizes, s.exchange.downSizes, s);
    if (!s.load.classes.isEmpty()) mix(s);
  }

  private Draws(String field, long up, long down, long[][] upSizes, long[][] downSizes, Setup s) {
    this.up = up;
    this.down = down;
    echoes = s.echoes;
    ups = drawer(field + ".up", upSizes, up, s.seed, Drawer.UP);
    downs = drawer(field + ".down", downSizes, down, s.seed, Drawer.DOWN);
  }

  private static Drawer drawer(String field, long[][] table, long largest, long seed, int stream) {
    if (table.length == 0) return null;
    Drawer.check(field + "_sizes", table, Setup.MAX_MESSAGE);
    if (Drawer.most(table) != largest) {
      throw Failure.setup(field + "_sizes: the largest size is " + Drawer.most(table) + " and " + field + "_bytes is " + largest
          + ", expected the same");
    }
    return new Drawer(table, seed, stream);
  }

  private void mix(Setup s) {
    List<Setup.MixClass> classes = s.load.classes;
    if (classes.size() > MOST_CLASSES) {
      throw Failure.setup("load.classes has " + classes.size() + ", expected at most " + MOST_CLASSES);
    }
    byKind = new Draws[classes.size()];
    long[][] ends = new long[byKind.length][];
    for (int i = 0; i < byKind.length; i++) {
      Setup.MixClass c = classes.get(i);
      String field = "load.classes[" + i + "]";
      byKind[i] = new Draws(field, c.upBytes, c.downBytes, c.upSizes, c.downSizes, s);
      if (c.upBytes < 0 || c.downBytes < 0 || c.upBytes > up || c.downBytes > down) {
        throw Failure.setup(field + " has " + c.upBytes + " bytes up and " + c.downBytes + " down, and exchange at most " + up
            + " and " + down);
      }
      ends[i] = new long[] {c.end, i, i};
    }
    Drawer.check("load.classes: their ends", ends, MOST_CLASSES);
    kinds = new Drawer(ends, s.seed, Drawer.CLASSES);
    if (s.load.keys.length > 0) {
      Drawer.check("load.keys", s.load.keys, MOST_KEY);
      keys = new Drawer(s.load.keys, s.seed, Drawer.KEYS);
    }
  }

  /** Whether exchanges differ. */
  boolean vary() {
    return ups != null || downs != null || byKind != null;
  }

  /** Whether the lengths of all replies are counted. */
  boolean downVaries() {
    return downs != null || byKind != null;
  }

  /** Makes to what exchange number n carries; the first exchange of connection n carries it too. */
  Draw draw(long n, Draw to) {
    Draws of = this;
    if (kinds != null) {
      to.kind = (int) kinds.draw(n);
      of = byKind[to.kind];
    }
    to.up = of.ups == null ? of.up : of.ups.draw(n);
    if (echoes) {
      to.down = to.up;
    } else {
      to.down = of.downs == null ? of.down : of.downs.draw(n);
    }
    if (keys != null) to.key = keys.draw(n);
    return to;
  }
}
