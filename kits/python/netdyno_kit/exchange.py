"""What an exchange carries over HTTP and gRPC, apart from how it travels: content, its codecs, and the checks of both ends.

    request = x.request()               # client, every exchange: encode
    reply = x.respond(request)          # server: decode, encode; a Failure of kind invalid says what is wrong
    x.accept(reply)                     # client: decode, or check the size
"""

import json

from .content import MOST_CONTENT, random
from .draws import Sizes
from .failure import Failure, nearest

DOWN_HEADER = "netdyno-down"
KNOWN = ("netdyno.v1.Text", "netdyno.v1.Reply")


class Json:
    """The standard library's json over dicts, written as web frameworks write it: without spaces, in UTF-8."""

    name, media_type = "json", "application/json"

    def content(self, content):
        """Returns the message that is sent, of setup's content."""
        if content.get("type") not in KNOWN:
            raise Failure("unsupported", f"message type {content.get('type')}: this worker has {', '.join(KNOWN)}")
        try:
            return json.loads(content.get("json") or "{}")
        except ValueError as e:
            raise Failure("setup", f"exchange.message ({self.name}): {e}") from None

    def encode(self, message):
        return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()

    def decode(self, data, like):
        """Reads a message; like is one of the same type."""
        return json.loads(data)


class Exchange:
    """The content of both directions. Any thread may use it."""

    def __init__(self, setup, codecs=()):
        exchange, name = setup["exchange"], setup["exchange"].get("codec") or "bytes"
        self.codec, self.sizes = None, None
        self.up_bytes, self.down_bytes = exchange.get("up_bytes", 0), exchange.get("down_bytes", 0)
        if name == "bytes":
            if not (0 <= self.up_bytes <= MOST_CONTENT and 0 <= self.down_bytes <= MOST_CONTENT):
                raise Failure("setup", f"exchange has {self.up_bytes} bytes up and {self.down_bytes} down, expected 0 to {MOST_CONTENT}")
            try:
                self.sizes = Sizes(exchange, setup["seed"])
            except ValueError as e:
                raise Failure("setup", str(e)) from None
            self.up, self.down = random("u", self.up_bytes), random("d", self.down_bytes)
        else:
            self._take(exchange, name, {c.name: c for c in codecs}, setup["load"].get("classes"))
        self.asks = bool(self.sizes and self.sizes.down_varies)
        self.media_type = self.codec.media_type if self.codec else "application/octet-stream"

    def _take(self, exchange, name, codecs, classes):
        if name not in codecs:
            raise Failure("unsupported", f"no codec {name} here; {nearest(name, ['bytes', *codecs])}")
        if exchange.get("up_sizes") or exchange.get("down_sizes") or classes:
            raise Failure("setup", f"sizes or classes are given with codec {name}, whose messages have sizes of their own")
        if not exchange.get("message"):
            raise Failure("setup", f"exchange.codec is {name} and exchange.message is absent: expected what to encode")
        self.codec = codecs[name]
        self.up, self.down = (self.codec.content(exchange["message"].get(d) or {}) for d in ("up", "down"))
        encoded = [self.codec.encode(m) for m in (self.up, self.down)]
        for direction, message, data in zip(("up", "down"), (self.up, self.down), encoded):
            if self.codec.decode(data, message) != message:
                raise Failure("setup", f"exchange.message.{direction} ({name}): it decodes to another message than was encoded")
        self.up_bytes, self.down_bytes = map(len, encoded)

    def sized(self, setup):
        """Returns setup with the sizes of the encoded messages, for Load."""
        return {**setup, "exchange": {**setup["exchange"], "up_bytes": self.up_bytes, "down_bytes": self.down_bytes}}

    def ready(self):
        """Returns what ready says of the messages."""
        return {"up_bytes": self.up_bytes, "down_bytes": self.down_bytes} if self.codec else {}

    def request(self, up=None):
        """Returns what the client sends; up is a drawn size."""
        if self.codec:
            return self.codec.encode(self.up)
        return self.up if up is None or up == self.up_bytes else self.up[:up]

    def respond(self, request, asked=None):
        """Returns the reply to a request. asked is what the request has as DOWN_HEADER."""
        if self.codec:
            self._decode(request, self.up, "request")
            return self.codec.encode(self.down)
        if len(request) != self.up_bytes and not (self.sizes.up_varies and len(request) < self.up_bytes):
            raise Failure("invalid", f"the request has {len(request)} bytes, expected {'at most ' * self.sizes.up_varies}{self.up_bytes}")
        if not self.asks:
            return self.down
        text = asked.decode("latin-1") if isinstance(asked, bytes) else asked or ""
        if not text.isdigit() or len(text) > 10 or int(text) > self.down_bytes:
            raise Failure("invalid", f"header {DOWN_HEADER} is {text[:20]!r}, expected a length of 0 to {self.down_bytes} bytes")
        return self.down[:int(text)]

    def accept(self, reply, down=None):
        """Checks a reply as an application does."""
        if self.codec:
            self._decode(reply, self.down, "reply")
        elif len(reply) != (self.down_bytes if down is None else down):
            raise Failure("invalid", f"the reply has {len(reply)} bytes, expected {self.down_bytes if down is None else down}")

    def verify(self, connection, reply, down=None):
        """Compares the first reply of a connection with what is expected."""
        try:
            self.accept(reply, down)
            if self.codec:
                same = self.codec.decode(reply, self.down) == self.down
            else:
                same = reply == (self.down if down is None else self.down[:down])
            if not same:
                raise Failure("invalid", "the reply has other content than our servers send; drive another's server with opt.verify=length")
        except Failure as failure:
            raise Failure(failure.kind, f"verify connection {connection + 1}: {failure.text}") from None

    def _decode(self, data, like, what):
        try:
            return self.codec.decode(data, like)
        except Exception as e:  # whatever the codec's library raises
            raise Failure("invalid", f"decode the {what}: {e}", f"decode the {what}") from None
