"""aiohttp's client: a session with one connection for each connection of the trial."""

import aiohttp

import netdyno_kit as kit
from netdyno_kit.addresses import join
from netdyno_kit.calls import AsyncCalls
from netdyno_kit.exchange import DOWN_HEADER, Exchange

from apps import CODECS
from libraries import new_loop
from servers import IDLE_S

PLAIN = {"Accept-Encoding", "User-Agent"}  # headers that the library adds by itself: no compression is asked for


class Connector(aiohttp.TCPConnector):
    """Counts the connections that it makes."""

    made = 0

    async def _create_connection(self, req, traces, timeout):
        self.made += 1
        return await super()._create_connection(req, traces, timeout)


class Aiohttp(AsyncCalls):
    def __init__(self, setup):
        if (setup["load"].get("in_flight") or 1) > 1:
            raise kit.Failure("unsupported", "load.in_flight is above 1: HTTP/1.1 carries one exchange at a time on a connection; use more connections")
        self.options, x = setup["options"], Exchange(setup, CODECS)
        self.fresh = bool(setup["load"].get("fresh"))
        self._connectors, self._asked = [], []
        super().__init__(setup, x, lambda: new_loop(setup["options"]["loop"]))

    def asked(self, of):
        """Returns method and headers of a class's requests; of None: of all."""
        ups = bool(self.exchange.codec or (of.sizes.up if of else self.exchange.up_bytes))
        method = of and of.method or ("POST" if ups else "GET")
        return method, {"Content-Type": self.exchange.media_type} if ups else {}

    async def connect(self, i):
        if not self._asked:
            self._asked = [(*self.asked(of), of) for of in self.load.draws.classes or [None]]
        connector = Connector(limit=1, keepalive_timeout=None if self.fresh else IDLE_S, local_addr=self.routes.source(i), use_dns_cache=False,
                              force_close=self.fresh)
        self._connectors.append(connector)
        session = aiohttp.ClientSession(connector=connector, auto_decompress=False, skip_auto_headers=PLAIN, cookie_jar=aiohttp.DummyCookieJar(),
                                        timeout=aiohttp.ClientTimeout(total=None))
        return session, f"http://{join(self.routes.peer(i))}", self.options["path"]

    async def first(self, connection, i, drawn):
        reply, down = await self._ask(connection, drawn)
        if self.options["verify"] == "content":
            self.exchange.verify(i, reply, down)

    async def call(self, connection, slot):
        return (await self._ask(connection, slot))[1]

    async def _ask(self, connection, drawn):
        """Makes an exchange. It returns the reply's body and how long that is to be."""
        (session, host, path), x = connection, self.exchange
        method, headers, of = self._asked[drawn.of]
        body, down = x.request(drawn.up), drawn.down
        if x.asks:
            headers = {**headers, DOWN_HEADER: str(down)}
        if method == "HEAD":
            down = 0
        try:
            async with session.request(method, host + (drawn.path or of and of.path(drawn.key) or path), data=body or None, headers=headers) as reply:
                data = await reply.read()
        except aiohttp.ClientConnectorError as e:
            failure = kit.failure_of(e)
            raise kit.Failure(failure.kind, str(e) if failure.kind == "peer" else failure.text, failure.reason, unsent=True) from None
        except aiohttp.ClientPayloadError:
            raise kit.Failure("peer", "connection closed within the reply", passing=True) from None
        except (aiohttp.ClientConnectionError, ConnectionError) as e:
            raise kit.Failure("peer", str(e), kit.failure_of(e).reason if isinstance(e, OSError) else "connection closed", passing=True) from None
        except aiohttp.ClientError as e:
            raise kit.Failure("invalid", f"{type(e).__name__}: {str(e)[:200]}", type(e).__name__) from None
        if not (of.takes(reply.status) if of else reply.status == 200):
            why = f"{reply.status} {reply.reason}"
            raise kit.Failure("invalid", f"{why} ({data[:200]!r})", why)
        x.accept(data, down)
        return data, down

    @property
    def redialled(self):
        return 0 if self.fresh else sum(max(0, c.made - 1) for c in self._connectors)
