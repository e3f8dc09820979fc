// SVG by hand: elements, text that fits, and the shape that belongs to an arm.

type Attributes = Record<string, string | number>;

const namespace = "http://www.w3.org/2000/svg";

export function element(name: string, attributes: Attributes, ...children: (Node | string)[]): SVGElement {
	const made = document.createElementNS(namespace, name);
	for (const [key, value] of Object.entries(attributes)) {
		made.setAttribute(key, typeof value === "number" ? String(Math.round(value * 100) / 100) : value);
	}
	made.append(...children);
	return made;
}

/** A drawing of the given size; label is what a screen reader says. */
export function drawing(width: number, height: number, label: string): SVGElement {
	return element("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
}

export function line(x1: number, y1: number, x2: number, y2: number, className: string): SVGElement {
	return element("line", { x1, y1, x2, y2, class: className });
}

type Anchor = "start" | "middle" | "end";

export function text(x: number, y: number, content: string, anchor: Anchor = "start", className = ""): SVGElement {
	return element("text", { x, y, "text-anchor": anchor, class: className }, content);
}

/** The native tooltip. */
export function hint(content: string): SVGElement {
	return element("title", {}, content);
}

const ruler = document.createElement("canvas").getContext("2d");
// Asked once: every question about style makes the browser settle what was drawn so far.
const family = getComputedStyle(document.body).fontFamily;

/** Width in pixels of figure text. */
export function textWidth(content: string, weight = 400): number {
	if (!ruler) return content.length * 7;
	ruler.font = `${weight} 12px ${family}`;
	return ruler.measureText(content).width;
}

/** What fits of a name into a box of a flame graph, whose hint has all of it. */
export function fit(content: string, width: number): string {
	if (textWidth(content) <= width) return content;
	let cut = content;
	while (cut.length > 1 && textWidth(`${cut}…`) > width) cut = cut.slice(0, -1);
	return `${cut}…`;
}

const lettersOfTwo = 10; // pixels, where a text takes two lines in the place of one

/** A text that is never cut: too long for its place, it stands there in two smaller lines. */
export function fitted(x: number, y: number, content: string, width: number, anchor: Anchor = "start", className = "") {
	const wide = textWidth(content);
	if (wide <= width) return text(x, y, content, anchor, className);
	const middle = content.length / 2;
	const spaces = [...content.matchAll(/[ ,=/]/g)].map((space) => space.index + 1);
	const at = spaces.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle))[0];
	const lines = at ? [content.slice(0, at).trimEnd(), content.slice(at).trimStart()] : [content];
	const letters = Math.min(
		at ? lettersOfTwo : 12,
		(12 * Math.max(width, 1)) / Math.max(...lines.map((each) => textWidth(each))),
	);
	const made = text(x, y, "", anchor, className);
	made.style.fontSize = `${letters}px`;
	made.append(
		...lines.map((each, i) => element("tspan", { x, dy: i ? letters : at ? -letters / 2 : 0 }, each)),
		hint(content),
	);
	return made;
}

export function path(points: [number, number][]): string {
	return points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");
}

const colours = 8;

/** The class that carries an arm's colour. */
export const armClass = (arm: number): string => `arm-${arm % colours}`;

// Seven shapes against eight colours: an arm is known by either alone until
// the seventh, by the pair until the fifty-sixth.
const shapes = [
	(r: number) => `M${-r},0A${r},${r} 0 1 1 ${r},0A${r},${r} 0 1 1 ${-r},0Z`,
	(r: number) => polygon(r * 1.22, 4, Math.PI / 4),
	(r: number) => polygon(r * 1.3, 3, -Math.PI / 2),
	(r: number) => polygon(r * 1.3, 4, 0),
	(r: number) => polygon(r * 1.3, 3, Math.PI / 2),
	(r: number) => polygon(r * 1.15, 5, -Math.PI / 2),
	(r: number) => star(r * 1.35),
];

function polygon(r: number, corners: number, turn: number): string {
	const at = (i: number): [number, number] => {
		const angle = turn + (2 * Math.PI * i) / corners;
		return [r * Math.cos(angle), r * Math.sin(angle)];
	};
	return `${path(Array.from({ length: corners }, (_, i) => at(i)))}Z`;
}

function star(r: number): string {
	const at = (i: number): [number, number] => {
		const angle = -Math.PI / 2 + (Math.PI * i) / 5;
		const reach = i % 2 ? r * 0.45 : r;
		return [reach * Math.cos(angle), reach * Math.sin(angle)];
	};
	return `${path(Array.from({ length: 10 }, (_, i) => at(i)))}Z`;
}

/** The arm's shape around a point, radius about r. */
export function shape(arm: number, x: number, y: number, r: number, className: string): SVGElement {
	const outline = shapes[arm % shapes.length] ?? shapes[0];
	return element("path", {
		d: outline ? outline(r) : "",
		transform: `translate(${x.toFixed(2)},${y.toFixed(2)})`,
		class: `${armClass(arm)} ${className}`,
	});
}
