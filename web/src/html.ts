// HTML by hand. Texts become text nodes, so that a name from a run stays text.

type Child = Node | string | false | undefined;

/** An element with attributes; one that is false or undefined is left out. */
export function html<Name extends keyof HTMLElementTagNameMap>(
	name: Name,
	attributes: Record<string, string | boolean | undefined> = {},
	...children: Child[]
): HTMLElementTagNameMap[Name] {
	const made = document.createElement(name);
	for (const [key, value] of Object.entries(attributes)) {
		if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
	}
	made.append(...children.filter((child) => child !== undefined && child !== false));
	return made;
}

/** A button that copies a text; where the browser forbids that, the text is selected. */
export function copier(textOf: () => string, select: () => void): HTMLElement {
	const status = html("span", { class: "copied", role: "status" });
	const copy = button("Copy", async () => {
		try {
			await navigator.clipboard.writeText(textOf());
			status.textContent = " copied";
		} catch {
			select();
			status.textContent = " selected: press Ctrl+C";
		}
	});
	return html("span", {}, copy, status);
}

/** A button that does something when it is pressed. */
export function button(label: string, press: () => void, attributes: Record<string, string> = {}): HTMLButtonElement {
	const made = html("button", { type: "button", ...attributes }, label);
	made.addEventListener("click", press);
	return made;
}
