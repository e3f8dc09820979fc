import { ofTrial } from "./marks";
import type { Series } from "./page";
import { Grid } from "./panels";
import { fromZero, short } from "./scale";
import { armClass, drawing, element, hint, path, text } from "./svg";

const joined = (...parts: (string | undefined)[]): string => parts.filter((part) => part).join(", ");

/** The rate over time: a panel per arm, a faint line per trial. */
export function drawSeries(series: Series, width: number, title: string): SVGElement {
	const points = series.panels.flatMap((panel) => panel.lines.flat());
	const most = Math.max(...points.map(([, rate]) => rate)) / series.scale.factor;
	const end = Math.max(...points.map(([at]) => at));
	const grid = new Grid(series.panels, most, width, 18);
	const svg = drawing(width, grid.height, title);
	svg.append(text(0, 10, series.axis, "start", "soft"));
	series.panels.forEach((each, i) => {
		const shade = element("rect", { class: "band" });
		svg.append(shade);
		const panel = grid.panel(svg, i);
		const x = fromZero(end, panel.left, panel.right, Math.max(2, (panel.right - panel.left) / 60));
		const at = (seconds: number) => panel.left + (seconds / end) * (panel.right - panel.left);
		const [from, to] = series.window;
		if (to > from) {
			for (const [key, value] of [
				["x", at(from)],
				["y", panel.top],
				["width", at(to) - at(from)],
				["height", panel.bottom - panel.top],
			] as const) {
				shade.setAttribute(key, value.toFixed(1));
			}
		}
		for (const tick of x.ticks.filter((tick) => tick <= end)) {
			svg.append(text(at(tick), panel.bottom + 15, `${short(tick)}${tick === 0 ? "" : " s"}`, "middle", "soft"));
		}
		each.lines.forEach((trial, n) => {
			const placed = trial.map(([seconds, rate]): [number, number] => [
				at(seconds),
				panel.y(rate / series.scale.factor),
			]);
			svg.append(
				element(
					"path",
					{ d: path(placed), class: `${armClass(each.arm)} trace stroke`, ...ofTrial(each.trials[n]) },
					hint(joined(each.name, each.trials[n])),
				),
			);
		});
	});
	return svg;
}
