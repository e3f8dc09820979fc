package dev.netdyno.kit;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a client counts of each class of a mix (MIXES.md, section Classes). */
final class Classes {
  /** Bounds what their histograms take of the result's line. */
  private static final int MOST_TEXT = 512 << 10;
  // Places of a class among a phase's counters.
  private static final int EXCHANGES = 0;
  private static final int SENT = 1;
  private static final int RECEIVED = 2;
  private static final int ERRORS = 3;
  static final int PLACES = 4;

  private final List<Setup.MixClass> plan;
  private final HistogramSet service;
  private final HistogramSet response;

  Classes(List<Setup.MixClass> plan) {
    this.plan = plan;
    service = new HistogramSet(plan.size());
    response = new HistogramSet(plan.size());
  }

  void count(Counters c, Draw of, long received, long serviceNs, long responseNs) {
    c.addClass(PLACES * of.kind + EXCHANGES, 1);
    c.addClass(PLACES * of.kind + SENT, of.up);
    c.addClass(PLACES * of.kind + RECEIVED, received);
    if (c.times == null) return;
    service.record(of.kind, serviceNs);
    if (c.times.response != null) response.record(of.kind, responseNs);
  }

  void fail(Counters c, Draw of) {
    c.addClass(PLACES * of.kind + ERRORS, 1);
  }

  private static long sum(Counters[] phase, int kind, int place) {
    long n = 0;
    for (Counters c : phase) n += c.classes.get(PLACES * kind + place);
    return n;
  }

  /** What was counted, in the order of the setup; the rarest classes' histograms are left out where a line would not hold all. */
  List<Map<String, Object>> results(Counters[] window, Counters[] drain) {
    List<Map<String, Object>> all = new ArrayList<>();
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < plan.size(); i++) {
      Map<String, Object> r = new LinkedHashMap<>();
      r.put("name", plan.get(i).name);
      r.put("exchanges", sum(window, i, EXCHANGES));
      r.put("sent_bytes", sum(window, i, SENT));
      r.put("received_bytes", sum(window, i, RECEIVED));
      r.put("errors", sum(window, i, ERRORS) + sum(drain, i, ERRORS));
      r.put("drained", sum(drain, i, EXCHANGES));
      all.add(r);
      order.add(i);
    }
    order.sort((a, b) -> Long.compare((long) all.get(b).get("exchanges"), (long) all.get(a).get("exchanges")));
    int room = MOST_TEXT;
    for (int i : order) {
      room = put(all.get(i), "service", service.get(i), room);
      room = put(all.get(i), "response", response.get(i), room);
    }
    return all;
  }

  private static int put(Map<String, Object> to, String name, Histogram h, int room) {
    if (h == null) return room;
    String text = h.encode();
    if (room >= text.length()) to.put(name, text);
    return room - text.length();
  }
}
