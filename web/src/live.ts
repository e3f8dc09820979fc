// Follows a run: the server sends each part of the page anew, as HTML that it made
// printable and escaped, when what the part shows has changed.

const address = document.body.dataset.events;

/** Says what became of the connection; nothing while it is there. */
function tell(text: string): void {
	const place = document.getElementById("connection");
	if (!place) return;
	place.textContent = text;
	place.hidden = text === "";
}

function follow(from: string): void {
	const source = new EventSource(from);
	const parts = document.querySelectorAll<HTMLElement>("[data-part]");
	for (const part of parts) {
		source.addEventListener(part.dataset.part ?? "", (event) => {
			part.innerHTML = event.data;
		});
	}
	source.addEventListener("open", () => tell(""));
	source.addEventListener("gone", (event) => tell(`The run cannot be read any more: ${event.data}`));
	source.addEventListener("over", () => source.close());
	source.addEventListener("error", () => {
		const refused = source.readyState === EventSource.CLOSED;
		tell(refused ? "The server refused to go on; load the page again." : "The connection is lost; trying again …");
	});
}

if (address) follow(address);
document.documentElement.classList.add("complete");
