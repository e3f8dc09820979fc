package dev.netdyno.kit;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.MemoryUsage;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Readings of this process and its runtime. One thread uses it. */
final class Readings {
  private final OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private final List<GarbageCollectorMXBean> collectors = ManagementFactory.getGarbageCollectorMXBeans();
  private final MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
  private final com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
  private long allocated;

  /** The names of the collectors that run, as Java gives them. */
  static String collectors() {
    StringBuilder names = new StringBuilder();
    for (GarbageCollectorMXBean c : ManagementFactory.getGarbageCollectorMXBeans()) {
      names.append(names.isEmpty() ? "" : ", ").append(c.getName());
    }
    return names.toString();
  }

  Map<String, Object> read(Counts counts) {
    Map<String, Object> reading = new LinkedHashMap<>();
    reading.put("at_ns", Load.now());
    reading.put("cpu_ns", Math.max(0, system.getProcessCpuTime())); // in steps of 10 ms
    reading.put("counts", counts.toMap());
    reading.put("runtime", runtime());
    return reading;
  }

  Map<String, Object> runtime() {
    long cycles = 0;
    long pauseMs = 0;
    for (GarbageCollectorMXBean c : collectors) {
      // Collectors that work beside the program have a bean for their cycles and one for their pauses.
      String name = c.getName();
      if (!name.endsWith("Pauses")) cycles += Math.max(0, c.getCollectionCount());
      if (!name.endsWith("Cycles") && !name.contains("Concurrent")) pauseMs += Math.max(0, c.getCollectionTime());
    }
    MemoryUsage heap = memory.getHeapMemoryUsage();
    Map<String, Object> r = new LinkedHashMap<>();
    r.put("gc_cycles", cycles);
    r.put("gc_pause_ns", pauseMs * 1_000_000);
    r.put("alloc_bytes", allocatedBytes());
    r.put("heap_bytes", heap.getUsed());
    r.put("heap_sys_bytes", heap.getCommitted());
    r.put("goroutines", threads.getThreadCount() + Threads.virtual());
    return r;
  }

  /** What all threads have allocated; where Java cannot tell of ended ones, the most that live ones had. */
  private long allocatedBytes() {
    long sum = Threads.totalAllocated(threads);
    if (sum < 0) {
      sum = 0;
      for (long n : threads.getThreadAllocatedBytes(threads.getAllThreadIds())) sum += Math.max(0, n);
    }
    allocated = Math.max(allocated, sum);
    return allocated;
  }
}
