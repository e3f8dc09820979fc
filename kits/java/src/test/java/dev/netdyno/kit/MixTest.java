package dev.netdyno.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Classes are counted, their deadlines end exchanges, and a server's work takes the time that was drawn. */
class MixTest {
  private static final long END = 1L << 32;

  private static Setup mixing(Map<String, Object> load) {
    Map<String, Object> all = new java.util.HashMap<>(load);
    all.put("classes", List.of(Map.of("name", "small", "end", END / 2, "up_bytes", 10L, "down_bytes", 100L),
        Map.of("name", "slow", "end", END, "up_bytes", 0L, "down_bytes", 4000L, "deadline_ns", 3_000_000L)));
    return Vectors.setup(7L, Map.of("up_bytes", 10L, "down_bytes", 4000L), all);
  }

  @Test
  void theClassesSumsAreTheWholes() {
    Load load = new Load(mixing(Map.of("connections", 4L, "rate", 1e6)), 2, false);
    load.start();
    load.open(Load.now());
    long[] begun = new long[2];
    for (int i = 0; i < 2000; i++) {
      Slot s = load.slots[i % 4];
      long due = s.next(Load.now());
      begun[s.draw().kind]++;
      if (i % 10 == 0) {
        s.fail(Failure.peer("gone"));
      } else {
        s.done(due + 1000, due + 1000 + s.draw().kind * 1_000_000, s.draw().down);
      }
    }
    Fields r = new Fields(load.result(), "");
    long[] sums = new long[4];
    List<Fields> classes = r.objects("classes");
    for (int i = 0; i < 2; i++) {
      Fields c = classes.get(i);
      assertEquals(begun[i], c.integer("exchanges") + c.integer("errors"));
      assertTrue(begun[i] > 900, "classes of equal weight");
      assertTrue(c.has("service") && c.has("response"));
      String[] names = {"exchanges", "sent_bytes", "received_bytes", "errors"};
      for (int k = 0; k < 4; k++) sums[k] += c.integer(names[k]);
    }
    Fields counts = r.object("counts");
    assertEquals(List.of(counts.integer("exchanges"), counts.integer("sent_bytes"), counts.integer("received_bytes"), 200L),
        List.of(sums[0], sums[1], sums[2], sums[3]));
    assertEquals(2, r.objects("bins").size());
  }

  /** A client without a network, whose exchanges of class slow are never answered. */
  private static final class Silent extends LoopClient {
    private final ExecutorService loop = Executors.newSingleThreadExecutor(task -> {
      Thread t = new Thread(task, "loop");
      t.setDaemon(true);
      return t;
    });
    private final CountDownLatch late = new CountDownLatch(5);

    Silent(Setup setup) {
      super(setup, 1);
    }

    @Override
    protected void execute(int i, Runnable task) {
      loop.execute(task);
    }

    @Override
    protected void open(int i, Addresses.Route to) {
      verified(null);
    }

    @Override
    protected void disconnect() {}

    @Override
    protected void begin(int i) {
      new Caller(this, i, load().slots(i)[0], true) {
        @Override
        protected void call() {
          sent();
          if (slot.draw().kind == 0) client.executeOn(connection, () -> replied(100));
        }

        @Override
        protected void late() {
          late.countDown();
        }
      }.begin();
    }
  }

  @Test
  void aDeadlineEndsTheExchangeAndTheSlotGoesOn() throws Exception {
    Setup setup = new Setup(Map.of("transport", "t", "role", "client", "seed", 7L, "peers", List.of("127.0.0.1:1"),
        "exchange", Map.of("up_bytes", 10L, "down_bytes", 4000L), "load",
        Map.of("connections", 1L, "classes", List.of(Map.of("name", "small", "end", END / 2, "up_bytes", 10L, "down_bytes", 100L, "deadline_ns", 60_000_000_000L),
            Map.of("name", "slow", "end", END, "up_bytes", 0L, "down_bytes", 4000L, "deadline_ns", 3_000_000L)))));
    Silent client = new Silent(setup);
    client.connect();
    client.load().start();
    client.load().open(Load.now());
    Thread run = new Thread(() -> {
      try {
        client.run();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    });
    run.start();
    assertTrue(client.late.await(20, TimeUnit.SECONDS));
    client.load().end(Load.now());
    run.join(20_000);
    Fields r = new Fields(client.load().result(), "");
    assertTrue(r.objects("classes").get(1).integer("errors") >= 5);
    assertEquals("no reply within the deadline of 3.00 ms", r.objects("reasons").get(0).text("text"));
    assertEquals("timeout", r.objects("reasons").get(0).text("kind"));
  }

  private static Service working(String by, long ns) {
    return Service.of(new Setup(Map.of("transport", "t", "role", "server", "seed", 1L, "work",
        Map.of("by", by, "ns", List.of(List.of(END, ns, ns))))));
  }

  @Test
  void workTakesItsTime() throws Exception {
    Service works = working("cpu", 3_000_000);
    works.serve(); // what is loaded at first is no part of it
    long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    works.serve();
    long took = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before;
    assertTrue(took >= 2_990_000, "3 ms of work took " + took + " ns of CPU time");

    Service sleeps = working("sleep", 5_000_000);
    CountDownLatch woke = new CountDownLatch(1);
    long began = System.nanoTime();
    sleeps.serve(woke::countDown);
    assertTrue(woke.await(20, TimeUnit.SECONDS));
    assertTrue(System.nanoTime() - began >= 5_000_000);
    began = System.nanoTime();
    sleeps.serve();
    assertTrue(System.nanoTime() - began >= 5_000_000);

    assertThrows(Failure.class, () -> working("cpu", 4_000_000_001L));
    assertThrows(Failure.class, () -> working("magic", 1));
  }
}
