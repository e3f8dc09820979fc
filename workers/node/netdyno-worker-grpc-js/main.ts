import grpc from "@grpc/grpc-js/package.json" with { type: "json" };
import { runWorker } from "netdyno-kit";
import protobufjs from "protobufjs/package.json" with { type: "json" };
import { grpcJs } from "./grpc.js";

const libraries = [
	{ name: "node", version: process.versions.node },
	{ name: "@grpc/grpc-js", version: grpc.version },
	{ name: "protobufjs", version: protobufjs.version },
];
runWorker({ name: "netdyno-worker-grpc-js", version: "0.1.0", libraries }, [grpcJs]);
