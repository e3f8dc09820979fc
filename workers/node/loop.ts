import { Failure, type Setup } from "netdyno-kit";

/** Refuses more threads than the one event loop of a Node.js process. */
export function oneLoop(setup: Setup): void {
	if (setup.threads <= 1) return;
	throw new Failure(
		"unsupported",
		`setup.threads is ${setup.threads}: Node.js has one event loop in a process; expected 0 or 1`,
	);
}

/** Refuses several exchanges in flight on a connection that carries one at a time. */
export function oneAtATime({ load }: Setup, why: string): void {
	if (load.in_flight <= 1) return;
	throw new Failure("unsupported", `load.in_flight is ${load.in_flight}: ${why}`);
}

export const FRESH = "with load.fresh a connection carries one exchange";
