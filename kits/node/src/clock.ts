// The worker's clocks, in whole ns as doubles, which are exact for 104 days.
import { performance } from "node:perf_hooks";

/**
 * The worker's monotonic clock in ns since the process began. It is CLOCK_MONOTONIC, read to about 50 ns, and allocates
 * nothing; process.hrtime would make an array and process.hrtime.bigint a bigint for each reading.
 */
export function now(): number {
	return Math.round(performance.now() * 1e6);
}

/** CPU time of this process in ns. Node reads getrusage, whose sum is the process's CPU clock cut to whole µs. */
export function processCpu(): number {
	const { user, system } = process.cpuUsage();
	return (user + system) * 1000;
}
