package dev.netdyno.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Agendas give slots in the order of their due times, and alarms ring for them. */
class AgendaTest {
  private static Slot[] slots(int n) {
    return new Load(Vectors.setup(1L, Map.of("up_bytes", 1L, "down_bytes", 1L), Map.of("connections", (long) n)), 1, true).slots;
  }

  private record Recorder(List<Slot> fired, List<Slot> canceled) implements Agenda.Waiter {
    Recorder() {
      this(new ArrayList<>(), new ArrayList<>());
    }

    @Override
    public void due(Slot s) {
      fired.add(s);
    }

    @Override
    public void cancel(Slot s) {
      canceled.add(s);
    }
  }

  @Test
  void earliestFirst() {
    Random random = new Random(71);
    for (int round = 0; round < 100; round++) {
      Slot[] slots = slots(1 + random.nextInt(100));
      Agenda agenda = new Agenda(new Alarm(() -> {}), 0);
      Recorder recorder = new Recorder();
      Map<Slot, Long> dues = new java.util.IdentityHashMap<>();
      for (Slot s : slots) {
        dues.put(s, Load.now() - random.nextInt(1000));
        agenda.push(dues.get(s), recorder, s);
      }
      agenda.fire();
      assertEquals(slots.length, recorder.fired().size());
      for (int i = 1; i < slots.length; i++) assertTrue(dues.get(recorder.fired().get(i - 1)) <= dues.get(recorder.fired().get(i)));
    }
  }

  @Test
  void theEndLetsGoOfWhatIsDueLater() {
    Slot[] slots = slots(50);
    Agenda agenda = new Agenda(new Alarm(() -> {}), 0);
    Recorder recorder = new Recorder();
    for (int i = 0; i < 50; i++) agenda.push(Load.now() + (i % 2 == 0 ? -1000 : 1_000_000_000_000L), recorder, slots[i]);
    agenda.end();
    assertEquals(25, recorder.fired().size());
    assertEquals(25, recorder.canceled().size());
  }

  @Test
  void aLostConnectionTakesItsSlotsAlong() {
    Slot[] slots = slots(51);
    Agenda agenda = new Agenda(new Alarm(() -> {}), 0);
    Recorder lost = new Recorder();
    Recorder kept = new Recorder();
    for (int i = 0; i < 51; i++) agenda.push(Load.now() - i, i % 3 == 0 ? lost : kept, slots[i]);
    agenda.drop(lost);
    assertEquals(17, lost.canceled().size());
    agenda.fire();
    assertEquals(34, kept.fired().size());
    assertEquals(0, lost.fired().size());
  }

  @Test
  void theAlarmRingsForEachLoop() throws InterruptedException {
    CountDownLatch rang = new CountDownLatch(2);
    Alarm alarm = new Alarm(rang::countDown, rang::countDown);
    alarm.set(1, Load.now() + 2_000_000);
    alarm.set(0, Load.now() + 1_000_000);
    assertTrue(rang.await(10, TimeUnit.SECONDS));
  }
}
