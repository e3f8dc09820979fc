package dev.netdyno.kit;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON as the contract's lines have it. Values are Map, List, String, Long (BigInteger above 64
 * bits), Double, Boolean and null. It takes 100 levels of nesting and refuses more.
 */
public final class Json {
  private static final int DEEPEST = 128;

  private final String text;
  private int at;
  private int depth;

  private Json(String text) {
    this.text = text;
  }

  /** A text that is no JSON. */
  public static final class Malformed extends Exception {
    private static final long serialVersionUID = 1;

    Malformed(String what) {
      super(what);
    }
  }

  /** Reads one value, which must be the whole text. */
  public static Object parse(String text) throws Malformed {
    Json json = new Json(text);
    Object value = json.value();
    json.space();
    if (json.at < text.length()) throw json.malformed("expected the end of the text");
    return value;
  }

  private Malformed malformed(String what) {
    return new Malformed(what + " at character " + at);
  }

  private void space() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
  }

  private boolean take(char c) {
    space();
    if (at >= text.length() || text.charAt(at) != c) return false;
    at++;
    return true;
  }

  private Object value() throws Malformed {
    space();
    if (at >= text.length()) throw malformed("expected a value");
    char c = text.charAt(at);
    if (c == '{' || c == '[') {
      if (++depth > DEEPEST) throw malformed("nested more than " + DEEPEST + " deep");
      at++;
      Object inner = c == '{' ? object() : array();
      depth--;
      return inner;
    }
    if (c == '"') return string();
    if (c == '-' || c >= '0' && c <= '9') return number();
    if (text.startsWith("true", at)) return word(4, Boolean.TRUE);
    if (text.startsWith("false", at)) return word(5, Boolean.FALSE);
    if (text.startsWith("null", at)) return word(4, null);
    throw malformed("expected a value");
  }

  private Object word(int length, Object value) {
    at += length;
    return value;
  }

  private Map<String, Object> object() throws Malformed {
    Map<String, Object> map = new LinkedHashMap<>();
    if (take('}')) return map;
    do {
      space();
      if (at >= text.length() || text.charAt(at) != '"') throw malformed("expected a key");
      String key = string();
      if (!take(':')) throw malformed("expected a colon");
      map.put(key, value());
    } while (take(','));
    if (!take('}')) throw malformed("expected , or }");
    return map;
  }

  private List<Object> array() throws Malformed {
    List<Object> list = new ArrayList<>();
    if (take(']')) return list;
    do {
      list.add(value());
    } while (take(','));
    if (!take(']')) throw malformed("expected , or ]");
    return list;
  }

  private String string() throws Malformed {
    StringBuilder out = new StringBuilder();
    for (at++; at < text.length(); at++) {
      char c = text.charAt(at);
      if (c == '"') {
        at++;
        return out.toString();
      }
      if (c < ' ') throw malformed("a control character in a text");
      out.append(c == '\\' ? escaped() : c);
    }
    throw malformed("a text that does not end");
  }

  /** Reads what follows a backslash and stays on its last character. */
  private char escaped() throws Malformed {
    if (++at >= text.length()) throw malformed("a text that does not end");
    int known = "\"\\/bfnrt".indexOf(text.charAt(at));
    if (known >= 0) return "\"\\/\b\f\n\r\t".charAt(known);
    if (text.charAt(at) != 'u' || at + 4 >= text.length()) throw malformed("an unknown escape");
    int code = 0;
    for (int i = 1; i <= 4; i++) {
      int digit = Character.digit(text.charAt(at + i), 16);
      if (digit < 0) throw malformed("an unknown escape");
      code = code * 16 + digit;
    }
    at += 4;
    return (char) code;
  }

  private int digits() throws Malformed {
    int from = at;
    while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') at++;
    if (at == from) throw malformed("expected a digit");
    return at - from;
  }

  private Object number() throws Malformed {
    int from = at;
    if (text.charAt(at) == '-') at++;
    boolean zero = at < text.length() && text.charAt(at) == '0';
    if (digits() > 1 && zero) throw malformed("a number that begins with 0");
    boolean whole = true;
    if (at < text.length() && text.charAt(at) == '.') {
      at++;
      digits();
      whole = false;
    }
    if (at < text.length() && (text.charAt(at) | 32) == 'e') {
      at++;
      if (at < text.length() && "+-".indexOf(text.charAt(at)) >= 0) at++;
      digits();
      whole = false;
    }
    String literal = text.substring(from, at);
    if (!whole) return Double.parseDouble(literal);
    if (literal.length() > 400) return Double.POSITIVE_INFINITY;
    BigInteger n = new BigInteger(literal);
    if (n.bitLength() < Long.SIZE) return n.longValue();
    return n;
  }

  /** Writes a value; of its numbers those that are not finite must not be there. */
  public static void write(StringBuilder to, Object value) {
    if (value instanceof Map<?, ?> map) {
      String comma = "{";
      for (Map.Entry<?, ?> e : map.entrySet()) {
        to.append(comma);
        writeText(to, (String) e.getKey());
        write(to.append(':'), e.getValue());
        comma = ",";
      }
      to.append(map.isEmpty() ? "{}" : "}");
    } else if (value instanceof Iterable<?> list) {
      String comma = "";
      to.append('[');
      for (Object item : list) {
        write(to.append(comma), item);
        comma = ",";
      }
      to.append(']');
    } else if (value instanceof CharSequence text) {
      writeText(to, text);
    } else {
      to.append(value); // a number, a truth value or null
    }
  }

  private static void writeText(StringBuilder to, CharSequence text) {
    to.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean alone = Character.isSurrogate(c) && !paired(text, i);
      if (c == '"' || c == '\\') {
        to.append('\\').append(c);
      } else if (c < ' ' || alone) {
        to.append(String.format("\\u%04x", alone ? 0xfffd : (int) c));
      } else {
        to.append(c);
      }
    }
    to.append('"');
  }

  private static boolean paired(CharSequence text, int i) {
    if (Character.isHighSurrogate(text.charAt(i))) {
      return i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1));
    }
    return i > 0 && Character.isHighSurrogate(text.charAt(i - 1));
  }
}
