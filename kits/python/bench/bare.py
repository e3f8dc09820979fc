"""Programs on the bare libraries, without the kit.

bare.py server PORT BYTES KIND
bare.py client PORT CONNECTIONS BYTES SECONDS KIND      prints {"exchanges": N} in the end
"""

import asyncio
import concurrent.futures
import json
import os
import pathlib
import socket
import sys
import threading

TREE = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(TREE / "workers" / "python" / "grpcio"))  # exchange_pb2

SERVES, PORT, KIND = sys.argv[1] == "server", int(sys.argv[2]), sys.argv[-1]
CONNECTIONS, SIZE, SECONDS = (0, int(sys.argv[3]), 0) if SERVES else map(int, sys.argv[3:6])
BODY = REPLY = bytes(SIZE)
done = 0  # exchanges of a client


def listening():
    sock = socket.create_server(("127.0.0.1", PORT), backlog=4096)
    sock.setblocking(False)
    return sock


class Echo(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.transport.write(data)


async def app(scope, receive, send):
    message = await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/octet-stream"), (b"content-length", b"%d" % SIZE)]})
    await send({"type": "http.response.body", "body": REPLY if len(message["body"]) == SIZE else b""})


def loop_of(kind):
    if kind.endswith("uvloop"):
        import uvloop
        return uvloop.new_event_loop()
    return asyncio.new_event_loop()


def asyncio_server(kind):
    loop = loop_of(kind)
    loop.run_until_complete(loop.create_server(Echo, sock=listening()))
    loop.run_forever()


def uvicorn_server(_):
    import uvicorn
    config = uvicorn.Config(app, http="httptools", loop="uvloop", lifespan="off", access_log=False, log_level="warning", ws="none")
    uvicorn.Server(config).run([listening()])


def granian_server(_):
    from granian import Granian
    Granian("bare:app", "127.0.0.1", PORT, interface="asginl", http="1", loop="uvloop", websockets=False, log_enabled=False).serve()


def handlers(grpc, call):
    import exchange_pb2 as pb
    handler = grpc.unary_unary_rpc_method_handler(call, pb.Block.FromString, pb.Block.SerializeToString)
    return (grpc.method_handlers_generic_handler("netdyno.v1.Exchange", {"Unary": handler}),)


def grpcio_server(_):
    import exchange_pb2 as pb
    import grpc
    reply = pb.Block(content=REPLY)
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(10))
    server.add_generic_rpc_handlers(handlers(grpc, lambda request, context: reply))
    server.add_insecure_port(f"127.0.0.1:{PORT}")
    server.start()
    server.wait_for_termination()


async def grpc_aio_server(_):
    import exchange_pb2 as pb
    import grpc.aio
    reply = pb.Block(content=REPLY)

    async def unary(request, context):
        return reply
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(handlers(grpc, unary))
    server.add_insecure_port(f"127.0.0.1:{PORT}")
    await server.start()
    await server.wait_for_termination()


class Client(asyncio.Protocol):
    """Sends again when all has come: no clock is read, and one number is kept."""

    def connection_made(self, transport):
        self.write, self.got = transport.write, 0
        self.write(BODY)

    def data_received(self, data):
        global done
        self.got += len(data)
        if self.got >= SIZE:
            done += 1
            self.got -= SIZE
            self.write(BODY)


def asyncio_client(kind, address):
    host, port = address.split(":")

    async def main():
        for _ in range(CONNECTIONS):
            await asyncio.get_running_loop().create_connection(Client, host, int(port))
        await asyncio.Event().wait()
    loop_of(kind).run_until_complete(main())


async def calls(one):
    async def again():
        global done
        call = await one()
        while True:
            await call()
            done += 1
    await asyncio.gather(*(again() for _ in range(CONNECTIONS)))


def aiohttp_client(_, address):
    import aiohttp

    async def one():
        session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=1))

        async def call():
            async with session.post(f"http://{address}/exchange", data=BODY, headers={"Content-Type": "application/octet-stream"}) as reply:
                await reply.read()
        return call
    loop_of("uvloop").run_until_complete(calls(one))


def grpc_aio_client(_, address):
    import exchange_pb2 as pb
    import grpc.aio
    request = pb.Block(content=BODY)

    async def one():
        channel = grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])
        unary = channel.unary_unary("/netdyno.v1.Exchange/Unary", pb.Block.SerializeToString, pb.Block.FromString)
        return lambda: _awaited(unary, request)
    asyncio.run(calls(one))


def grpcio_client(_, address):
    import exchange_pb2 as pb
    import grpc
    request = pb.Block(content=BODY)

    def again():
        channel = grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])
        unary = channel.unary_unary("/netdyno.v1.Exchange/Unary", pb.Block.SerializeToString, pb.Block.FromString)
        global done
        while True:
            unary(request)
            done += 1
    for _ in range(CONNECTIONS):
        threading.Thread(target=again).start()


async def _awaited(unary, request):
    return await unary(request)


def count():
    """Tells how many exchanges a client has made, and ends it."""
    print(json.dumps({"exchanges": done}), flush=True)
    os._exit(0)


SERVERS = {"asyncio": asyncio_server, "asyncio-uvloop": asyncio_server, "uvicorn": uvicorn_server, "granian": granian_server, "grpcio": grpcio_server, "grpc-aio": lambda kind: asyncio.run(grpc_aio_server(kind))}
CLIENTS = {"asyncio": asyncio_client, "asyncio-uvloop": asyncio_client, "uvicorn": aiohttp_client, "granian": aiohttp_client, "grpcio": grpcio_client, "grpc-aio": grpc_aio_client}

if __name__ == "__main__" and SERVES:
    SERVERS[KIND](KIND)
elif __name__ == "__main__":
    threading.Timer(SECONDS, count).start()
    CLIENTS[KIND](KIND, f"127.0.0.1:{PORT}")
