// A page of JSON by Node and express: node express.js PORT
const app = require("express")();
app.get("/block", (_, reply) => reply.json({ id: 7, item: "tea" })); // what make bench asks everybody for
app.get("/orders/:id", (request, reply) => reply.json({ id: request.params.id, item: "tea" }));
app.get("/events", (_, reply) => {
	reply.set("Content-Type", "text/event-stream");
	let n = 0;
	const timer = setInterval(() => (++n > 10 ? reply.end(clearInterval(timer)) : reply.write(`data: ${n}\n\n`)), 10);
});
app.listen(Number(process.argv[2]), "127.0.0.1");
