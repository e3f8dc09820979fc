// The panel: a list of trials, or one trial. What it shows is in the state, so that
// Back, Escape and a sent address all do what a reader expects.

import { button, html } from "./html";
import { listView } from "./list";
import type { Drawn } from "./page";
import { accountOf } from "./source";
import { listOf, type State, type Store } from "./state";
import { trialView } from "./trial";

export function followPanel(store: Store, drawn: Drawn): void {
	const { trials } = drawn;
	if (!trials) return;
	const content = html("div", { class: "content" });
	const close = button("Close", () => panel.close(), { class: "close" });
	const panel = html("dialog", { class: "panel", "aria-labelledby": "panel-title" }, close, content);
	document.body.append(panel);
	panel.addEventListener("close", () => {
		if (store.state.trial !== "" || store.state.trials !== "") store.change({ trial: "", trials: "" });
	});
	panel.addEventListener("click", (event) => {
		if (event.target === panel) panel.close(); // beside the panel
	});

	const fill = (view: HTMLElement): void => {
		content.replaceChildren(view);
		panel.scrollTop = 0;
		if (!panel.open) panel.showModal();
	};
	store.follow(async (now, before) => {
		if (now.trial === before.trial && now.trials === before.trials) return;
		const trial = trials.all.find((each) => each.id === now.trial);
		const listed = listOf(now.trials, store.known);
		if (trial) {
			const account = await accountOf(trial.id);
			if (stillAsked(store, now)) fill(trialView({ trial, account, drawn, trials, store }));
		} else if (listed) fill(listView(listed, drawn, trials, store));
		else panel.close();
	});
}

/** The reader may have gone on while an account was unpacked. */
const stillAsked = (store: Store, asked: State): boolean => store.state.trial === asked.trial;
