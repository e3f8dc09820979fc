import { constants, PerformanceObserver } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";

/** V8's own figures, as far as it tells them: allocations and the CPU time of its helper threads it does not. */
export interface RuntimeReading {
	gc_cycles: number;
	gc_pause_ns: number;
	heap_bytes: number;
	heap_sys_bytes: number;
}

interface GcDetail {
	kind: number;
}

/** Counts the garbage collections of this process from its making on. */
export class Runtime {
	private cycles = 0;
	private pauseMs = 0;
	private readonly observer = new PerformanceObserver((list) => this.take(list.getEntries()));

	constructor() {
		this.observer.observe({ entryTypes: ["gc"] });
	}

	read(): RuntimeReading {
		this.take(this.observer.takeRecords());
		const heap = getHeapStatistics();
		return {
			gc_cycles: this.cycles,
			gc_pause_ns: Math.round(this.pauseMs * 1e6),
			heap_bytes: heap.used_heap_size + heap.external_memory,
			heap_sys_bytes: heap.total_heap_size,
		};
	}

	private take(entries: readonly { duration: number; detail?: unknown }[]): void {
		for (const entry of entries) {
			this.pauseMs += entry.duration;
			// A step of an incremental collection is a pause of the same cycle.
			if ((entry.detail as GcDetail | undefined)?.kind !== constants.NODE_PERFORMANCE_GC_INCREMENTAL) this.cycles++;
		}
	}
}
