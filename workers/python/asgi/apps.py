"""The same application twice: plain ASGI, and FastAPI as its documentation has it."""

import netdyno_kit as kit
from netdyno_kit.exchange import DOWN_HEADER, Json
from netdyno_kit.processes import EXCHANGES, INVALID, RECEIVED, SENT

try:
    import orjson
except ImportError:
    orjson = None


class JsonFast(Json):
    """orjson."""

    name = "json-fast"

    def encode(self, message):
        return orjson.dumps(message)

    def decode(self, data, like):
        return orjson.loads(data)


CODECS = [Json()] + ([JsonFast()] if orjson else [])


async def answer(x, service, row, body, asked):
    """Returns status and body of the reply to a request, and counts it."""
    try:
        if service:
            await service.serve_on_loop()
        reply = x.respond(body, asked)
    except kit.Failure as failure:
        row[INVALID] += 1
        return 400, failure.text.encode()
    row[RECEIVED] += len(body)
    row[SENT] += len(reply)
    row[EXCHANGES] += 1
    return 200, reply


def plain(x, service, row):
    """An ASGI application without a framework."""
    media_type, asked_name = x.media_type.encode(), DOWN_HEADER.encode()

    async def app(scope, receive, send):
        if scope["type"] != "http":
            return
        message = await receive()
        body = message.get("body", b"")
        if message.get("more_body"):
            pieces = [body]
            while message.get("more_body"):
                message = await receive()
                pieces.append(message.get("body", b""))
            body = b"".join(pieces)
        if message["type"] != "http.request":
            return
        status, reply = (405, b"") if scope["method"] not in ("GET", "POST") else await answer(
            x, service, row, body, dict(scope["headers"]).get(asked_name) if x.asks else None)
        await send({"type": "http.response.start", "status": status,
                    "headers": [(b"content-type", media_type), (b"content-length", b"%d" % len(reply))]})
        await send({"type": "http.response.body", "body": reply})
    return app


def fastapi(x, service, row):
    """A FastAPI application. With codec json it declares its messages as pydantic models, as FastAPI's users do."""
    from fastapi import FastAPI, Request, Response
    from fastapi.exceptions import RequestValidationError
    app = FastAPI(openapi_url=None)
    if x.codec and x.codec.name == "json":
        _models(app, x, service, row)
    else:
        @app.api_route("/{path:path}", methods=["GET", "POST"])
        async def exchange(request: Request):
            status, reply = await answer(x, service, row, await request.body(), request.headers.get(DOWN_HEADER))
            return Response(reply, status, media_type=x.media_type)

    @app.exception_handler(RequestValidationError)
    async def refuse(request, error):
        row[INVALID] += 1
        return Response(str(error), 400)
    return app


def _models(app, x, service, row):
    import pydantic
    from fastapi import Request
    up, down = (pydantic.create_model(name, **{key: (str, "") for key in message})
                for name, message in (("Up", x.up), ("Down", x.down)))

    async def exchange(message: up, request: Request):
        if service:
            await service.serve_on_loop()
        row[RECEIVED] += int(request.headers["content-length"])
        row[SENT] += x.down_bytes
        row[EXCHANGES] += 1
        return down(**x.down)
    app.post("/{path:path}", response_model=down)(exchange)


APPS = {"asgi": plain, "fastapi": fastapi}
