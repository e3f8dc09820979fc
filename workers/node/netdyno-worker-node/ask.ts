// What the clients of HTTP ask for, and what they take for an answer.
import { type Drawn, Failure, type Option, type Setup } from "netdyno-kit";
import type { Content } from "../content.js";

/** The options of every HTTP client here. */
export const askOptions: Option[] = [
	{
		name: "path",
		type: "text",
		default: "/exchange",
		roles: ["client"],
		doc: "what the client asks for; our servers answer any path, another's may not",
	},
	{
		name: "verify",
		type: "choice",
		default: "content",
		choices: ["content", "length"],
		roles: ["client"],
		doc: "what is compared before ready: the content that our servers send, or only its length, for a server of yours",
	},
];

/** How exchanges are asked for: all alike, or those of a class. */
export interface Asked {
	method: string;
	/** Of the path; a key stands between them. */
	pieces: string[];
	/** That a reply must have; 0 for any 2xx. */
	status: number;
	/** Whether requests have content. */
	sends: boolean;
	bounded: boolean;
}

/** The requests of a client. */
export class Asks {
	private readonly plain: Asked;
	private readonly byClass: Asked[];

	/** Throws Failure of kind setup. */
	constructor(
		private readonly setup: Setup,
		readonly content: Content,
	) {
		const path = setup.options.path as string;
		const sends = content.structured || content.up.bytes > 0;
		this.plain = { method: sends ? "POST" : "GET", pieces: [path], status: 200, sends, bounded: false };
		this.byClass = setup.load.classes.map((of) => {
			if (of.path !== "" && !of.path.startsWith("/"))
				throw new Failure("setup", `class ${of.name}: path "${of.path.slice(0, 80)}" does not begin with a slash`);
			const filled = of.up_bytes > 0;
			return {
				method: of.method || (filled ? "POST" : "GET"),
				pieces: (of.path || path).split("{key}"),
				status: of.status,
				sends: filled,
				bounded: of.deadline_ns > 0,
			};
		});
	}

	/** How an exchange is asked for. The reply to HEAD has no body, whatever was drawn. */
	of(x: Drawn): Asked {
		const asked = this.byClass[x.kind] ?? this.plain;
		if (asked.method === "HEAD") x.down = 0;
		return asked;
	}

	/** The first exchange of connection i is made by exchange; its reply is compared. */
	async first(i: number, exchange: (x: Drawn) => Promise<Buffer>): Promise<void> {
		const x = this.content.draws.of(i);
		const reply = await exchange(x);
		if (this.setup.options.verify === "content") this.content.verify(reply, x);
		else this.content.accept(reply, x);
	}
}

export function pathOf({ pieces }: Asked, { key }: Drawn): string {
	return pieces.length === 1 ? (pieces[0] as string) : pieces.join(String(key));
}

/** A reply with the status that it must have. Throws Failure of kind invalid. */
export function taken(asked: Asked, status: number, reply: Buffer): Buffer {
	if (asked.status === 0 ? status >= 200 && status < 300 : status === asked.status) return reply;
	const said = reply.subarray(0, 200).toString("utf8").trim();
	throw new Failure("invalid", `the server answered ${status}: ${said}`, `status ${status}`);
}
