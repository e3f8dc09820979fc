package dev.netdyno.kit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Reads contract/vectors. */
final class Vectors {
  private Vectors() {}

  static Object read(String name) throws Exception {
    return Json.parse(Files.readString(Path.of("../../contract/vectors/" + name + ".json")));
  }

  static List<Fields> list(String name) throws Exception {
    return fields((List<?>) read(name));
  }

  static List<Fields> fields(List<?> list) {
    List<Fields> all = new ArrayList<>();
    for (Object o : list) all.add(new Fields((Map<?, ?>) o, ""));
    return all;
  }

  /** A text, or parts of a long one. */
  static String text(Object parts) {
    if (parts instanceof String s) return s;
    StringBuilder out = new StringBuilder();
    for (Object p : parts instanceof List<?> l ? l : List.of(parts)) {
      if (p instanceof String s) out.append(s);
      if (p instanceof Map<?, ?> m) out.append(((String) m.get("repeat")).repeat(((Long) m.get("times")).intValue()));
    }
    return out.toString();
  }

  static long[][] table(Object o) {
    if (!(o instanceof Map<?, ?> rule)) return new Fields(Map.of("t", o), "").triples("t");
    Fields f = new Fields(rule, "");
    long[][] t = new long[f.count("many")][];
    for (int i = 0; i < t.length; i++) {
      t[i] = new long[] {(i + 1) * f.integer("step_end"), i * f.integer("step"), (i + 1) * f.integer("step") - 1};
    }
    return t;
  }

  static List<Long> longs(Object list) {
    List<Long> all = new ArrayList<>();
    for (Object n : (List<?>) list) all.add(n instanceof Number x ? (Long) x.longValue() : null);
    return all;
  }

  /** A client's setup with these fields of its exchange and load. */
  static Setup setup(Object seed, Map<String, Object> exchange, Map<?, ?> load) {
    return new Setup(Map.of("transport", "t", "role", "client", "seed", seed, "exchange", exchange, "load", load));
  }

  static void write(Path to, String text) throws IOException {
    Files.createDirectories(to.getParent());
    Files.writeString(to, text);
  }
}
