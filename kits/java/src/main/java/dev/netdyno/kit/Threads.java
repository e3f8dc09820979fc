package dev.netdyno.kit;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.atomic.AtomicLong;

/** What newer runtimes than Java 17 have, by method handles. */
public final class Threads {
  private static final MethodHandle START_VIRTUAL = startVirtual();
  private static final MethodHandle TOTAL_ALLOCATED = totalAllocated();
  private static final AtomicLong VIRTUAL = new AtomicLong();

  private Threads() {}

  private static MethodHandle startVirtual() {
    try {
      return MethodHandles.publicLookup()
          .findStatic(Thread.class, "startVirtualThread", MethodType.methodType(Thread.class, Runnable.class));
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }

  private static MethodHandle totalAllocated() {
    try {
      return MethodHandles.publicLookup()
          .findVirtual(com.sun.management.ThreadMXBean.class, "getTotalThreadAllocatedBytes", MethodType.methodType(long.class));
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }

  static long totalAllocated(com.sun.management.ThreadMXBean threads) {
    if (TOTAL_ALLOCATED == null) return -1;
    try {
      return (long) TOTAL_ALLOCATED.invoke(threads);
    } catch (Throwable e) {
      return -1;
    }
  }

  /** Whether this runtime has virtual threads (Java 21, JEP 444; 19 and 20 only as a preview). */
  public static boolean haveVirtual() {
    return Runtime.version().feature() >= 21 && START_VIRTUAL != null;
  }

  /** How many virtual threads that start has begun are alive. */
  static long virtual() {
    return VIRTUAL.get();
  }

  /** Runs a task on a thread of its own. */
  public static void start(boolean virtual, String name, Runnable task) {
    if (!virtual) {
      Thread t = new Thread(null, task, name, 256 << 10);
      t.setDaemon(true);
      t.start();
      return;
    }
    VIRTUAL.incrementAndGet();
    Runnable counted = () -> {
      try {
        task.run();
      } finally {
        VIRTUAL.decrementAndGet();
      }
    };
    try {
      Thread unused = (Thread) START_VIRTUAL.invokeExact(counted);
    } catch (Throwable e) {
      throw new IllegalStateException("start a virtual thread", e);
    }
  }
}
