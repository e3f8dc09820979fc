package dev.netdyno.kit;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Times by size, in the window and draining (DRAWS.md, section Times by size). */
final class Bins {
  static final int MOST = 14;
  /** How many bins larger an exchange is that holds up a small one. */
  static final int APART = 2;
  private static final int MOST_TEXT = 256 << 10;
  private static final int SERVICE = 0;
  private static final int WHOLE = 1;
  private static final int BEHIND = 2;
  private static final int FREE = 3;

  private final int largest;
  private final HistogramSet all = new HistogramSet(4 * MOST);

  Bins(long largestBytes) {
    largest = binOf(largestBytes);
  }

  /** The bin of an exchange by its larger message: below 64 B, and from there by powers of four. */
  static int binOf(long bytes) {
    return Math.max(0, (59 - Long.numberOfLeadingZeros(bytes)) / 2);
  }

  static long fromBytes(int bin) {
    return bin == 0 ? 0 : 64L << 2 * (bin - 1);
  }

  static long toBytes(int bin) {
    return 64L << 2 * bin;
  }

  private void record(int kind, int bin, long ns) {
    all.record(4 * bin + kind, ns);
  }

  void count(Slot s, long sent, long now, long due) {
    if (s.open) {
      record(SERVICE, s.bin, now - sent);
    } else {
      due = sent;
    }
    int kind = FREE;
    if (s.waits == null || s.bin > largest - APART) {
      kind = WHOLE;
    } else if (s.waits.behind(s.bin, largest, due, sent)) {
      kind = BEHIND;
    }
    record(kind, s.bin, now - due);
  }

  private Histogram copy(int bin, int... kinds) {
    Histogram sum = new Histogram(true);
    for (int kind : kinds) {
      Histogram h = all.get(4 * bin + kind);
      if (h != null) sum.merge(h);
    }
    return sum;
  }

  List<Map<String, Object>> results(boolean open) {
    List<Map<String, Object>> list = new ArrayList<>();
    int room = MOST_TEXT;
    for (int bin = 0; bin < MOST; bin++) {
      Histogram times = copy(bin, WHOLE, BEHIND, FREE);
      if (times.count() == 0) continue;
      Map<String, Object> b = new LinkedHashMap<>();
      b.put("from_bytes", fromBytes(bin));
      b.put("to_bytes", toBytes(bin));
      Map<String, Histogram> texts = new LinkedHashMap<>();
      texts.put("service", open ? copy(bin, SERVICE) : times);
      if (open) texts.put("response", times);
      texts.put("behind", copy(bin, BEHIND));
      texts.put("free", copy(bin, FREE));
      for (Map.Entry<String, Histogram> e : texts.entrySet()) {
        if (e.getValue().count() == 0) continue;
        String text = e.getValue().encode();
        room -= text.length();
        if (room >= 0) b.put(e.getKey(), text);
      }
      list.add(b);
    }
    return list;
  }

  /** Says of a small exchange whether a larger one was in flight on its connection. */
  static final class Waits {
    private final Slot[] slots;
    private final long[] lastFrom = new long[MOST];
    private final long[] lastTo = new long[MOST];
    private final boolean[] flying;
    private final int[] bins;

    Waits(Slot[] slots) {
      this.slots = slots;
      flying = new boolean[slots.length];
      bins = new int[slots.length];
      java.util.Arrays.fill(lastTo, Long.MIN_VALUE);
    }

    synchronized void begin(Slot s) {
      flying[s.number] = slots.length > 1 && s.bin >= APART;
      bins[s.number] = s.bin;
    }

    synchronized void end(Slot s, long from, long to) {
      flying[s.number] = false;
      if (s.bin >= APART && to > 0) ended(s.bin, from, to);
    }

    /** An exchange of a bin was in flight from and until then. */
    synchronized void ended(int bin, long from, long to) {
      lastFrom[bin] = from;
      lastTo[bin] = to;
    }

    synchronized boolean behind(int bin, int largest, long from, long to) {
      for (int i = 0; i < slots.length; i++) {
        if (flying[i] && bins[i] >= bin + APART && slots[i].pending() <= to) return true;
      }
      for (int b = bin + APART; b <= largest; b++) {
        if (lastTo[b] != Long.MIN_VALUE && from <= lastTo[b] && lastFrom[b] <= to) return true;
      }
      return false;
    }
  }
}
