"""netdyno-worker-asgi: HTTP servers that Python's web applications run on, and aiohttp as client."""

import importlib

import netdyno_kit as kit
from netdyno_kit.aio import thread_check

from libraries import loop_option, require, versions

VERSIONS = versions("uvicorn", "httptools", "h11", "granian", "fastapi", "pydantic", "orjson", "uvloop", "aiohttp")
LOOP = loop_option("uvloop")
APP = kit.Option("app", "choice", "asgi", "the application: a plain ASGI function, or FastAPI; with codec json FastAPI checks messages by pydantic models",
                 choices=("asgi", "fastapi"), roles=("server",))
CLIENT = (LOOP, kit.Option("path", "text", "/exchange", "what the client asks for", roles=("client",)),
          kit.Option("verify", "choice", "content", "what is compared before ready: the content that our servers send, or its length",
                     choices=("content", "length"), roles=("client",)))
THREADS = kit.Option("runtime_threads", "int", 1, "threads of granian's runtime in Rust, for each process", min=1, max=64, grid=("1", "2"))


class Http(kit.Transport):
    """A transport of HTTP: end names what makes its end in a module that is imported when it is needed."""

    codecs = ("bytes", "json") + (("json-fast",) if VERSIONS["orjson"] else ())
    features = kit.ECHO_FEATURES + ("fresh", "deadline")

    def __init__(self, name, doc, module, end, roles, options, wire="http/1.1"):
        self.name, self.doc, self.roles, self.options, self.wire = name, doc, roles, options, wire
        self._module, self._end = module, end

    def _make(self, setup):
        require(self.name, VERSIONS, self.name.partition("-")[0], *(setup["options"].get(key) for key in ("loop", "app", "http")))
        thread_check(setup)
        return getattr(importlib.import_module(self._module), self._end)(setup)

    server = client = _make


TRANSPORTS = [
    Http("uvicorn", "uvicorn with a plain ASGI application or FastAPI; a process per thread asked for", "servers", "Uvicorn", ("server",), (
        LOOP, APP, kit.Option("http", "choice", "httptools", "parser: httptools, which is Node's in C, or h11 in Python", choices=("httptools", "h11"),
                              grid=("httptools", "h11")))),
    Http("granian", "granian, an HTTP server in Rust, with a plain ASGI application or FastAPI; a process per thread asked for, and one above them",
         "servers", "Granian", ("server",), (LOOP, APP, THREADS)),
    Http("granian-http2", "granian speaking HTTP/2 with prior knowledge", "servers", "GranianH2", ("server",), (LOOP, APP, THREADS), "h2c"),
    Http("aiohttp", "aiohttp's client, a session per connection", "client", "Aiohttp", ("client",), CLIENT),
]

if __name__ == "__main__":
    kit.main("netdyno-worker-asgi", kit.__version__, TRANSPORTS, VERSIONS.items())
