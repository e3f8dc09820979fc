// An echo over WebSocket by Node and ws: node echo.js PORT
const { WebSocketServer } = require("ws");
const server = new WebSocketServer({ host: "127.0.0.1", port: Number(process.argv[2]), perMessageDeflate: false });
server.on("connection", (c) => c.on("message", (data, binary) => c.send(data, { binary })));
