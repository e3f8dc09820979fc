package dev.netdyno.kit;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The contract's state machine: it speaks the lines, owns the state, and calls the transport.
 *
 * <pre>
 *   born ─hello→ idle ─setup/ready→ ready ─start→ running ─mark(reset)→ window ─mark, stop/result→ done ─EOF→ exit
 * </pre>
 *
 * One thread reads stdin, one prepares the end and runs a client's load, one drives the state.
 */
public final class Worker {
  private static final long TICK_NS = 200_000_000;

  private final String name;
  private final String version;
  private final List<Transport> transports;
  private final Map<String, String> libraries = new LinkedHashMap<>();
  private final LinkedBlockingQueue<Runnable> events = new LinkedBlockingQueue<>();

  // Of the thread that drives the state.
  private OutputStream out;
  private int exit = -1;
  private Setup setup;
  private Transport.Server server;
  private Transport.Client client;
  private Readings readings;
  private boolean started;
  private boolean stopping;
  private boolean done;
  private long overdueNs = Long.MAX_VALUE;

  public Worker(String name, String version, Transport... transports) {
    this.name = name;
    this.version = version;
    this.transports = List.of(transports);
  }

  /** Names a library that the worker links. */
  public Worker library(String name, String version) {
    libraries.put(name, version == null ? "" : version);
    return this;
  }

  /** Speaks the contract on the process's stdin and stdout, and ends the process. */
  public void main() {
    FileOutputStream stdout = new FileOutputStream(FileDescriptor.out);
    System.setOut(System.err); // stdout is for messages only
    Thread.setDefaultUncaughtExceptionHandler((t, e) -> {
      e.printStackTrace();
      Throwable why = Failure.explained(e); // now, while it is so
      events.add(() -> fail(why != e ? why : new Failure(Failure.Kind.BUG, "thread " + t.getName() + ": " + Failure.textOf(e))));
    });
    Runtime.getRuntime().halt(run(new FileInputStream(FileDescriptor.in), stdout));
  }

  /** Speaks the contract until in ends, and returns the exit status: 0, or 1 after a fatal error. */
  public int run(InputStream in, OutputStream to) {
    out = to;
    send("hello", hello());
    Thread reader = new Thread(() -> read(in), "stdin");
    reader.setDaemon(true);
    reader.start();
    long next = Load.now() + TICK_NS;
    while (exit < 0) {
      try {
        Runnable event = events.poll(Math.max(0, Math.min(next, overdueNs) - Load.now()), TimeUnit.NANOSECONDS);
        if (event != null) event.run();
      } catch (InterruptedException e) {
        return 1;
      }
      long now = Load.now();
      if (now >= next && exit < 0) {
        tick();
        next = Math.max(next + TICK_NS, now);
      }
      if (now >= overdueNs) {
        overdueNs = Long.MAX_VALUE;
        client.close();
      }
    }
    return exit;
  }

  private void read(InputStream in) {
    Lines lines = new Lines(in);
    try {
      for (Lines.Message m = lines.read(); m != null; m = lines.read()) {
        Lines.Message message = m;
        events.add(() -> handle(message));
        if (m.last()) break;
      }
    } catch (IOException e) {
      // the same as its end
    }
    events.add(() -> exit = 0);
  }

  private Map<String, Object> hello() {
    Map<String, Object> h = new LinkedHashMap<>();
    h.put("contract", 1);
    h.put("worker", name);
    h.put("version", version);
    List<Object> links = new ArrayList<>();
    links.add(Map.of("name", "java", "version", Runtime.version().toString()));
    links.add(Map.of("name", "garbage collector", "version", Readings.collectors()));
    libraries.forEach((k, v) -> links.add(Map.of("name", k, "version", v)));
    h.put("libraries", links);
    List<Object> all = new ArrayList<>();
    for (Transport t : transports) all.add(t.describe().toMap());
    h.put("transports", all);
    return h;
  }

  private void handle(Lines.Message m) {
    if (exit >= 0) return;
    if (m.wrong() != null) {
      complain(m.wrong());
      return;
    }
    try {
      switch (m.name()) {
        case "setup" -> prepare(m.body());
        case "start" -> start();
        case "mark" -> mark(new Fields(m.body(), "mark"));
        case "stop" -> stop();
        default -> complain(m.name() + " is not a command of the bench (CONTRACT.md, section Life)");
      }
    } catch (Failure e) {
      if (e.kind == Failure.Kind.INVALID) {
        complain(e.getMessage());
      } else {
        fail(e);
      }
    }
  }

  private boolean isReady() {
    return server != null || client != null;
  }

  /** Sets up an end beside this thread, so that EOF is heard while ten thousand connections are made. */
  private void prepare(Map<?, ?> body) {
    Setup given = new Setup(body);
    if (setup != null) {
      complain("setup came twice; a worker serves one trial (CONTRACT.md, section setup)");
      return;
    }
    Transport transport = find(given.transport);
    Description d = transport.describe();
    d.able(given);
    given.echoes = d.echoes() && given.exchange.stream.isEmpty();
    given.options = d.complete(given.role, given.options);
    setup = given;
    // Before any class of sockets is there: plain IPv4 ones, as other workers have.
    if (Addresses.onlyFour(given)) System.setProperty("java.net.preferIPv4Stack", "true");
    Thread t = new Thread(() -> {
      try {
        Readings r = new Readings();
        Transport.Server s = given.isServer() ? transport.server(given) : null;
        Transport.Client c = given.isServer() ? null : transport.client(given);
        events.add(() -> introduce(r, s, c));
      } catch (Throwable e) {
        Throwable why = Failure.explained(e);
        events.add(() -> fail(why));
      }
    }, "setup");
    t.setDaemon(true);
    t.start();
  }

