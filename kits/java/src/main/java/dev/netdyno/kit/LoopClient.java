package dev.netdyno.kit;

import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A client whose connections are served by event loops. A library's own part is to open connection
 * i on loop i % loops, and to hand tasks to a loop.
 */
public abstract class LoopClient implements Transport.Client {
  /** How many connects are outstanding at most. */
  private static final int CONNECTING = 128;
  private static final long CONNECT_NS = 20_000_000_000L;
  private static final long BREAKING_NS = 1_000_000_000L;

  private final Load load;
  private final List<Addresses.Route> routes;
  private final int loops;
  private final Agenda[] agendas;
  private final Connections connections;
  private final AtomicInteger held = new AtomicInteger();
  private final Semaphore over = new Semaphore(0);
  private final Semaphore permits = new Semaphore(CONNECTING);
  private final Semaphore opened = new Semaphore(0);
  private final AtomicReference<Throwable> failed = new AtomicReference<>();

  protected LoopClient(Setup setup, int loops) {
    this(setup, loops, Load.forLoops(setup, loops));
  }

  protected LoopClient(Setup setup, int loops, Load load) {
    this.load = load;
    routes = Addresses.routes(setup);
    this.loops = loops;
    connections = new Connections(load);
    agendas = new Agenda[loops];
    Runnable[] wakes = new Runnable[loops];
    Alarm alarm = new Alarm(wakes);
    for (int i = 0; i < loops; i++) {
      Agenda agenda = new Agenda(alarm, i);
      Runnable fire = agenda::fire;
      int loop = i;
      agendas[i] = agenda;
      wakes[i] = () -> execute(loop, fire);
      load.whenEnded(() -> execute(loop, agenda::end));
    }
  }

  /** Hands a task to a loop. Any thread may call it. */
  protected abstract void execute(int loop, Runnable task);

  /** Begins to open a connection; its pipe is told by verify, a failure by verified. */
  protected abstract void open(int connection, Addresses.Route to);

  /** Asks the slots of a connection for their first exchanges, on its loop: Pipe.begin, Caller.begin. */
  protected abstract void begin(int connection);

  /** Breaks every connection. */
  protected abstract void disconnect();

  /** Hands a task to the loop of a connection. */
  public void executeOn(int connection, Runnable task) {
    execute(connection % loops, task);
  }

  public Agenda agenda(int connection) {
    return agendas[connection % loops];
  }

  public List<Addresses.Route> routes() {
    return routes;
  }

  @Override
  public Load load() {
    return load;
  }

  /** Opens every connection and verifies one exchange on each. */
  public void connect() throws InterruptedException {
    long deadline = Load.now() + CONNECT_NS;
    for (int i = 0; i < routes.size(); i++) {
      if (!permits.tryAcquire(Math.max(0, deadline - Load.now()), TimeUnit.NANOSECONDS)) throw silent();
      rethrow();
      deadline = Load.now() + CONNECT_NS;
      open(i, routes.get(i));
    }
    for (int i = 0; i < routes.size(); i++) {
      if (!opened.tryAcquire(CONNECT_NS, TimeUnit.NANOSECONDS)) throw silent();
      rethrow();
    }
  }

  private Failure silent() {
    return new Failure(Failure.Kind.TIMEOUT, "verify connections: no whole answer came for " + CONNECT_NS / 1_000_000_000
        + " s; does another program listen there?");
  }

  private void rethrow() {
    if (failed.get() instanceof Failure f) throw f;
  }

  /** A connection was verified, or could not be. */
  public void verified(Throwable failure) {
    if (failure != null) failed.compareAndSet(null, failure instanceof Failure ? failure : Failure.peer(Failure.textOf(failure)));
    permits.release(failure == null ? 1 : routes.size());
    opened.release(failure == null ? 1 : routes.size());
  }

  /** So many slots were let go. */
  void let(int n) {
    if (n > 0 && held.addAndGet(-n) == 0) over.release();
  }

  /** Says that a connection does not work any more, and will not be made again. */
  public void lost(int connection) {
    connections.lose(connection);
  }

  public boolean closed() {
    return connections.closed();
  }

  @Override
  public void run() throws InterruptedException {
    held.set(load.slots.length + 1);
    for (int i = 0; i < load.activeConnections(); i++) {
      int connection = i;
      execute(i % loops, () -> begin(connection));
    }
    let(1);
    over.acquire();
    // Connections that this end has broken let go of their slots at once; until then they may still count.
    if (closed() && held.get() > 0) over.tryAcquire(BREAKING_NS, TimeUnit.NANOSECONDS);
    connections.check();
  }

  @Override
  public void close() {
    if (connections.close()) {
      disconnect();
      over.release();
    }
  }
}
