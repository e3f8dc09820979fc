"""What the wire grpc:netdyno.v1 carries (docs/wires.md, section Requests): messages, methods, and how calls fail."""

import grpc
from google.protobuf import json_format

import netdyno_kit as kit
from netdyno_kit.exchange import KNOWN, Exchange

import exchange_pb2 as pb

SERVICE = "netdyno.v1.Exchange"
LIBRARY_MOST = 4 << 20
TYPES = dict(zip(KNOWN, (pb.Text, pb.Reply)))


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
        self.x, self.stream = Exchange(setup, [Proto()]), setup["exchange"].get("stream", "")
        self.chunk, self.talks = setup["exchange"].get("chunk_bytes") or 1 << 16, setup["options"]["mode"] == "stream"
        if self.stream and self.talks:
            raise kit.Failure("unsupported", f"exchange.stream is {self.stream} with option mode=stream: expected one of them")
        if self.stream and self.x.codec:
            raise kit.Failure("unsupported", f"exchange.stream is {self.stream} with codec {self.x.codec.name}: chunks are of codec bytes")
        x = self.x
        self.up, self.down = (x.up, x.down) if x.codec else (pb.Block(content=x.up), pb.Block(content=x.down))
        name = "Unary" if not x.codec else "Simple" if isinstance(x.down, pb.Text) else "Complex"
        self.method = self.stream.capitalize() if self.stream else ("Talk" + name.replace("Unary", "") if self.talks else name)
        self.most = setup["options"]["max_message"] or max(LIBRARY_MOST, max(x.up_bytes, x.down_bytes) + 64)

    def chunks(self, content):
        """Yields a content in Blocks."""
        for at in range(0, len(content), self.chunk) if content else (0,):
            yield pb.Block(content=content[at:at + self.chunk])

    def check(self, message, is_request):
        """Checks a decoded message's size as an application does. A Failure is of kind invalid."""
        if not self.x.codec:
            self.check_size(len(message.content), is_request)

    def check_size(self, size, is_request):
        want = self.x.up_bytes if is_request else self.x.down_bytes
        if size != want:
            raise kit.Failure("invalid", f"the {'request' if is_request else 'reply'} has {size} bytes, expected {want}")

    def verify(self, connection, message):
        """Compares the first reply of a connection with what is expected."""
        if message != self.down:
            raise kit.Failure("invalid", f"verify connection {connection + 1}: the reply is another message than our servers send")

    def arguments(self, more=()):
        """Returns the channel arguments of either end."""
        return [("grpc.max_receive_message_length", self.most), ("grpc.max_send_message_length", -1), *more]


def failure_of(error):
    """Gives an RPC's error the contract's kind."""
    if not isinstance(error, grpc.RpcError):
        return error
    code = error.code()
    kind = {grpc.StatusCode.UNAVAILABLE: "peer", grpc.StatusCode.CANCELLED: "peer", grpc.StatusCode.DEADLINE_EXCEEDED: "timeout"}.get(code, "invalid")
    name = "".join(word.capitalize() for word in code.name.split("_"))
    detail = error.details() or ""
    return kit.Failure(kind, f"{name}: {detail}", name if kind == "peer" else f"{name}: {detail}")
