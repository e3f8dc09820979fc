"""What a worker's author writes: a Transport that makes servers and clients, and its options."""

from .failure import Failure, nearest

FEATURES = {
    "tls": "setup.tls is given", "fresh": "load.fresh is true", "sizes": "exchange.up_sizes or down_sizes is given",
    "arrivals": "load.phases is given, or load.arrival drawn", "mix": "load.classes is given", "deadline": "a class has a deadline",
    "trace": "load.trace is given", "times": "load.trace.times is true", "methods": "the method of a class is of gRPC", "think": "a class has think_ns",
    "work-cpu": "setup.work is given", "work-sleep": "setup.work is given",
}
ECHO_FEATURES = ("sizes", "arrivals", "mix", "think", "trace", "times", "work-cpu", "work-sleep")  # those of wire echo
STREAM_FEATURES = ("stream-up", "stream-down", "stream-both")


class Option:
    """An option of a transport. type is one of the contract's; choices are of type choice."""

    def __init__(self, name, type, default, doc, choices=(), min=None, max=None, roles=(), grid=(), unit=""):
        self.name, self.type, self.default, self.doc, self.choices = name, type, default, doc, list(choices)
        self.min, self.max, self.roles, self.grid, self.unit = min, max, list(roles), list(grid), unit

    def describe(self):
        return {k: v for k, v in vars(self).items() if v not in (None, [], "") or k in ("default", "name", "doc")}

    def check(self, value):
        """Returns a value of the option's type. ValueError says what it expects."""
        kind = {"int": int, "bytes": int, "duration": int, "float": float, "bool": bool}.get(self.type, str)
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise ValueError(f"{value!r}, expected {self.type}")
        if self.choices and value not in self.choices:
            raise ValueError(f"{value!r}, expected one of {', '.join(self.choices)}; {nearest(str(value), self.choices)}")
        if self.min is not None and value < self.min or self.max is not None and value > self.max:
            raise ValueError(f"{value}, expected {self.min} to {self.max}")
        return value


class Transport:
    """A named implementation of a wire. Override server and client, those of roles."""

    name = doc = wire = ""
    roles, delivery = ("server", "client"), "message"
    codecs, features, options = (), (), ()
    encrypted = False

    def server(self, setup):
        """Returns a Server that listens and serves. Called on a thread of its own."""
        raise NotImplementedError

    def client(self, setup):
        """Returns a Client whose connections are open and verified. Called on a thread of its own."""
        raise NotImplementedError

    def describe(self):
        return {"name": self.name, "doc": self.doc, "wire": self.wire, "roles": list(self.roles), "delivery": self.delivery,
                "codecs": list(self.codecs), "features": list(self.features), "encrypted": self.encrypted,
                "options": [o.describe() for o in self.options]}

    def complete(self, role, given):
        """Returns the effective options. A Failure of kind setup names the one that is wrong."""
        mine = {o.name: o for o in self.options if not o.roles or role in o.roles}
        for name in given:
            if name not in mine:
                raise Failure("setup", f"option {name}: {self.name} as {role} has none of that name; {nearest(name, list(mine))}")
        effective = {}
        for name, option in mine.items():
            try:
                effective[name] = option.check(given.get(name, option.default))
            except ValueError as e:
                raise Failure("setup", f"option {name} of {self.name} is {e}") from None
        return effective

    def able(self, setup):
        """Raises a Failure of kind unsupported for what setup asks for and this transport has not."""
        exchange, load, work = setup["exchange"], setup["load"], setup.get("work")
        classes, trace = load.get("classes") or (), load.get("trace")
        asked = {
            "tls": setup.get("tls"), "fresh": load.get("fresh"), "sizes": exchange.get("up_sizes") or exchange.get("down_sizes"),
            "arrivals": load.get("phases") or load.get("arrival") == "drawn", "mix": classes,
            "trace": trace and not trace.get("times"), "times": trace and trace.get("times"), "deadline": any(c.get("deadline_ns") for c in classes),
            "methods": any(c.get("method", "").startswith("/") for c in classes), "think": any(c.get("think_ns") for c in classes),
            "work-cpu": setup["role"] == "server" and work and work.get("by") == "cpu",
            "work-sleep": setup["role"] == "server" and work and work.get("by") != "cpu",
        }
        needed = [(feature, FEATURES[feature]) for feature, is_asked in asked.items() if is_asked]
        if exchange.get("stream"):
            needed.append((f"stream-{exchange['stream']}", f"exchange.stream is {exchange['stream']}"))
        for feature, because in needed:
            if feature not in self.features:
                raise Failure("unsupported", f"{because}: transport {self.name} does not have feature {feature}, it has {', '.join(self.features) or 'none'}")
        codec = exchange.get("codec") or "bytes"
        if codec != "bytes" and codec not in self.codecs:
            raise Failure("unsupported", f"no codec {codec} here; {nearest(codec, list(self.codecs) or ['bytes'])}")
        if self.encrypted and not setup.get("tls"):
            raise Failure("unsupported", f"setup.tls is absent: transport {self.name} is always encrypted")


class Server:
    """A server's end. on_exit, if set, is called with a Failure when it ended by itself."""

    on_exit = None

    def ready(self):
        """Returns what ready says: addresses, threads."""
        raise NotImplementedError

    def counts(self):
        """Returns the sums since ready. Called by the control thread."""
        raise NotImplementedError

    def close(self):
        """Lets go of everything without waiting."""


class Client:
    """A client's end. load is its Load; verify and again are its requests before ready, and those sent once more."""

    load = None
    again = redialled = 0

    def ready(self):
        """Returns what ready says: connections, verified, threads."""
        raise NotImplementedError

    def run(self):
        """Makes the load's exchanges until every slot is let go. A Failure means that no connection is left."""
        raise NotImplementedError

    def close(self):
        """Breaks off what is still under way; run returns soon."""
