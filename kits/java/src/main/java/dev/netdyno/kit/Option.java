package dev.netdyno.kit;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** An option that users of a library set (CONTRACT.md, section hello). */
public final class Option {
  public final String name;
  final Object standard;
  List<String> roles = List.of();
  private final String type;
  private final String doc;
  private Double min;
  private Double max;
  private List<String> choices = List.of();
  private List<String> grid = List.of();
  private final Map<String, String> as = new LinkedHashMap<>();

  private Option(String name, String type, Object standard, String doc) {
    this.name = name;
    this.type = type;
    this.standard = standard;
    this.doc = doc;
  }

  public static Option truth(String name, boolean standard, String doc) {
    return new Option(name, "bool", standard, doc);
  }

  public static Option text(String name, String standard, String doc) {
    return new Option(name, "text", standard, doc);
  }

  public static Option number(String name, long standard, long min, long max, String doc) {
    return new Option(name, "int", standard, doc).between(min, max);
  }

  public static Option bytes(String name, long standard, long min, long max, String doc) {
    return new Option(name, "bytes", standard, doc).between(min, max);
  }

  /** One of some words, the first of which is the default. */
  public static Option choice(String name, List<String> choices, String doc) {
    Option o = new Option(name, "choice", choices.get(0), doc);
    o.choices = choices;
    return o;
  }

  private Option between(long least, long most) {
    min = (double) least;
    max = (double) most;
    return this;
  }

  /** The one role that has it. */
  public Option of(String role) {
    roles = List.of(role);
    return this;
  }

  /** Values worth trying, as a study writes them. */
  public Option grid(String... values) {
    grid = List.of(values);
    return this;
  }

  /** How it is set outside of netdyno, in a role. */
  public Option as(String role, String text) {
    as.put(role, text);
    return this;
  }

  Map<String, Object> toMap() {
    Map<String, Object> m = new LinkedHashMap<>();
    m.put("name", name);
    m.put("type", type);
    m.put("default", standard);
    if (min != null) m.put("min", min.longValue());
    if (max != null) m.put("max", max.longValue());
    if (!choices.isEmpty()) m.put("choices", choices);
    if (!roles.isEmpty()) m.put("roles", roles);
    if (!grid.isEmpty()) m.put("grid", grid);
    if (!as.isEmpty()) m.put("as", as);
    m.put("doc", doc);
    return m;
  }

  Object convert(Object v) {
    switch (type) {
      case "bool":
        if (v instanceof Boolean) return v;
        throw new IllegalArgumentException("got " + v + ", expected true or false");
      case "text":
        if (v instanceof String) return v;
        throw new IllegalArgumentException("expected a text");
      case "choice":
        if (v instanceof String s && choices.contains(s)) return v;
        throw new IllegalArgumentException("got " + v + ", expected one of " + String.join(", ", choices));
      default:
        double d = v instanceof Number n ? n.doubleValue() : Double.NaN;
        if (d != Math.rint(d) || Math.abs(d) > 1L << 53) throw new IllegalArgumentException("got " + v + ", expected a whole number");
        if (min != null && d < min) throw new IllegalArgumentException("got " + v + ", expected at least " + min.longValue());
        if (max != null && d > max) throw new IllegalArgumentException("got " + v + ", expected at most " + max.longValue());
        return (long) d;
    }
  }
}
