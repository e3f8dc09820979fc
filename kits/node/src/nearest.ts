/** The candidate that is nearest to word by Levenshtein's distance; empty where none is near. */
export function nearest(word: string, candidates: readonly string[]): string {
	if (word.length > 64) return "";
	let best = "";
	let least = Math.max(1, Math.floor(word.length / 2)) + 1;
	for (const candidate of candidates) {
		const distance = levenshtein(word, candidate);
		if (distance < least) {
			least = distance;
			best = candidate;
		}
	}
	return best;
}

function levenshtein(a: string, b: string): number {
	let row = Array.from({ length: b.length + 1 }, (_, i) => i);
	for (let i = 1; i <= a.length; i++) {
		const next = [i];
		for (let j = 1; j <= b.length; j++) {
			const swapped = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
			next.push(Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, swapped));
		}
		row = next;
	}
	return row[b.length] as number;
}
