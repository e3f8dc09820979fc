package dev.netdyno.kit;

import java.util.LinkedHashMap;
import java.util.Map;

/** Cumulative sums since ready (CONTRACT.md, section mark). */
public final class Counts {
  public long exchanges;
  public long sentBytes;
  public long receivedBytes;
  public long connections;
  public long redialled;
  final long[] errors = new long[Failure.Kind.values().length];

  long allErrors() {
    long n = 0;
    for (long e : errors) n += e;
    return n;
  }

  Map<String, Object> toMap() {
    Map<String, Object> m = new LinkedHashMap<>();
    m.put("exchanges", exchanges);
    m.put("sent_bytes", sentBytes);
    m.put("received_bytes", receivedBytes);
    if (connections > 0) m.put("connections", connections);
    if (redialled > 0) m.put("redialled", redialled);
    if (allErrors() > 0) {
      Map<String, Object> kinds = new LinkedHashMap<>();
      for (Failure.Kind k : Failure.Kind.values()) if (errors[k.ordinal()] > 0) kinds.put(k.text, errors[k.ordinal()]);
      m.put("errors", kinds);
    }
    return m;
  }

  /** Adds errors that a server saw, by kind. */
  public void addErrors(Failure.Kind kind, long n) {
    errors[kind.ordinal()] += n;
  }
}
