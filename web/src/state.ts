// What the reader has asked of the page. It stands in the address's fragment, so that
// a view can be sent and Back works, and everything that depends on it is drawn from it:
//
//   #arm=-go-grpc&connections=50,1000&metric=response_p99_us&axis=log&sort=cell-1.1:-2&trial=b01-003

import type { Drawn } from "./page";

export interface State {
	readonly at: string; // the part of the page that was jumped to
	readonly hidden: readonly string[]; // arms
	readonly levels: Readonly<Record<string, readonly string[]>>; // shown, by factor; all of a factor that is absent
	readonly metric: string; // of the charts by trial; "" for the study's own
	readonly axis: "" | "linear" | "log"; // "" as the report chose
	readonly sort: string; // a table, a column, and "-" for falling: "cell-1.1:-2"
	readonly trials: string; // whose list is open: cell/arms, and /block for one block
	readonly trial: string; // that is open
}

export const asked: State = { at: "", hidden: [], levels: {}, metric: "", axis: "", sort: "", trials: "", trial: "" };

/** What may stand in a fragment: all else in it is ignored. */
export interface Known {
	arms: string[];
	factors: Record<string, string[]>;
	metrics: string[];
	trials: Set<string>;
	cells: number;
}

export function knownOf({ arms, trials }: Drawn): Known {
	return {
		arms: arms.map((arm) => arm.name),
		factors: Object.fromEntries((trials?.factors ?? []).map((factor) => [factor.name, factor.levels])),
		metrics: (trials?.metrics ?? []).map((metric) => metric.name),
		trials: new Set((trials?.all ?? []).map((trial) => trial.id)),
		cells: trials?.cells.length ?? 0,
	};
}

/** A list of trials: those of some arms in a cell, of one block or of all. */
export interface Listed {
	cell: number; // from 1
	arms: string[];
	block?: number;
}

// Letters that a fragment may hold as they are, and a reader likes to see.
const encode = (text: string): string => encodeURIComponent(text).replace(/%20/g, "+").replace(/%3A/g, ":");

function decode(text: string): string {
	try {
		return decodeURIComponent(text.replace(/\+/g, " "));
	} catch {
		return "";
	}
}

const words = (text: string): string[] => text.split(",").map(decode);

export const listText = ({ cell, arms, block }: Listed): string =>
	[cell, arms.map(encode).join(","), ...(block ? [block] : [])].join("/");

export function listOf(text: string, known: Known): Listed | undefined {
	const [cell, arms, block] = text.split("/");
	const listed = { cell: Number(cell), arms: words(arms ?? "").filter((arm) => known.arms.includes(arm)) };
	if (!(listed.cell >= 1 && listed.cell <= known.cells) || listed.arms.length === 0) return undefined;
	return Number(block) > 0 ? { ...listed, block: Number(block) } : listed;
}

export function parse(fragment: string, known: Known): State {
	const text = fragment.replace(/^#/, "");
	if (!text.includes("=")) return { ...asked, at: decode(text) };
	const said = new Map<string, string>();
	for (const part of text.split("&")) {
		const [key, ...value] = part.split("=");
		said.set(decode(key ?? ""), value.join("="));
	}
	const word = (key: string, fits: (value: string) => boolean): string => {
		const value = decode(said.get(key) ?? "");
		return fits(value) ? value : "";
	};
	const levels: Record<string, string[]> = {};
	for (const [factor, all] of Object.entries(known.factors)) {
		const shown = words(said.get(factor) ?? "").filter((level) => all.includes(level));
		if (shown.length > 0 && shown.length < all.length) levels[factor] = shown;
	}
	const trials = said.get("trials") ?? "";
	return {
		at: word("at", () => true),
		hidden: words(said.get("arm") ?? "")
			.filter((arm) => arm.startsWith("-") && known.arms.includes(arm.slice(1)))
			.map((arm) => arm.slice(1)),
		levels,
		metric: word("metric", (name) => known.metrics.includes(name)),
		axis: word("axis", (axis) => axis === "linear" || axis === "log") as State["axis"],
		sort: word("sort", (sort) => /^[\w-]+\.\w+:-?\d+$/.test(sort)),
		trials: listOf(trials, known) ? trials : "",
		trial: word("trial", (id) => known.trials.has(id)),
	};
}

/** The fragment of a state, without its "#"; empty when nothing is asked. */
export function format(state: State): string {
	const parts: string[] = [];
	const add = (key: string, value: string): void => {
		if (value !== "") parts.push(`${encode(key)}=${value}`);
	};
	add("arm", state.hidden.map((arm) => encode(`-${arm}`)).join(","));
	for (const [factor, levels] of Object.entries(state.levels)) add(factor, levels.map(encode).join(","));
	add("metric", encode(state.metric));
	add("axis", state.axis);
	add("sort", encode(state.sort));
	add("trials", state.trials);
	add("trial", encode(state.trial));
	if (parts.length === 0) return encode(state.at);
	add("at", encode(state.at));
	return parts.join("&");
}

type Listener = (now: State, before: State) => void;

/** The one place where the state is kept and changed. */
export class Store {
	private current: State;
	private readonly listeners: Listener[] = [];

	constructor(readonly known: Known) {
		this.current = parse(location.hash, known);
		for (const event of ["popstate", "hashchange"]) addEventListener(event, () => this.take());
	}

	get state(): State {
		return this.current;
	}

	/** Calls a listener now, and after every change. */
	follow(listener: Listener): void {
		this.listeners.push(listener);
		listener(this.current, asked);
	}

	/** Changes a part of the state: one step for Back. */
	change(part: Partial<State>): void {
		const fragment = format({ ...this.current, ...part });
		if (fragment === format(this.current)) return;
		history.pushState(null, "", fragment === "" ? location.href.replace(/#.*/s, "") : `#${fragment}`);
		this.take();
	}

	/** The address of the page with a part of the state changed. */
	address(part: Partial<State>): string {
		return `#${format({ ...this.current, ...part })}`;
	}

	private take(): void {
		const before = this.current;
		this.current = parse(location.hash, this.known);
		if (format(before) === format(this.current)) return;
		for (const listener of this.listeners) listener(this.current, before);
	}
}
