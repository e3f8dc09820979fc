package dev.netdyno.kit;

/** Draws numbers from a table, as contract/DRAWS.md says to the bit. It never changes. */
public final class Drawer {
  /** Streams of a seed. */
  static final int UP = 1;
  static final int DOWN = 2;
  static final int GAPS = 3;
  static final int CLASSES = 4;
  static final int KEYS = 5;
  static final int WORK = 6;

  private static final int GUIDE_BITS = 10;
  private static final long TABLE_END = 1L << 32;
  private static final int MOST_SEGMENTS = 4096;

  private final long base;
  private final int[] guide = new int[1 << GUIDE_BITS];
  private final long[][] segments;

  Drawer(long[][] table, long seed, int stream) {
    base = at(seed, stream - 1);
    segments = table;
    int at = 0;
    for (int g = 0; g < guide.length; g++) {
      while (table[at][0] <= (long) g << (32 - GUIDE_BITS)) at++;
      guide[g] = at;
    }
  }

  /** Output number n, from 0, of splitmix64 that begins at a state (Steele, Lea, Flood, OOPSLA 2014). */
  static long at(long state, long n) {
    long z = state + (n + 1) * 0x9e3779b97f4a7c15L;
    z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
    z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
    return z ^ z >>> 31;
  }

  long draw(long n) {
    long u = at(base, n);
    int i = guide[(int) (u >>> (64 - GUIDE_BITS))];
    while (segments[i][0] <= u >>> 32) i++;
    long[] s = segments[i];
    long share = u & 0xffffffffL;
    long range = s[2] - s[1] + 1;
    return s[1] + (Math.multiplyHigh(share, range) << 32 | share * range >>> 32);
  }

  /** Throws a Failure of kind setup unless the table is one, with no number above most. */
  static void check(String name, long[][] table, long most) {
    if (table.length == 0 || table.length > MOST_SEGMENTS) {
      throw Failure.setup(name + " has " + table.length + " segments, expected 1 to " + MOST_SEGMENTS);
    }
    long last = 0;
    for (int i = 0; i < table.length; i++) {
      long end = table[i][0];
      long low = table[i][1];
      long high = table[i][2];
      if (end <= last || end > TABLE_END) {
        throw Failure.setup(name + ": segment " + i + " ends at " + end + " after " + last + ", expected rising ends up to 2^32");
      }
      if (low < 0 || high < low || high > most) {
        throw Failure.setup(name + ": segment " + i + " has " + low + " to " + high + ", expected them rising, from 0 to " + most);
      }
      last = end;
    }
    if (last != TABLE_END) throw Failure.setup(name + ": the last segment does not end at 2^32");
  }

  static long most(long[][] table) {
    long most = 0;
    for (long[] s : table) most = Math.max(most, s[2]);
    return most;
  }

  static long least(long[][] table) {
    long least = Long.MAX_VALUE;
    for (long[] s : table) least = Math.min(least, s[1]);
    return least;
  }
}
