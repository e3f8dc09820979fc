package dev.netdyno.kit;

import java.util.Arrays;

/**
 * Slots by when they are due, earliest first, of one event loop, which alone uses it. It
 * does not allocate once grown.
 */
public final class Agenda {
  /** What a slot that waits belongs to. */
  interface Waiter {
    void due(Slot slot);

    void cancel(Slot slot);
  }

  private long[] dues = new long[16];
  private Waiter[] waiters = new Waiter[16];
  private Slot[] slots = new Slot[16];
  private int size;
  private final Alarm alarm;
  private final int number;

  /** The agenda of a loop that the alarm wakes by its number. */
  public Agenda(Alarm alarm, int number) {
    this.alarm = alarm;
    this.number = number;
  }

  void push(long due, Waiter waiter, Slot slot) {
    if (size == dues.length) {
      dues = Arrays.copyOf(dues, 2 * size);
      waiters = Arrays.copyOf(waiters, 2 * size);
      slots = Arrays.copyOf(slots, 2 * size);
    }
    int i = size++;
    for (; i > 0 && dues[(i - 1) / 2] > due; i = (i - 1) / 2) move((i - 1) / 2, i);
    put(i, due, waiter, slot);
    if (i == 0) alarm.set(number, due);
  }

  private void move(int from, int to) {
    put(to, dues[from], waiters[from], slots[from]);
  }

  private void put(int i, long due, Waiter waiter, Slot slot) {
    dues[i] = due;
    waiters[i] = waiter;
    slots[i] = slot;
  }

  private void pop() {
    size--;
    long due = dues[size];
    int i = 0;
    while (2 * i + 1 < size) {
      int child = 2 * i + 1;
      if (child + 1 < size && dues[child + 1] < dues[child]) child++;
      if (due <= dues[child]) break;
      move(child, i);
      i = child;
    }
    put(i, due, waiters[size], slots[size]);
    waiters[size] = null;
    slots[size] = null;
  }

  /** Has what is due now sent. Call it when the alarm rings, and whenever the loop has been at work. */
  public void fire() {
    if (size == 0) return;
    long now = Load.now();
    while (size > 0 && dues[0] <= now) {
      Waiter waiter = waiters[0];
      Slot slot = slots[0];
      pop();
      waiter.due(slot);
    }
    if (size > 0 && alarm.due(number) != dues[0]) alarm.set(number, dues[0]);
  }

  /** Lets go of every slot that is due later than now, because the load has ended. */
  public void end() {
    release(null, Load.now());
    fire();
  }

  /** Lets go of the slots of a connection that was lost. */
  void drop(Waiter waiter) {
    release(waiter, Long.MIN_VALUE);
  }

  /** Lets go of the slots of a waiter, or of all, that are due later than an instant. */
  private void release(Waiter of, long after) {
    int n = size;
    long[] d = Arrays.copyOf(dues, n);
    Waiter[] w = Arrays.copyOf(waiters, n);
    Slot[] s = Arrays.copyOf(slots, n);
    size = 0;
    for (int i = 0; i < n; i++) {
      if (d[i] > after && (of == null || of == w[i])) {
        w[i].cancel(s[i]);
      } else {
        push(d[i], w[i], s[i]);
      }
    }
  }
}
