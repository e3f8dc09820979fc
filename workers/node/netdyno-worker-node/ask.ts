import type { Option } from "netdyno-kit";

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
