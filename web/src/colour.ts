// Colours that carry an amount or a kind rather than an arm. They are the
// same in light and dark, so that what is written on them stays readable.

// Viridis, even to the eye and readable with any colour vision. Source: Smith
// and van der Walt, "A Better Default Colormap for Matplotlib", SciPy 2015.
const viridis = ["440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725"];

type Light = [number, number, number];

const lights = (hex: string): Light =>
	[0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Light;

/** The colour of an amount from 0 to 1. */
export function amountColour(amount: number): string {
	const place = Math.min(1, Math.max(0, amount)) * (viridis.length - 1);
	const below = Math.min(viridis.length - 2, Math.floor(place));
	const [from, to] = [lights(viridis[below] ?? ""), lights(viridis[below + 1] ?? "")];
	const mixed = from.map((light, i) => Math.round(light + (place - below) * ((to[i] ?? 0) - light)));
	return `#${mixed.map((light) => light.toString(16).padStart(2, "0")).join("")}`;
}

/** The class of text that reads best on a colour: by its contrast ratio with black and white (WCAG 2.2, relative luminance). */
export function inkOn(colour: string): string {
	const [red, green, blue] = lights(colour.slice(1)).map((light) => {
		const part = light / 255;
		return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
	}) as unknown as Light;
	const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
	return 1.05 / (luminance + 0.05) >= (luminance + 0.05) / 0.05 ? "on-dark" : "on-light";
}
