package dev.netdyno.kit;

import java.util.concurrent.atomic.AtomicReferenceArray;

/** Histograms that are made when a first value comes: all at once would take megabytes. Any thread may record. */
final class HistogramSet {
  private final AtomicReferenceArray<Histogram> all;

  HistogramSet(int n) {
    all = new AtomicReferenceArray<>(n);
  }

  void record(int i, long v) {
    Histogram h = all.get(i);
    if (h == null) {
      all.compareAndSet(i, null, new Histogram());
      h = all.get(i);
    }
    h.record(v);
  }

  /** One of them; null before its first value. */
  Histogram get(int i) {
    return all.get(i);
  }
}
