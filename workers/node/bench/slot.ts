// What a slot's calls cost.
import { Load, parseSetup } from "netdyno-kit";

const BYTES = 100;

/** What next, goesOut and done take together for an exchange, without their two readings of the clock. */
function slotCost(rate: number): number {
	const l = new Load(parseSetup({ exchange: { up_bytes: BYTES, down_bytes: BYTES }, load: { connections: 4, rate } }));
	const used = () => process.cpuUsage().user * 1000;
	l.start(1);
	l.open(2);
	const n = 3_000_000;
	let best = Number.POSITIVE_INFINITY;
	for (let round = 0, at = 1000; round < 5; round++) {
		const from = used();
		for (let i = 0; i < n; i++) {
			const slot = l.slots[i & 3];
			if (slot === undefined) break;
			slot.next(at);
			slot.goesOut();
			at += 1000;
			slot.done(at, at + 30_000, BYTES);
		}
		best = Math.min(best, (used() - from) / n);
	}
	return best;
}

console.log(
	`next + goesOut + done: ${slotCost(0).toFixed(1)} ns in a closed loop, ${slotCost(1e6).toFixed(1)} ns in an open one`,
);
