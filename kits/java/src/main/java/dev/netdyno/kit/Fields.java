package dev.netdyno.kit;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The fields of a JSON object, read with their types; an absent one is 0, false or empty. */
public final class Fields {
  private static final Fields NONE = new Fields(Map.of(), "");

  private final Map<?, ?> map;
  private final String path;

  public Fields(Map<?, ?> map, String path) {
    this.map = map;
    this.path = path;
  }

  private Failure wrong(String name, String expected) {
    String found = String.valueOf(map.get(name));
    return Failure.invalid(
        path + "." + name + " is " + found.substring(0, Math.min(60, found.length())) + ", expected " + expected);
  }

  public boolean has(String name) {
    return map.get(name) != null;
  }

  public long integer(String name) {
    Object v = map.get(name);
    if (v == null) return 0;
    if (v instanceof Long n) return n;
    throw wrong(name, "an integer of 64 bits");
  }

  /** A number as it was read. */
  Object number(String name) {
    return map.get(name);
  }

  /** An integer that must not be negative and must fit int. */
  public int count(String name) {
    long n = integer(name);
    if (n < 0 || n > Integer.MAX_VALUE) throw Failure.setup(path + "." + name + " is " + n + ", expected 0 to 2147483647");
    return (int) n;
  }

  public long unsigned(String name) {
    Object v = map.get(name);
    if (v == null) return 0;
    if (v instanceof Long n && n >= 0) return n;
    if (v instanceof BigInteger n && n.signum() > 0 && n.bitLength() <= Long.SIZE) return n.longValue();
    throw wrong(name, "an integer from 0 to 2^64 - 1");
  }

  public double real(String name) {
    Object v = map.get(name);
    if (v == null) return 0;
    double d = v instanceof Number n ? n.doubleValue() : Double.NaN;
    if (Double.isNaN(d) || Double.isInfinite(d)) throw wrong(name, "a number");
    return d;
  }

  public boolean truth(String name) {
    Object v = map.get(name);
    if (v == null) return false;
    if (v instanceof Boolean b) return b;
    throw wrong(name, "true or false");
  }

  public String text(String name) {
    Object v = map.get(name);
    if (v == null) return "";
    if (v instanceof String s) return s;
    throw wrong(name, "a text");
  }

  public List<?> list(String name) {
    Object v = map.get(name);
    if (v == null) return List.of();
    if (v instanceof List<?> l) return l;
    throw wrong(name, "a list");
  }

  public List<String> texts(String name) {
    List<String> texts = new ArrayList<>();
    for (Object v : list(name)) {
      if (!(v instanceof String s)) throw wrong(name, "a list of texts");
      texts.add(s);
    }
    return texts;
  }

  public List<Fields> objects(String name) {
    List<Fields> all = new ArrayList<>();
    for (Object v : list(name)) {
      if (!(v instanceof Map<?, ?> m)) throw wrong(name, "a list of objects");
      all.add(new Fields(m, path + "." + name + "[" + all.size() + "]"));
    }
    return all;
  }

  /** A list of lists of three numbers each; as longs where they are whole. */
  public long[][] triples(String name) {
    List<?> rows = list(name);
    long[][] out = new long[rows.size()][3];
    for (int i = 0; i < out.length; i++) {
      if (!(rows.get(i) instanceof List<?> row) || row.size() != 3) throw wrong(name, "lists of three integers");
      for (int k = 0; k < 3; k++) {
        if (!(row.get(k) instanceof Long n)) throw wrong(name, "lists of three integers");
        out[i][k] = n;
      }
    }
    return out;
  }

  public double[][] realTriples(String name) {
    List<?> rows = list(name);
    double[][] out = new double[rows.size()][3];
    for (int i = 0; i < out.length; i++) {
      if (!(rows.get(i) instanceof List<?> row) || row.size() != 3) throw wrong(name, "lists of three numbers");
      for (int k = 0; k < 3; k++) {
        if (!(row.get(k) instanceof Number n)) throw wrong(name, "lists of three numbers");
        out[i][k] = n.doubleValue();
      }
    }
    return out;
  }

  public Map<?, ?> map(String name) {
    Object v = map.get(name);
    if (v == null) return Map.of();
    if (v instanceof Map<?, ?> m) return m;
    throw wrong(name, "an object");
  }

  public Fields object(String name) {
    Map<?, ?> m = map(name);
    return m.isEmpty() ? NONE : new Fields(m, path + "." + name);
  }
}
