package dev.netdyno.kit;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** Reads and writes the contract's lines (CONTRACT.md, section Lines). */
final class Lines {
  static final int LONGEST = 1 << 20;
  private static final List<String> KEYS =
      List.of("hello", "setup", "ready", "start", "mark", "tick", "stop", "result", "error", "exit", "examine", "examined");

  private final InputStream in;
  private final byte[] buffer = new byte[1 << 16];
  private int from;
  private int to;

  Lines(InputStream in) {
    this.in = in;
  }

  /** A line's message: its key with its object, or what was wrong with the line. */
  record Message(String name, Map<?, ?> body, String wrong, boolean last) {}

  /** The next message; null at the end of the stream. */
  Message read() throws IOException {
    byte[] line = new byte[256];
    int length = 0;
    boolean tooLong = false;
    while (true) {
      if (from == to) {
        from = 0;
        to = in.read(buffer);
        if (to < 0) {
          to = 0;
          if (tooLong) return bad(line, length, "is longer than 1 MiB", true);
          return length == 0 ? null : bad(line, length, "is torn: it has no newline", true);
        }
      }
      int end = from;
      while (end < to && buffer[end] != '\n') end++;
      int n = end - from;
      if (length + n + 1 > LONGEST) {
        tooLong = true;
        n = Math.min(n, 100 - Math.min(100, length));
      }
      if (!tooLong || n > 0) {
        if (length + n > line.length) line = java.util.Arrays.copyOf(line, Math.max(2 * line.length, length + n));
        System.arraycopy(buffer, from, line, length, n);
        length += n;
      }
      boolean whole = end < to;
      from = whole ? end + 1 : end;
      if (whole) return tooLong ? bad(line, length, "is longer than 1 MiB", false) : parse(line, length);
    }
  }

  private static Message bad(byte[] line, int length, String what, boolean last) {
    String begins = new String(line, 0, Math.min(80, length), StandardCharsets.UTF_8);
    return new Message(null, null, "the line \"" + begins + "\" " + what + " (CONTRACT.md, section Lines)", last);
  }

  static Message parse(byte[] line, int length) {
    Object value;
    try {
      value = Json.parse(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(line, 0, length)).toString());
    } catch (Json.Malformed e) {
      return bad(line, length, "is no JSON: " + e.getMessage(), false);
    } catch (CharacterCodingException e) {
      return bad(line, length, "is no UTF-8", false);
    }
    if (!(value instanceof Map<?, ?> map)) return bad(line, length, "is no object", false);
    String name = null;
    for (String k : KEYS) {
      if (!map.containsKey(k)) continue;
      if (name != null) return bad(line, length, "has two messages, " + name + " and " + k, false);
      name = k;
    }
    if (name == null) return bad(line, length, "has no message that is known", false);
    if (!(map.get(name) instanceof Map<?, ?> body)) return bad(line, length, "has a message that is no object", false);
    return new Message(name, body, null, false);
  }

  static void write(OutputStream out, String name, Map<String, Object> body) throws IOException {
    StringBuilder text = new StringBuilder();
    Json.write(text, Map.of(name, body));
    out.write(text.append('\n').toString().getBytes(StandardCharsets.UTF_8));
    out.flush();
  }
}
