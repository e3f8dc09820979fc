"""Where servers listen and clients connect from and to."""

import ctypes
import errno
import ipaddress
import os
import socket
import struct

from .failure import Failure, failure_of

BACKLOG = 4096
_NO_PORT, _PORT_RANGE = 24, 51  # IP_BIND_ADDRESS_NO_PORT, IP_LOCAL_PORT_RANGE
_MANY, _WINDOW = 4096, 64


def split(text, key):
    """Reads host:port as (host, port)."""
    host, _, port = text.rpartition(":")
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    try:
        ipaddress.ip_address(host.partition("%")[0])
        if not 0 <= int(port) <= 65535:
            raise ValueError("a port is 0 to 65535")
    except ValueError as e:
        raise Failure("setup", f"{key} is {text!r}, expected an address and a port: {e}") from None
    return host, int(port)


def join(address):
    """Writes a socket's address as host:port."""
    return f"[{address[0]}]:{address[1]}" if ":" in address[0] else f"{address[0]}:{address[1]}"


def _family(host):
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def same(one, other):
    """Tells whether two addresses of sockets are one, also where a socket of IPv6 has that of IPv4."""
    plain = [_plain(ipaddress.ip_address(a[0].partition("%")[0])) for a in (one, other)]
    return plain[0] == plain[1] and one[1] == other[1]


class Allowed:
    """Which clients a server accepts; an empty list accepts any."""

    def __init__(self, setup):
        try:
            self._all = {str(_plain(ipaddress.ip_address(a))) for a in setup.get("allow") or ()}
        except ValueError as e:
            raise Failure("setup", f"setup.allow: {e}") from None

    def accepts(self, peername):
        return not self._all or bool(peername) and str(_plain(ipaddress.ip_address(peername[0].partition("%")[0]))) in self._all


def _plain(address):
    return getattr(address, "ipv4_mapped", None) or address


_ATTACH_FILTER = 26  # SO_ATTACH_FILTER
_RETURN, _LOAD_WORD, _LOAD_BYTE, _SHIFT_RIGHT, _JUMP_EQUAL = 0x06, 0x20, 0x30, 0x74, 0x15
_NETWORK = -0x100000  # SKF_NET_OFF: offsets from here on are those of the IP header


def shut_out(sock, setup, besides=()):
    """Has the kernel drop what comes to a listening socket from addresses outside setup.allow.

    A socket of IPv6 may take both kinds. For libraries that accept connections by themselves: a stranger's connection is never made. Connections inherit it.
    """
    Allowed(setup)
    program = []
    for text in list(setup.get("allow") or ()) + list(besides):
        address = _plain(ipaddress.ip_address(text))
        words = struct.unpack(f">{len(address.packed) // 4}I", address.packed)
        first, compares = 12 if address.version == 4 else 8, 2 * len(words)
        program += [(_LOAD_BYTE, 0, 0, _NETWORK & 0xFFFFFFFF), (_SHIFT_RIGHT, 0, 0, 4), (_JUMP_EQUAL, 0, compares + 1, address.version)]
        for i, word in enumerate(words):
            program.append((_LOAD_WORD, 0, 0, (_NETWORK + first + 4 * i) & 0xFFFFFFFF))
            program.append((_JUMP_EQUAL, 0, compares - 2 * i - 1, word))
        program.append((_RETURN, 0, 0, 0xFFFFFFFF))
    if not setup.get("allow"):
        return
    program.append((_RETURN, 0, 0, 0))
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in program))
    sock.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, struct.pack("HxxxxxxP", len(program), ctypes.addressof(code)))


def listen(setup, reuse_port=False, options=(), backlog=BACKLOG):
    """Returns the listening sockets of setup.listen and setup.listeners, not blocking. options are of setsockopt.

    Without a backlog they are bound alone: the ports are reserved, for a library that listens by itself (SO_REUSEPORT).
    """
    host, port = split(setup.get("listen") or "", "setup.listen")
    found = []
    for i in range(max(1, setup.get("listeners") or 1)):
        address = (host, port + i if port else 0)
        sock = socket.socket(_family(host), socket.SOCK_STREAM)
        found.append(sock)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if reuse_port:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            for option in options:
                sock.setsockopt(*option)
            sock.bind(address)
            if backlog:
                sock.listen(backlog)
        except (OSError, OverflowError) as e:
            for one in found:
                one.close()
            raise Failure("setup", f"listen on {join(address)}: {getattr(e, 'strerror', None) or e}") from None
        sock.setblocking(False)
    return found


def addresses_of(sockets):
    return [join(s.getsockname()) for s in sockets]


class Routes:
    """Source and peer of every connection of a client, in turn."""

    def __init__(self, setup):
        peers = [split(p, "setup.peers") for p in setup.get("peers") or ()]
        if not peers:
            raise Failure("setup", "setup.peers is empty, expected the server's addresses")
        self.sources, self.peers = setup.get("sources") or [], peers
        self.count = setup["load"].get("connections") or 0
        self._ports = _ports(self.count // len(peers)) if not setup["load"].get("fresh") else None

    def peer(self, i):
        return self.peers[i % len(self.peers)]

    def source(self, i):
        """Returns where connection i begins, with port 0; None where the system chooses."""
        return (self.sources[i % len(self.sources)], 0) if self.sources else None

    def socket(self, i, options=()):
        """Returns a bound socket for connection i, not blocking and not connected yet."""
        peer = self.peer(i)
        sock = socket.socket(_family(peer[0]), socket.SOCK_STREAM)
        sock.setblocking(False)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for option in options:
                sock.setsockopt(*option)
            if self._ports:
                first, count, start = self._ports
                low = first + (start + i) % count
                _try(sock, _PORT_RANGE, low + _WINDOW - 1 << 16 | low)
            source = self.source(i)
            if source:
                _try(sock, _NO_PORT, 1)
                sock.bind(source)
        except OSError as e:
            sock.close()
            raise self.failure(i, e) from None
        return sock

    def failure(self, i, error):
        """Returns why connection i could not be made."""
        source = f" from {self.source(i)[0]}" if self.sources else ""
        where = f"connect {i + 1} of {self.count} to {join(self.peer(i))}{source}"
        if isinstance(error, Failure):
            return error
        starved = failure_of(error)
        if starved.kind == "setup":
            return Failure("setup", f"{where}: {starved.text}")
        kind = "setup" if getattr(error, "errno", None) == errno.EADDRNOTAVAIL else "peer"
        return Failure(kind, f"{where}: {getattr(error, 'strerror', None) or error or type(error).__name__}")


def _try(sock, option, value):
    try:
        sock.setsockopt(socket.IPPROTO_IP, option, value)
    except OSError:
        pass  # an older kernel: it searches all ports


def _ports(connections):
    """Returns first, count and start of the local ports where the kernel's search for a free one would be slow."""
    if connections < _MANY:
        return None
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range") as f:
            first, last = (int(n) for n in f.read().split())
    except (OSError, ValueError):
        return None
    count = last - first + 1 - _WINDOW
    return (first, count, os.getpid() * 2_654_435_761 % count) if count > _WINDOW else None
