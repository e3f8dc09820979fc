import { runWorker } from "netdyno-kit";
import { nodeNet } from "./net.js";

runWorker({ name: "netdyno-worker-node", version: "0.1.0", libraries: [{ name: "node", version: process.versions.node }] }, [nodeNet]);
