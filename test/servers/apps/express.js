// A page of JSON by Node and express: node express.js PORT
const app = require("express")();
app.get("/orders/:id", (request, reply) => reply.json({ id: request.params.id, item: "tea" }));
app.listen(Number(process.argv[2]), "127.0.0.1");