  private Transport find(String wanted) {
    List<String> names = new ArrayList<>();
    for (Transport t : transports) {
      if (t.describe().name.equals(wanted)) return t;
      names.add(t.describe().name);
    }
    throw Failure.unsupported("no transport \"" + wanted + "\" here; " + Names.hint(wanted, names));
  }

  private void introduce(Readings r, Transport.Server s, Transport.Client c) {
    readings = r;
    server = s;
    client = c;
    Map<String, Object> ready = new LinkedHashMap<>(s != null ? s.ready() : c.ready());
    if (c != null) {
      ready.put("connections", c.load().plan.connections);
      ready.put("verified", c.load().plan.connections);
    }
    ready.putIfAbsent("options", setup.options);
    ready.putIfAbsent("threads", setup.loops());
    send("ready", ready);
  }

  private void start() {
    if (!isReady()) {
      complain("start came before ready (CONTRACT.md, section Life)");
    } else if (started) {
      complain("start came twice (CONTRACT.md, section start)");
    } else {
      started = true;
      if (client == null) return;
      client.load().start();
      Thread t = new Thread(() -> {
        try {
          client.run();
          events.add(() -> finish(null));
        } catch (Throwable e) {
          events.add(() -> finish(e));
        }
      }, "load");
      t.setDaemon(true);
      t.start();
    }
  }

  private Counts counts() {
    if (client == null) return server.counts();
    return adorned(client.load().counts());
  }

  private Counts adorned(Counts counts) {
    counts.connections = client.load().plan.connections;
    counts.redialled = client.redialled();
    return counts;
  }

  private void mark(Fields f) {
    long id = f.integer("id");
    boolean reset = f.truth("reset");
    if (!isReady()) {
      complain("mark came before ready (CONTRACT.md, section Life)");
      return;
    }
    Counts counts = client != null && !done ? adorned(edge(client.load(), reset)) : counts();
    Map<String, Object> m = new LinkedHashMap<>();
    m.put("id", id);
    m.put("reset", reset);
    m.put("reading", readings.read(counts));
    send("mark", m);
  }

  /** Opens or closes the window, and returns the counts of that instant. */
  private static Counts edge(Load load, boolean open) {
    if (open) {
      load.open(Load.now());
      return load.snapshot();
    }
    load.close(Load.now());
    return load.ended() ? load.snapshot() : load.counts();
  }

  private void stop() {
    if (!isReady()) {
      complain("stop came before ready (CONTRACT.md, section Life)");
    } else if (stopping || done) {
      return;
    } else if (client == null) {
      done = true;
      Map<String, Object> r = new LinkedHashMap<>();
      r.put("from_ns", 0);
      r.put("to_ns", 0);
      r.put("counts", server.counts().toMap());
      r.put("runtime", readings.runtime());
      send("result", r);
    } else if (started) {
      stopping = true;
      client.load().end(Load.now());
      overdueNs = Load.now() + client.load().plan.drainNs;
    } else {
      finish(null);
    }
  }

  /** Reports the result of a client whose slots are all let go. */
  private void finish(Throwable failure) {
    if (done || exit >= 0) return;
    if (failure != null) {
      fail(failure);
      return;
    }
    done = true;
    overdueNs = Long.MAX_VALUE;
    Map<String, Object> r = client.load().result();
    if (client.redialled() > 0) {
      @SuppressWarnings("unchecked")
      Map<String, Object> counts = (Map<String, Object>) r.get("counts");
      counts.put("redialled", client.redialled());
    }
    Map<String, Object> sent = client.load().sent();
    sent.put("verify", client.load().plan.connections);
    if (client.again() > 0) sent.put("again", client.again());
    r.put("sent", sent);
    r.put("runtime", readings.runtime());
    send("result", r);
  }

  private void tick() {
    if (done || !isReady() || client != null && !started) return;
    Counts counts = counts();
    Map<String, Object> t = new LinkedHashMap<>();
    t.put("at_ns", Load.now());
    t.put("exchanges", counts.exchanges);
    t.put("received_bytes", counts.receivedBytes);
    t.put("errors", counts.allErrors());
    if (setup.timeline) {
      t.put("runtime", readings.runtime());
      Map<String, Object> times = client == null ? null : client.load().slice();
      if (times != null) t.put("times", times);
    }
    send("tick", t);
  }

  /** Reports a mistake of the bench; the worker lives on. */
  private void complain(String text) {
    send("error", new LinkedHashMap<>(Map.of("kind", "invalid", "text", text, "fatal", false)));
  }

  private void fail(Throwable e) {
    if (exit >= 0) return;
    if (!(e instanceof Failure)) e.printStackTrace();
    Map<String, Object> error = new LinkedHashMap<>();
    error.put("kind", Failure.kindOf(e).text);
    error.put("text", Failure.textOf(e));
    error.put("fatal", true);
    if (client != null && started) {
      Map<String, Object> sent = client.load().sent();
      sent.put("verify", client.load().plan.connections);
      error.put("sent", sent);
    }
    send("error", error);
    exit = 1;
  }

  private void send(String message, Map<String, Object> body) {
    try {
      Lines.write(out, message, body);
    } catch (IOException e) {
      exit = 1; // the bench is gone
    }
  }
}
