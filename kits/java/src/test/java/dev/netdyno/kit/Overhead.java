package dev.netdyno.kit;

import java.lang.management.ManagementFactory;
import java.util.Map;

/** Prints what Next and Done take together, in ns, and what they allocate; `make bench` runs it. */
final class Overhead {
  private static final int EXCHANGES = 5_000_000;

  private Overhead() {}

  public static void main(String[] arguments) {
    for (boolean alone : new boolean[] {true, false}) {
      double[] least = {Double.MAX_VALUE, Double.MAX_VALUE};
      double bytes = 0;
      for (int round = 0; round < 8; round++) {
        Load load = new Load(
            Vectors.setup(1L, Map.of("up_bytes", 100L, "down_bytes", 100L), Map.of("connections", 1L)), 1, alone);
        load.start();
        load.open(Load.now());
        Slot slot = load.slots[0];
        exchange(slot, EXCHANGES / 10); // warm-up, also of the histogram's pages
        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
        long began = System.nanoTime();
        exchange(slot, EXCHANGES);
        double ns = (double) (System.nanoTime() - began) / EXCHANGES;
        bytes = (double) (threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - before) / EXCHANGES;
        began = System.nanoTime();
        long sum = 0;
        for (int i = 0; i < EXCHANGES; i++) sum += Load.now();
        double clock = (double) (System.nanoTime() - began) / EXCHANGES;
        if (sum == 0) throw new IllegalStateException();
        least[0] = Math.min(least[0], ns);
        least[1] = Math.min(least[1], clock);
      }
      System.out.printf("next and done, %s: %.1f ns with one reading of the clock, which takes %.1f ns; %.4f bytes allocated%n",
          alone ? "a loop's own slots" : "slots of threads", least[0], least[1], bytes);
    }
  }

  private static void exchange(Slot slot, int n) {
    for (int i = 0; i < n; i++) {
      long now = Load.now();
      slot.next(now);
      slot.done(now, now + 1000 + (i & 1023), 100);
    }
  }
}
