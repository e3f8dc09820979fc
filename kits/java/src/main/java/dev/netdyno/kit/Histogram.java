package dev.netdyno.kit;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.zip.Deflater;

/**
 * An HdrHistogram of integers from 1 to 300,000,000,000 at 3 digits (CONTRACT.md, section
 * Histograms). Recording neither locks nor allocates. Where one thread alone records, say so:
 * it needs no atomic instruction then.
 */
public final class Histogram {
  public static final long MAX = 300_000_000_000L;
  private static final int LENGTH = index(MAX) + 1;

  private final AtomicLongArray counts = new AtomicLongArray(LENGTH);
  private final AtomicLongArray overMax = new AtomicLongArray(1);
  private final boolean alone;

  public Histogram() {
    this(false);
  }

  public Histogram(boolean alone) {
    this.alone = alone;
  }

  static int index(long v) {
    int b = Math.max(0, 53 - Long.numberOfLeadingZeros(v)); // bit length − 11
    return b * 1024 + (int) (v >>> b);
  }

  /** The middle of the values that share an index. */
  private static double middle(int index) {
    int b = index < 2048 ? 0 : index / 1024 - 1;
    long low = (long) (index - b * 1024) << b;
    return b == 0 ? low : low + (1L << b - 1);
  }

  public void record(long v) {
    record(v, 1);
  }

  public void record(long v, long n) {
    if (v > MAX) {
      add(overMax, 0, n, alone);
      v = MAX;
    }
    add(counts, index(v < 0 ? 0 : v), n, alone);
  }

  static void add(AtomicLongArray to, int i, long n, boolean alone) {
    if (alone) {
      to.setRelease(i, to.getPlain(i) + n);
    } else {
      to.getAndAdd(i, n);
    }
  }

  public void merge(Histogram other) {
    for (int i = 0; i < LENGTH; i++) {
      long n = other.counts.get(i);
      if (n > 0) counts.getAndAdd(i, n);
    }
    overMax.getAndAdd(0, other.overMax.get(0));
  }

  public long count() {
    long n = 0;
    for (int i = 0; i < LENGTH; i++) n += counts.get(i);
    return n;
  }

  public long overMax() {
    return overMax.get(0);
  }

  public double mean() {
    double sum = 0;
    long all = 0;
    for (int i = 0; i < LENGTH; i++) {
      long n = counts.get(i);
      sum += n * middle(i);
      all += n;
    }
    return all == 0 ? 0 : sum / all;
  }

  /** The value below or at which a share of the values lies; 0 when it is empty. */
  public long quantile(double share) {
    long all = count();
    long wanted = Math.max(1, (long) Math.ceil(all * share));
    for (int i = 0; i < LENGTH && all > 0; i++) {
      wanted -= counts.get(i);
      if (wanted <= 0) return (long) middle(i);
    }
    return 0;
  }

  /** What was recorded since an earlier copy; the copy then is as this is. */
  Histogram since(Histogram before) {
    Histogram difference = new Histogram(true);
    for (int i = 0; i < LENGTH; i++) {
      long now = counts.get(i);
      long was = before.counts.getPlain(i);
      if (now > was) difference.counts.setPlain(i, now - was);
      before.counts.setPlain(i, now);
    }
    return difference;
  }

  /** Header and counts, before compression. */
  byte[] payload() {
    int last = 0;
    for (int i = 0; i < LENGTH; i++) if (counts.get(i) > 0) last = i;
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    for (int i = 0; i <= last; i++) {
      int run = i;
      while (i < last && counts.get(i) == 0) i++;
      run = i - run;
      if (run > 1) leb(body, 2L * run - 1);
      if (run == 1) leb(body, 0);
      leb(body, 2 * counts.get(i));
    }
    ByteBuffer out = ByteBuffer.allocate(40 + body.size());
    out.putInt(0x1c849313).putInt(body.size()).putInt(0).putInt(3).putLong(1).putLong(MAX).putDouble(1.0);
    return out.put(body.toByteArray()).array();
  }

  private static void leb(ByteArrayOutputStream to, long z) {
    for (; (z & ~0x7fL) != 0; z >>>= 7) to.write((int) (z & 0x7f | 0x80));
    to.write((int) z);
  }

  /** The histogram as text: V2 compressed, base64. */
  public String encode() {
    byte[] payload = payload();
    Deflater deflater = new Deflater();
    deflater.setInput(payload);
    deflater.finish();
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    byte[] piece = new byte[8192];
    while (!deflater.finished()) packed.write(piece, 0, deflater.deflate(piece));
    deflater.end();
    ByteBuffer out = ByteBuffer.allocate(8 + packed.size());
    out.putInt(0x1c849314).putInt(packed.size()).put(packed.toByteArray());
    return Base64.getEncoder().encodeToString(out.array());
  }
}
