import { Failure, type Setup } from "netdyno-kit";

/** Refuses more threads than the one event loop of a Node.js process. */
export function oneLoop(setup: Setup): void {
	if (setup.threads <= 1) return;
	throw new Failure(
		"unsupported",
		`setup.threads is ${setup.threads}: Node.js has one event loop in a process; expected 0 or 1`,
	);
}
