// A load generator for k6: every user sends a text of 100 B and, to each answer, the next.
//
//	k6 run --vus 10 --iterations 10 -e SERVER=HOST:PORT -e SECONDS=3 peers/websocket.js
import ws from "k6/ws"; // takes less CPU than k6/websockets

const text = "x".repeat(100);

export default function () {
	ws.connect(`ws://${__ENV.SERVER}/`, {}, (socket) => {
		socket.on("open", () => socket.send(text));
		socket.on("message", () => socket.send(text));
		socket.setTimeout(() => socket.close(), __ENV.SECONDS * 1000);
	});
}
