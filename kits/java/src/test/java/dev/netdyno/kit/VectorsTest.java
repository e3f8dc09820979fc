package dev.netdyno.kit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.zip.Inflater;
import org.junit.jupiter.api.Test;

/** The files of contract/vectors that concern a kit. */
class VectorsTest {
  private static Failure.Kind kind(String text) {
    for (Failure.Kind k : Failure.Kind.values()) if (k.text.equals(text)) return k;
    throw new IllegalArgumentException(text);
  }

  @Test
  void lines() throws Exception {
    int n = 0;
    for (Fields v : Vectors.list("lines")) {
      if (!v.text("to").equals("worker")) continue;
      n++;
      Object line = v.has("parts") ? v.list("parts") : v.text("line");
      String text = Vectors.text(line) + (v.truth("torn") ? "" : "\n");
      Lines.Message m = new Lines(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8))).read();
      String wrong = m.wrong();
      try {
        if (wrong == null && m.name().equals("setup")) new Setup(m.body());
        if (wrong == null && m.name().equals("mark")) {
          new Fields(m.body(), "mark").integer("id");
          new Fields(m.body(), "mark").truth("reset");
        }
      } catch (Failure e) {
        wrong = e.getMessage();
      }
      if (v.has("message")) {
        assertNull(wrong, v.text("name"));
        assertEquals(v.text("message"), m.name(), v.text("name"));
      } else {
        assertNotNull(wrong, v.text("name"));
      }
    }
    assertTrue(n > 40);
  }

  @Test
  void histograms() throws Exception {
    for (Fields v : Vectors.list("hist")) {
      Histogram h = new Histogram();
      for (Object pair : v.list("values")) h.record(Vectors.longs(pair).get(0), Vectors.longs(pair).get(1));
      assertEquals(v.text("payload"), HexFormat.of().formatHex(h.payload()), v.text("name"));
      ByteBuffer text = ByteBuffer.wrap(Base64.getDecoder().decode(h.encode()));
      assertEquals(0x1c849314, text.getInt());
      Inflater inflater = new Inflater();
      byte[] packed = new byte[text.getInt()];
      text.get(packed);
      inflater.setInput(packed);
      byte[] payload = new byte[h.payload().length];
      assertEquals(payload.length, inflater.inflate(payload));
      assertArrayEquals(h.payload(), payload);
    }
  }

  @Test
  void streams() throws Exception {
    for (Fields v : Vectors.fields((List<?>) ((Map<?, ?>) Vectors.read("stream")).get("cases"))) {
      Content c = Content.stream(v.integer("bytes"), v.count("chunk_bytes"), v.text("direction").equals("up") ? 1 : 2);
      assertEquals(v.text("crc32c"), String.format("%08x", c.sum(c.bytes)));
      byte[] first = new byte[(int) Math.min(16, c.bytes)];
      for (int i = 0; i < first.length; i++) first[i] = c.block[c.offset(i)];
      assertEquals(v.text("first"), HexFormat.of().formatHex(first));
    }
  }

  @Test
  void draws() throws Exception {
    Map<?, ?> all = (Map<?, ?>) Vectors.read("sizes");
    for (Fields v : Vectors.fields((List<?>) all.get("streams"))) {
      long state = Drawer.at(v.unsigned("seed"), v.integer("stream") - 1);
      List<String> outputs = v.texts("outputs");
      for (int n = 0; n < outputs.size(); n++) assertEquals(outputs.get(n), String.format("%016x", Drawer.at(state, n)));
    }
    for (Fields v : Vectors.fields((List<?>) all.get("draws"))) {
      long[][] table = Vectors.table(((Map<?, ?>) all.get("tables")).get(v.text("name")));
      Drawer.check("t", table, Setup.MAX_MESSAGE);
      Drawer up = new Drawer(table, v.unsigned("seed"), Drawer.UP);
      Drawer down = new Drawer(table, v.unsigned("seed"), Drawer.DOWN);
      List<?> numbers = v.list("numbers");
      for (int i = 0; i < numbers.size(); i++) {
        long n = ((Number) numbers.get(i)).longValue();
        assertEquals(v.list("up_bytes").get(i), up.draw(n), v.text("name"));
        assertEquals(v.list("down_bytes").get(i), down.draw(n), v.text("name"));
      }
    }
    for (Object o : (List<?>) all.get("refused")) {
      Map<?, ?> v = (Map<?, ?>) o;
      long[][] table = Vectors.table(v.containsKey("table") ? v.get("table") : v.get("many"));
      assertThrows(Failure.class, () -> Drawer.check("t", table, Setup.MAX_MESSAGE), v.toString());
    }
  }

  private static Load mixed(Fields v, Map<?, ?> plan, long up, long down) {
    Object seed = v.has("seed") ? v.number("seed") : (Object) 1L;
    Map<String, Object> load = new HashMap<>(Map.of("connections", 4L));
    plan.forEach((k, x) -> load.put((String) k, x));
    return new Load(Vectors.setup(seed, Map.of("up_bytes", up, "down_bytes", down), load), 1, false);
  }

  private static void refused(Map<?, ?> all, long up, long down) {
    List<Fields> refused = Vectors.fields((List<?>) all.get("refused"));
    assertTrue(refused.size() > 0);
    for (Fields v : refused) {
      Failure f = assertThrows(Failure.class, () -> mixed(v, v.map("load"), up, down), v.text("name"));
      assertEquals(Failure.Kind.SETUP, f.kind, v.text("name"));
    }
  }

  @Test
  void mixes() throws Exception {
    Map<?, ?> all = (Map<?, ?>) Vectors.read("mix");
    for (Fields v : Vectors.fields((List<?>) all.get("draws"))) {
      Draw got = mixed(v, (Map<?, ?>) all.get("load"), 1024, 1048576).draws.draw(v.unsigned("number"), new Draw());
      String name = v.number("seed") + " " + v.number("number");
      assertEquals(v.integer("class"), got.kind, name);
      assertEquals(v.integer("up_bytes"), got.up, name);
      assertEquals(v.integer("down_bytes"), got.down, name);
      assertEquals(v.integer("key"), got.key, name);
    }
    refused(all, 1024, 1048576);
  }

  @Test
  void pauses() throws Exception {
    Map<?, ?> all = (Map<?, ?>) Vectors.read("think");
    for (Fields v : Vectors.fields((List<?>) all.get("cases"))) {
      Load load = mixed(v, v.map("load"), 0, 300);
      load.start();
      for (int i = 0; i < v.list("slots").size(); i++) {
        long now = load.startNs;
        for (Object o : (List<?>) v.list("slots").get(i)) {
          List<Long> x = Vectors.longs(o);
          long due = load.slots[i].next(now);
          assertEquals(x, List.of((long) load.slots[i].draw().kind, due - load.startNs));
          now = due + v.integer("service_ns");
          load.slots[i].done(due, now, load.slots[i].draw().down);
        }
      }
    }
    refused(all, 0, 300);
  }

  @Test
  void schedules() throws Exception {
    Map<?, ?> all = (Map<?, ?>) Vectors.read("schedule");
    for (Fields v : Vectors.fields((List<?>) all.get("schedules"))) {
      Map<String, Object> plan = new HashMap<>();
      v.map("load").forEach((k, x) -> plan.put((String) k, x));
      plan.put("connections", v.integer("slots"));
      Load load = new Load(Vectors.setup(v.number("seed"), Map.of("up_bytes", 1L, "down_bytes", 1L), plan), 1, false);
      for (Fields of : Vectors.fields(v.list("slots_due"))) {
        Schedule s = load.scheduleOf(of.count("slot"));
        long k = 0;
        for (Object pair : of.list("due_ns")) {
          List<Long> due = Vectors.longs(pair);
          for (; k < due.get(0); k++) s.advance();
          long want = due.get(1) == null ? Schedule.Warp.NEVER : due.get(1);
          assertEquals(want, s.peek(), v.text("name") + " slot " + of.count("slot") + " k " + k);
        }
      }
    }
    for (Fields v : Vectors.fields((List<?>) all.get("refused"))) {
      Map<String, Object> plan = new HashMap<>();
      v.map("load").forEach((k, x) -> plan.put((String) k, x));
      plan.put("connections", 1L);
      assertThrows(Failure.class, () -> new Load(Vectors.setup(1L, Map.of("up_bytes", 1L), plan), 1, false), v.text("name"));
    }
  }

  @Test
  void bins() throws Exception {
    Map<?, ?> all = (Map<?, ?>) Vectors.read("bins");
    for (Fields v : Vectors.fields((List<?>) all.get("bins"))) {
      int bin = Bins.binOf(v.integer("bytes"));
      assertEquals(v.integer("from_bytes"), Bins.fromBytes(bin));
      assertEquals(v.integer("to_bytes"), Bins.toBytes(bin));
    }
    for (Fields v : Vectors.fields((List<?>) all.get("waiting"))) {
      Bins.Waits waits = new Bins.Waits(new Slot[0]);
      for (Object o : v.list("others")) {
        List<Long> other = Vectors.longs(o);
        waits.ended(Bins.binOf(other.get(0)), other.get(1), other.get(2));
      }
      boolean behind = waits.behind(Bins.binOf(v.integer("bytes")), Bins.binOf(v.integer("largest_bytes")), v.integer("due"), v.integer("sent"));
      assertEquals(v.truth("behind"), behind, v.text("name"));
    }
  }

  @Test
  void arrivals() throws Exception {
    for (Fields v : Vectors.list("arrivals")) {
      long[] sent = Vectors.longs(v.list("sent")).stream().mapToLong(n -> n).toArray();
      Map<String, Object> got = Outcome.gaps(sent, v.integer("from_ns"), v.integer("until_ns"));
      if (!v.has("arrivals")) {
        assertNull(got, v.text("name"));
        continue;
      }
      Fields want = v.object("arrivals");
      for (String k : List.of("gaps", "sum_ns", "stretch_ns")) assertEquals(want.integer(k), got.get(k), v.text("name"));
      assertEquals(1, (double) got.get("sum_squares_ns2") / want.real("sum_squares_ns2"), 1e-12, v.text("name"));
    }
  }

  private static Load load(int slots, long down) {
    return new Load(Vectors.setup(1L, Map.of("up_bytes", 1L, "down_bytes", down), Map.of("connections", (long) slots)), 1, false);
  }

  @Test
  void inside() throws Exception {
    for (Fields v : Vectors.list("inside")) {
      Load load = load(v.list("exchanges").size(), 1);
      load.open(v.integer("from_ns"));
      int i = 0;
      List<Runnable> later = new ArrayList<>();
      for (Object o : v.list("exchanges")) {
        List<Long> x = Vectors.longs(o);
        Slot s = load.slots[i++];
        s.started = true;
        s.next(x.get(0));
        s.free = x.get(0);
        Runnable done = () -> s.done(x.get(1), x.get(2), 1);
        if (x.get(2) > v.integer("to_ns")) {
          later.add(done);
        } else {
          done.run();
        }
      }
      load.end(v.integer("to_ns"));
      later.forEach(Runnable::run);
      Fields got = new Fields((Map<?, ?>) load.result().get("inside"), "");
      Fields want = v.object("inside");
      for (String k : List.of("exchanges", "cycles", "idle_ns")) assertEquals(want.real(k), got.real(k), 1e-8, v.text("name") + " " + k);
    }
  }

  @Test
  void lengths() throws Exception {
    for (Fields v : Vectors.list("lengths")) {
      Load load = load(1, v.integer("down_bytes"));
      Slot s = load.slots[0];
      exchange(s, v.list("before"));
      load.open(Load.now());
      exchange(s, v.list("window"));
      s.next(Load.now());
      s.cancel();
      List<?> drained = v.list("drained");
      Load drains = load;
      drains.end(Load.now());
      for (Object n : drained) s.done(Load.now(), Load.now(), (Long) n);
      Object got = load.result().get("lengths");
      if (!v.has("values")) {
        assertNull(got, v.text("name"));
        continue;
      }
      Histogram want = new Histogram();
      for (Object pair : v.list("values")) want.record(Vectors.longs(pair).get(0), Vectors.longs(pair).get(1));
      assertEquals(want.encode(), got, v.text("name"));
    }
  }

  private static void exchange(Slot s, List<?> lengths) {
    for (Object n : lengths) {
      s.next(Load.now());
      s.done(Load.now(), Load.now(), (Long) n);
    }
  }

  @Test
  void reasons() throws Exception {
    for (Fields v : Vectors.list("reasons")) {
      Reasons reasons = new Reasons();
      for (Fields f : Vectors.fields(v.list("failures"))) {
        for (long i = 0; i < f.integer("count"); i++) reasons.add(kind(f.text("kind")), f.text("text"));
      }
      StringBuilder got = new StringBuilder();
      Json.write(got, reasons.most());
      List<Object> order = new ArrayList<>(v.list("reasons"));
      assertEquals(order, Json.parse(got.toString()), v.text("name"));
    }
  }

  @Test
  void sent() throws Exception {
    for (Fields v : Vectors.list("sent")) {
      int n = v.count("slots");
      Load load = load(n, 1);
      boolean[] out = new boolean[n];
      load.start();
      for (Object o : v.list("steps")) {
        List<?> step = (List<?>) o;
        int i = step.size() > 1 ? ((Long) step.get(1)).intValue() : 0;
        Slot s = load.slots[i];
        switch ((String) step.get(0)) {
          case "begin" -> {
            s.next(Load.now());
            out[i] = false;
          }
          case "out" -> out[i] = true;
          case "done" -> s.done(Load.now(), Load.now(), 1);
          case "fail" -> s.fail(Failure.Kind.PEER, "x", out[i]);
          case "open" -> load.open(Load.now());
          default -> load.end(Load.now());
        }
      }
      for (int i = 0; i < n; i++) load.slots[i].breakOff(out[i]);
      load.end(Load.now());
      Fields got = new Fields(load.sent(), "");
      for (String k : List.of("before", "window", "drain")) {
        assertEquals(v.object("sent").integer(k), got.integer(k), v.text("name") + " " + k);
      }
    }
    assertTrue(Arrays.asList(Failure.Kind.values()).contains(kind("bug")));
  }
}
