"""Programs on the bare libraries, without the kit: bare.py KIND [ADDRESS]. A server prints its address; a client goes on until it is ended."""

import asyncio
import concurrent.futures
import socket
import sys

from netdyno_kit.content import random

SIZE, CONNECTIONS = 100, 8
BODY = bytes(SIZE)
REPLY = random("d", SIZE)


def listening():
    sock = socket.create_server(("127.0.0.1", 0), backlog=4096)
    sock.setblocking(False)
    print("127.0.0.1:%d" % sock.getsockname()[1], flush=True)
    return sock


class Echo(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.transport.write(data)


async def app(scope, receive, send):
    message = await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/octet-stream"), (b"content-length", b"100")]})
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
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
    print(f"127.0.0.1:{port}", flush=True)
    Granian("bare:app", "127.0.0.1", port, interface="asginl", http="1", loop="uvloop", websockets=False, log_enabled=False).serve()


def handlers(grpc, call):
    import exchange_pb2 as pb
    handler = grpc.unary_unary_rpc_method_handler(call, pb.Block.FromString, pb.Block.SerializeToString)
    return (grpc.method_handlers_generic_handler("netdyno.v1.Exchange", {"Unary": handler}),)


def grpcio_server(_):
    import exchange_pb2 as pb
    import grpc
    reply = pb.Block(content=random("d", SIZE))
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(10))
    server.add_generic_rpc_handlers(handlers(grpc, lambda request, context: reply))
    print("127.0.0.1:%d" % server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    server.wait_for_termination()


async def grpc_aio_server(_):
    import exchange_pb2 as pb
    import grpc.aio
    reply = pb.Block(content=random("d", SIZE))

    async def unary(request, context):
        return reply
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(handlers(grpc, unary))
    print("127.0.0.1:%d" % server.add_insecure_port("127.0.0.1:0"), flush=True)
    await server.start()
    await server.wait_for_termination()


class Client(asyncio.Protocol):
    """Sends again when all has come: no clock is read, and nothing is kept."""

    def connection_made(self, transport):
        self.write, self.got = transport.write, 0
        self.write(BODY)

    def data_received(self, data):
        self.got += len(data)
        if self.got >= SIZE:
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
        call = await one()
        while True:
            await call()
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
    request = pb.Block(content=random("u", SIZE))

    async def one():
        channel = grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])
        unary = channel.unary_unary("/netdyno.v1.Exchange/Unary", pb.Block.SerializeToString, pb.Block.FromString)
        return lambda: _awaited(unary, request)
    asyncio.run(calls(one))


def grpcio_client(_, address):
    import threading

    import exchange_pb2 as pb
    import grpc
    request = pb.Block(content=random("u", SIZE))

    def again():
        channel = grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])
        unary = channel.unary_unary("/netdyno.v1.Exchange/Unary", pb.Block.SerializeToString, pb.Block.FromString)
        while True:
            unary(request)
    for _ in range(CONNECTIONS):
        threading.Thread(target=again).start()


async def _awaited(unary, request):
    return await unary(request)


SERVERS = {"asyncio": asyncio_server, "asyncio-uvloop": asyncio_server, "uvicorn": uvicorn_server, "granian": granian_server, "grpcio": grpcio_server, "grpc-aio": lambda kind: asyncio.run(grpc_aio_server(kind))}
CLIENTS = {"asyncio": asyncio_client, "asyncio-uvloop": asyncio_client, "aiohttp": aiohttp_client, "grpcio": grpcio_client, "grpc-aio": grpc_aio_client}

if __name__ == "__main__":
    if len(sys.argv) == 2:
        SERVERS[sys.argv[1]](sys.argv[1])
    else:
        CLIENTS[sys.argv[1]](sys.argv[1], sys.argv[2])
