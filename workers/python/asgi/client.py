"""aiohttp's client: a session with one connection for each connection of the trial."""

import aiohttp

import netdyno_kit as kit
from netdyno_kit.addresses import join
from netdyno_kit.calls import AsyncCalls
from netdyno_kit.exchange import DOWN_HEADER, Exchange

from apps import CODECS
from servers import IDLE_S, new_loop

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
        self.method = "POST" if x.codec or x.up_bytes else "GET"
        self.headers = {"Content-Type": x.media_type} if self.method == "POST" else {}
        self._connectors = []
        super().__init__(setup, x, lambda: new_loop(setup["options"]["loop"]))

    async def connect(self, i):
        connector = Connector(limit=1, keepalive_timeout=IDLE_S, local_addr=self.routes.source(i), use_dns_cache=False)
        self._connectors.append(connector)
        session = aiohttp.ClientSession(connector=connector, auto_decompress=False, skip_auto_headers=PLAIN, cookie_jar=aiohttp.DummyCookieJar(),
                                        timeout=aiohttp.ClientTimeout(total=None))
        return session, f"http://{join(self.routes.peer(i))}{self.options['path']}"

    async def first(self, connection, i):
        up, down = self.exchange.first(i)
        reply = await self._ask(connection, self.exchange.request(up), down)
        if self.options["verify"] == "content":
            self.exchange.verify(i, reply, down)
        else:
            self.exchange.accept(reply, down)

    async def call(self, connection, slot):
        x = self.exchange
        reply = await self._ask(connection, x.request(slot.up), slot.down)
        x.accept(reply, slot.down)
        return slot.down

    async def _ask(self, connection, body, down):
        session, url = connection
        headers = {**self.headers, DOWN_HEADER: str(down)} if self.exchange.asks else self.headers
        try:
            async with session.request(self.method, url, data=body or None, headers=headers) as reply:
                data = await reply.read()
        except aiohttp.ClientConnectorError as e:
            raise kit.Failure("peer", str(e), kit.failure_of(e).reason, unsent=True) from None
        except aiohttp.ClientPayloadError:
            raise kit.Failure("peer", "connection closed within the reply", passing=True) from None
        except (aiohttp.ClientConnectionError, ConnectionError) as e:
            raise kit.Failure("peer", str(e), kit.failure_of(e).reason if isinstance(e, OSError) else "connection closed", passing=True) from None
        except aiohttp.ClientError as e:
            raise kit.Failure("invalid", f"{type(e).__name__}: {e}", type(e).__name__) from None
        if reply.status != 200:
            why = f"{reply.status} {reply.reason}"
            raise kit.Failure("invalid", f"{why} ({data[:200]!r})", why)
        return data

    @property
    def redialled(self):
        return sum(max(0, c.made - 1) for c in self._connectors)
