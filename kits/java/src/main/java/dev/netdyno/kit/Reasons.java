package dev.netdyno.kit;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Counts why exchanges failed. Any thread may add; a failure is rare enough for a lock. */
final class Reasons {
  private static final int MOST_KEPT = 64;
  private static final int MOST = 16;
  private static final int MOST_TEXT = 120;

  private record Reason(String kind, String text) {}

  private final Map<Reason, Long> counts = new HashMap<>();
  private long others;

  synchronized void add(Failure.Kind kind, String text) {
    Reason key = new Reason(kind.text, clipped(text));
    if (counts.size() >= MOST_KEPT && !counts.containsKey(key)) {
      others++;
    } else {
      counts.merge(key, 1L, Long::sum);
    }
  }

  /** The most frequent reasons, falling, and the sum of the others at the end. */
  synchronized List<Map<String, Object>> most() {
    List<Map.Entry<Reason, Long>> all = new ArrayList<>(counts.entrySet());
    all.sort((a, b) -> {
      int order = Long.compare(b.getValue(), a.getValue());
      if (order == 0) order = a.getKey().kind().compareTo(b.getKey().kind());
      return order == 0 ? a.getKey().text().compareTo(b.getKey().text()) : order;
    });
    List<Map<String, Object>> list = new ArrayList<>();
    long rest = others;
    for (int i = 0; i < all.size(); i++) {
      Map.Entry<Reason, Long> e = all.get(i);
      if (i < MOST) {
        Map<String, Object> reason = new LinkedHashMap<>();
        reason.put("kind", e.getKey().kind());
        reason.put("text", e.getKey().text());
        reason.put("count", e.getValue());
        list.add(reason);
      } else {
        rest += e.getValue();
      }
    }
    if (rest > 0) list.add(new LinkedHashMap<>(Map.of("text", "others", "count", rest)));
    return list;
  }

  /** A text that is printable and has at most 120 bytes. */
  static String clipped(String text) {
    StringBuilder out = new StringBuilder();
    int bytes = 0;
    for (int i = 0; i < text.length(); ) {
      int c = text.codePointAt(i);
      i += Character.charCount(c);
      int type = Character.getType(c);
      boolean odd = Character.isISOControl(c) || type == Character.FORMAT || type == Character.SURROGATE
          || type == Character.UNASSIGNED || type == Character.PRIVATE_USE || type == Character.LINE_SEPARATOR
          || type == Character.PARAGRAPH_SEPARATOR;
      String shown = odd ? "\ufffd" : Character.toString(c);
      bytes += shown.getBytes(StandardCharsets.UTF_8).length;
      if (bytes > MOST_TEXT) break;
      out.append(shown);
    }
    return out.toString();
  }
}
