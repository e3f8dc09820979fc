package dev.netdyno.kit;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the bench asks a worker to do in one trial (CONTRACT.md, section setup). */
public final class Setup {
  public static final long MAX_MESSAGE = 1L << 30;

  public final String trial;
  public final String transport;
  public final String role;
  public final long seed;
  public final String listen;
  public final int listeners;
  public final List<String> allow;
  public final List<String> peers;
  public final List<String> sources;
  public final int threads;
  public final boolean timeline;
  public final Exchange exchange;
  public final Plan load;
  /** What is to encrypt; null for nothing. */
  public final Tls tls;
  /** Given values by name; after the worker has completed them, Long, Double, Boolean and String. */
  public Map<String, Object> options = new LinkedHashMap<>();

  final Work work; // null where a server is told none
  boolean echoes; // a reply is as long as its request, by the transport's wire

  /** The unit of work. Sizes are of payload; where a codec decides them, encoded() replaces them. */
  public static final class Exchange {
    public long upBytes;
    public long downBytes;
    public final String codec;
    public final String stream;
    public final int chunkBytes;
    public final long[][] upSizes;
    public final long[][] downSizes;
    public final Message message;

    Exchange(Fields f) {
      upBytes = f.integer("up_bytes");
      downBytes = f.integer("down_bytes");
      codec = f.text("codec");
      stream = f.text("stream");
      chunkBytes = f.count("chunk_bytes");
      upSizes = f.triples("up_sizes");
      downSizes = f.triples("down_sizes");
      message = f.has("message") ? new Message(f.object("message")) : null;
    }

    /** Tells whether content is codec bytes. */
    public boolean plain() {
      return codec.isEmpty() || codec.equals("bytes");
    }
  }

  /** A message that a codec encodes: types with their values as JSON. */
  public static final class Message {
    public final String name;
    public final String upType;
    public final Object upJson;
    public final String downType;
    public final Object downJson;
    public final boolean own;

    Message(Fields f) {
      name = f.text("name");
      Fields up = f.object("up");
      Fields down = f.object("down");
      upType = up.text("type");
      downType = down.text("type");
      upJson = content(up);
      downJson = content(down);
      own = !f.text("descriptors").isEmpty();
    }

    private static Object content(Fields side) {
      return side.text("json");
    }
  }

  /** A kind of exchange of a mix (MIXES.md, section Classes). */
  public static final class MixClass {
    public final String name;
    public final long end;
    public final long upBytes;
    public final long downBytes;
    public final long[][] upSizes;
    public final long[][] downSizes;
    public final String method;
    public final String path;
    public final int status;
    public final long deadlineNs;
    public final long thinkNs;

    MixClass(Fields f) {
      name = f.text("name");
      end = f.integer("end");
      upBytes = f.integer("up_bytes");
      downBytes = f.integer("down_bytes");
      upSizes = f.triples("up_sizes");
      downSizes = f.triples("down_sizes");
      method = f.text("method");
      path = f.text("path");
      status = f.count("status");
      deadlineNs = f.integer("deadline_ns");
      thinkNs = f.integer("think_ns");
    }
  }

  /** What a server does for each exchange (MIXES.md, section Work). */
  static final class Work {
    final String by;
    final long[][] ns;

    Work(Fields f) {
      by = f.text("by");
      ns = f.triples("ns");
    }
  }

  /** The load of a client. Defaults are filled in by Load. */
  public static final class Plan {
    public final int connections;
    public int inFlight;
    public final double rate;
    public String arrival;
    public final long thinkNs;
    public double activeShare;
    public final boolean fresh;
    public final long amount;
    public long drainNs;
    public final long[][] gaps;
    public final double[][] phases;
    public final boolean repeat;
    public final List<MixClass> classes;
    public final long[][] keys;
    final boolean trace;

    Plan(Fields f) {
      connections = f.count("connections");
      inFlight = f.count("in_flight");
      rate = f.real("rate");
      arrival = f.text("arrival");
      thinkNs = f.integer("think_ns");
      activeShare = f.real("active_share");
      fresh = f.truth("fresh");
      amount = f.integer("amount");
      drainNs = f.integer("drain_ns");
      gaps = f.triples("gaps");
      phases = f.realTriples("phases");
      repeat = f.truth("repeat");
      classes = f.objects("classes").stream().map(MixClass::new).toList();
      keys = f.triples("keys");
      trace = f.has("trace");
    }

    /** Whether any class has a deadline. */
    public boolean deadlines() {
      return classes.stream().anyMatch(c -> c.deadlineNs > 0);
    }

    /** Whether slots pause after exchanges of any class. */
    boolean thinks() {
      return classes.stream().anyMatch(c -> c.thinkNs > 0);
    }
  }

  /** Reads a setup. A wrong type is a Failure of kind invalid, an impossible count one of kind setup. */
  public Setup(Map<?, ?> body) {
    Fields f = new Fields(body, "setup");
    trial = f.text("trial");
    transport = f.text("transport");
    role = f.text("role");
    seed = f.unsigned("seed");
    listen = f.text("listen");
    listeners = f.count("listeners");
    allow = f.texts("allow");
    peers = f.texts("peers");
    sources = f.texts("sources");
    threads = f.count("threads");
    timeline = f.truth("timeline");
    exchange = new Exchange(f.object("exchange"));
    load = new Plan(f.object("load"));
    for (Map.Entry<?, ?> e : f.map("options").entrySet()) options.put((String) e.getKey(), e.getValue());
    tls = f.has("tls") ? new Tls(f.object("tls")) : null;
    work = f.has("work") ? new Work(f.object("work")) : null;
  }

  public boolean isServer() {
    return role.equals("server");
  }

  /** The threads or loops that do the work. */
  public int loops() {
    return threads > 0 ? threads : Runtime.getRuntime().availableProcessors();
  }

  public long number(String option) {
    return ((Number) options.get(option)).longValue();
  }

  public String text(String option) {
    return (String) options.get(option);
  }

  public boolean truth(String option) {
    return (Boolean) options.get(option);
  }
}
