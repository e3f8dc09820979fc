import { runWorker } from "netdyno-kit";
import undici from "undici/package.json" with { type: "json" };
import { nodeHttp1 } from "./http1.js";
import { nodeHttp2 } from "./http2.js";
import { nodeNet } from "./net.js";

const libraries = [
	{ name: "node", version: process.versions.node },
	{ name: "undici", version: undici.version },
];
runWorker({ name: "netdyno-worker-node", version: "0.1.0", libraries }, [nodeNet, nodeHttp1, nodeHttp2]);
