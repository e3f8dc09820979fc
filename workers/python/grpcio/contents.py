"""What the wire grpc:netdyno.v1 carries (docs/wires.md, section Requests): messages, methods, and how calls fail."""

import grpc
from google.protobuf import json_format

import netdyno_kit as kit
from netdyno_kit.exchange import DOWN_HEADER, KNOWN, Exchange

import exchange_pb2 as pb

SERVICE = "netdyno.v1.Exchange"
LIBRARY_MOST = 4 << 20
TYPES = dict(zip(KNOWN, (pb.Text, pb.Reply)))
_KINDS = {"UNAVAILABLE": "peer", "CANCELLED": "peer", "DEADLINE_EXCEEDED": "timeout"}


class Proto:
    """protobuf's own runtime over generated classes."""

    name, media_type = "proto", "application/protobuf"

    def content(self, content):
        """Returns the message that is sent, of setup's content."""
        if content.get("type") not in TYPES:
            raise kit.Failure("unsupported", f"message type {content.get('type')}: this worker has {', '.join(TYPES)}")
        try:
            return json_format.Parse(content.get("json") or "{}", TYPES[content["type"]]())
        except json_format.ParseError as e:
            raise kit.Failure("setup", f"exchange.message (proto): {e}") from None

    def encode(self, message):
        return message.SerializeToString()

    def decode(self, data, like):
        return type(like).FromString(data)


class Contents:
    """The messages of a trial, which method carries them, and the largest that this end receives."""

    def __init__(self, setup):
        self.x, self.stream, self.talks = Exchange(setup, [Proto()]), setup["exchange"].get("stream", ""), setup["options"]["mode"] == "stream"
        self.chunk = setup["exchange"].get("chunk_bytes") or 1 << 16
        x, classes = self.x, setup["load"].get("classes") or ()
        self.varies = bool(setup["exchange"].get("up_sizes") or x.asks or classes)
        for wrong, text in (
            (self.stream and self.talks, f"exchange.stream is {self.stream} with option mode=stream: expected one of them"),
            (self.stream and x.codec, f"exchange.stream is {self.stream} and a codec is given: chunks are of codec bytes"),
            (self.stream and self.varies, f"exchange.stream is {self.stream} with sizes that vary: messages of several sizes travel whole"),
            (self.talks and x.asks, "option mode is stream with down sizes that vary: metadata says how long a reply is to be, which a stream has once"),
            (self.talks and any(c.get("deadline_ns") or c.get("method", "").startswith("/") for c in classes),
             "option mode is stream, whose calls outlive an exchange, and a class has a method or a deadline: expected unary"),
        ):
            if wrong:
                raise kit.Failure("unsupported", text)
        self.up, self.down = (x.up, x.down) if x.codec else (pb.Block(content=x.up), pb.Block(content=x.down))
        name = "Unary" if not x.codec else "Simple" if isinstance(x.down, pb.Text) else "Complex"
        self.method = self.stream.capitalize() if self.stream else ("Talk" + name.replace("Unary", "") if self.talks else name)
        self.most = setup["options"]["max_message"] or max(LIBRARY_MOST, max(x.up_bytes, x.down_bytes) + 64)

    def request(self, drawn):
        """Returns what an exchange sends: a message, or Blocks."""
        if self.stream in ("up", "both"):
            return self.chunks(self.up)
        return self.up if not self.varies or drawn.up == self.x.up_bytes else pb.Block(content=self.x.request(drawn.up))

    def chunks(self, block):
        """Yields a Block in several."""
        content = block.content
        for at in range(0, len(content), self.chunk) if content else (0,):
            yield pb.Block(content=content[at:at + self.chunk])

    def joined(self, blocks):
        return pb.Block(content=b"".join([block.content for block in blocks]))

    def respond(self, request, context):
        """Returns the reply to a message, and its size and the request's. A Failure of kind invalid says what is wrong."""
        x = self.x
        if x.codec:
            return self.down, x.up_bytes, x.down_bytes
        content = request.content
        if not x.asks:
            if len(content) != x.up_bytes:
                x.respond(content)  # which refuses it, unless sizes vary
            return self.down, len(content), x.down_bytes
        reply = x.respond(content, ",".join(value for key, value in context.invocation_metadata() if key == DOWN_HEADER))
        return pb.Block(content=reply), len(content), len(reply)

    def accept(self, reply, drawn):
        """Checks a reply as an application does, and returns its size."""
        if self.x.codec:
            return self.x.down_bytes
        n = len(reply.content)
        if n != drawn.down:
            raise kit.Failure("invalid", f"the reply has {n} bytes, expected {drawn.down}")
        return n

    def verify(self, connection, reply, drawn):
        """Compares the first reply of a connection with what is expected."""
        self.accept(reply, drawn)
        if reply != (self.down if self.x.codec else pb.Block(content=self.x.down[:drawn.down])):
            raise kit.Failure("invalid", f"verify connection {connection + 1}: the reply is another message than our servers send")

    def arguments(self, more=()):
        """Returns the channel arguments of either end."""
        return [("grpc.max_receive_message_length", self.most), ("grpc.max_send_message_length", -1), *more]


def failure_of(error, of=None):
    """Gives an RPC's error the contract's kind; of is the class of its exchange."""
    code, detail = error.code(), error.details() or ""
    kind = _KINDS.get(code.name, "invalid")
    if kind == "timeout" and of and of.deadline_ns:
        return of.late()
    name = "".join(word.capitalize() for word in code.name.split("_"))
    return kit.Failure(kind, f"{name}: {detail}", name if kind == "peer" else f"{name}: {detail}", passing=kind == "timeout")
