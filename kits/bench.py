#!/usr/bin/env python3
"""Each arm of a kit beside a bare program on the same library: arm ÷ bare, with the interval, of the rate and of CPU time for each exchange.

    bench.py LANGUAGE [ARM...]      LANGUAGE: rust, java, python, node; make -C kits/LANGUAGE bench builds what it needs

An arm is a study of its own that netdyno runs, half a minute to a minute: BLOCKS (6) blocks, each with the bare program twice. A ratio of the rate from
0.97 on, and one of CPU time up to 1.03, is what a kit may cost. Reports are in build/kits/bench.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
NETDYNO = os.environ.get("NETDYNO") or ROOT / "bin" / "netdyno"
SIZE = 100  # bytes of a message, either way
HTTP1, HTTP2, GRPC = "http/1.1", "h2c", "grpc:netdyno.v1"


def pair(program, kit, wire="echo", more=""):
    """An arm both of whose ends have a bare counterpart, by one program; more is what it is told beside."""
    return {"bare": {"transport": "exec", "opt.server.wire": wire, "opt.server.command": f"{program} server {{port}} {SIZE} {more}",
                     "opt.client.command": f"{program} client {{port}} {{connections}} {SIZE} {{seconds}} {more}", "opt.client.requests": "json:exchanges"}, "kit": kit}


def rust():
    built = pathlib.Path(os.environ.get("TARGET") or ROOT / "kits/rust/target").resolve() / "release" / "examples"
    return {"connections": 50, "warmup": "200ms", "window": "500ms"}, {
        "tokio": pair(built / "bare_tokio", {"transport": "tokio"}),
        "monoio": pair(built / "bare_monoio", {"transport": "monoio"}),
        "hyper-http1": pair(built / "bare_hyper", {"transport": "hyper-http1"}, HTTP1, "1"),
        "hyper-http2": pair(built / "bare_hyper", {"transport": "hyper-http2"}, HTTP2, "2"),
        "tonic": pair(built / "bare_tonic", {"transport": "tonic"}, GRPC)}


def java():
    def server(worker, program, wire, client, kit):
        path = f"{ROOT}/kits/java/target/bench:{ROOT}/workers/java/{worker}/target/worker.jar"
        bare = {"server": "exec", "opt.server.wire": wire, "opt.server.command": f"java -XX:-UsePerfData -cp {path} {program} {{port}} {SIZE}"}
        return {"bare": bare, "kit": kit, "hold": client}
    echo, http, grpc = {"client": "asio"}, {"client": "go-http1", "opt.client.verify": "length"}, {"client": "go-grpc", "opt.client.verify": "length"}
    return {"connections": 50, "warmup": "2500ms", "window": "1s"}, {
        "netty": server("netty", "NettyBare", "echo", echo, {"server": "netty", "opt.server.io": "epoll"}),
        "java-threads": server("java-threads", "ThreadsBare", "echo", echo, {"server": "java-threads"}),
        "netty-http1": server("netty", "HttpBare", HTTP1, http, {"server": "netty-http1", "opt.server.io": "epoll"}),
        "vertx-http1": server("vertx", "VertxBare", HTTP1, http, {"server": "vertx-http1"}),
        "grpc-java": server("grpc-java", "GrpcBare", GRPC, grpc, {"server": "grpc-java"})}


def python():
    program = f"{ROOT}/kits/python/.venv/bin/python {ROOT}/kits/python/bench/bare.py"
    return {"connections": 8, "warmup": "900ms", "window": "800ms"}, {
        "asyncio": pair(program, {"transport": "asyncio"}, more="asyncio"),
        "asyncio-uvloop": pair(program, {"transport": "asyncio", "opt.loop": "uvloop"}, more="asyncio-uvloop"),
        "uvicorn": pair(program, {"server": "uvicorn", "client": "aiohttp"}, HTTP1, "uvicorn"),
        "granian": pair(program, {"server": "granian", "client": "aiohttp"}, HTTP1, "granian"),
        "grpcio": pair(program, {"transport": "grpcio"}, GRPC, "grpcio"),
        "grpc-aio": pair(program, {"transport": "grpc-aio"}, GRPC, "grpc-aio")}


def node():
    program = f"node {ROOT}/kits/node/build/bare.cjs"
    return {"connections": 16, "warmup": "900ms", "window": "800ms"}, {
        "node-net": pair(program, {"transport": "node-net"}, more="net"),
        "node-http1": pair(program, {"transport": "node-http1"}, HTTP1, "http1"),
        "node-http2": pair(program, {"transport": "node-http2"}, HTTP2, "http2"),
        "grpc-js": pair(program, {"transport": "grpc-js"}, GRPC, "grpc")}


def run(name, hold, arm):
    """Runs the study of an arm and returns what came out, in a line."""
    ends = ["server"] if "server" in arm["bare"] else ["server", "client"]
    primary = ["exchanges_per_s"] + [f"{end}.cpu_us_per_exchange" for end in ends]
    study = {"study": "kit-" + name, "question": f"What does netdyno's kit cost {name}, beside a bare program on the library?",
             "hold": {"request": f"{SIZE}B", "response": f"{SIZE}B", **hold, **arm.get("hold", {})}, "vary": {"arm": {"bare": arm["bare"], "kit": arm["kit"]}},
             "compare": {"baseline": "bare", "primary": primary, "margin": "3%"}, "blocks": int(os.environ.get("BLOCKS") or 6)}
    results = ROOT / "build" / "kits" / "bench" / f"{study['study']}-{time.time_ns()}"
    results.parent.mkdir(parents=True, exist_ok=True)
    file = results.with_suffix(".yaml")
    file.write_text(json.dumps(study, default=str))
    ended = subprocess.run([str(NETDYNO), "run", str(file), "--out", str(results)], capture_output=True, text=True)
    if not (results / "findings.json").exists():
        return ended.stdout[-500:] + ended.stderr
    found = json.loads((results / "findings.json").read_text())
    said = {c["metric"]: c for c in found["comparisons"] if c["arm"] == "kit"}
    parts = []
    for metric, what in zip(primary, ["rate"] + [f"{end} CPU" for end in ends]):
        c = said.get(metric, {})
        parts.append(f"{what} {c['ratio']:.3f} ({c['low']:.3f}–{c['high']:.3f})" if c.get("ratio") else f"{what} not measured")
    doubt = next((f"; invalid: {c['reason']}" for c in said.values() if c["verdict"] == "invalid"), "")
    return ", ".join(parts) + doubt


def main(language, *names):
    hold, arms = {"rust": rust, "java": java, "python": python, "node": node}[language]()
    for name in names or arms:
        print(f"{language}: {name} ÷ bare: {run(name, hold, arms[name])}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
