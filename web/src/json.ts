// JSON text, indented without being read: its numbers and escapes stay as they are.

export function indented(text: string): string {
	let [depth, out] = [0, ""];
	const line = (): string => `\n${" ".repeat(depth)}`;
	for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{[]\s*[}\]]|[{}[\],:]|[^\s{}[\],:"]+/g)) {
		if (token === "{" || token === "[") {
			depth++;
			out += token + line();
		} else if (token === "}" || token === "]") {
			depth--;
			out += line() + token;
		} else if (token === ",") out += token + line();
		else out += token === ":" ? ": " : token;
	}
	return out;
}
