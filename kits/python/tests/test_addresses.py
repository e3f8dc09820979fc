"""Who may connect: a filter on the listening socket, for libraries that accept by themselves."""

import socket
import unittest

from netdyno_kit.addresses import Allowed, Routes, same, shut_out
from netdyno_kit.failure import Failure


def reaches(sock, source):
    with socket.socket(socket.AF_INET) as client:
        client.settimeout(0.3)
        client.bind((source, 0))
        try:
            client.connect(("127.0.0.1", sock.getsockname()[1]))
            return True
        except OSError:
            return False


class Filters(unittest.TestCase):
    def test_strangers_are_shut_out(self):
        for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::ffff:127.0.0.1"), (socket.AF_INET6, "::")):
            for allow, reached in ((["127.0.0.2"], {"127.0.0.2"}), (["10.0.0.1", "127.0.0.3", "::1"], {"127.0.0.3"}), ([], {"127.0.0.2", "127.0.0.3", "127.0.0.4"})):
                with self.subTest(host=host, allow=allow), socket.socket(family) as sock:
                    if family == socket.AF_INET6:
                        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
                    sock.bind((host, 0))
                    sock.listen()
                    shut_out(sock, {"allow": allow})
                    found = {source for source in ("127.0.0.2", "127.0.0.3", "127.0.0.4") if reaches(sock, source)}
                    self.assertEqual(reached, found)

    def test_what_besides_is_let_in_for_a_while(self):
        with socket.create_server(("127.0.0.1", 0)) as sock:
            shut_out(sock, {"allow": ["127.0.0.2"]}, ["127.0.0.3"])
            self.assertTrue(reaches(sock, "127.0.0.3"))
            shut_out(sock, {"allow": ["127.0.0.2"]})
            self.assertFalse(reaches(sock, "127.0.0.3"))

    def test_ipv6(self):
        with socket.socket(socket.AF_INET6) as sock:
            sock.bind(("::1", 0))
            sock.listen()
            for allow, reached in ((["::1"], True), (["::2", "127.0.0.1"], False)):
                shut_out(sock, {"allow": allow})
                with socket.socket(socket.AF_INET6) as client:
                    client.settimeout(0.3)
                    self.assertEqual(reached, client.connect_ex(sock.getsockname()) == 0)


class Addresses(unittest.TestCase):
    def test_allowed(self):
        allowed = Allowed({"allow": ["127.0.0.1", "::2"]})
        for address, expected in (("127.0.0.1", True), ("::ffff:127.0.0.1", True), ("::2", True), ("127.0.0.2", False)):
            self.assertEqual(expected, allowed.accepts((address, 1)))
        self.assertTrue(Allowed({}).accepts(("10.0.0.1", 1)))
        with self.assertRaises(Failure):
            Allowed({"allow": ["nobody"]})

    def test_same(self):
        self.assertTrue(same(("127.0.0.1", 4), ("::ffff:127.0.0.1", 4, 0, 0)))
        self.assertFalse(same(("127.0.0.1", 4), ("127.0.0.1", 5)))

    def test_routes_take_turns(self):
        routes = Routes({"peers": ["127.0.0.1:4", "[::1]:5"], "sources": ["127.0.0.2"], "load": {"connections": 3}})
        self.assertEqual([("127.0.0.1", 4), ("::1", 5), ("127.0.0.1", 4)], [routes.peer(i) for i in range(3)])
        for peers in ([], ["localhost:1"], ["127.0.0.1"], ["127.0.0.1:70000"]):
            with self.subTest(peers), self.assertRaises(Failure):
                Routes({"peers": peers, "load": {"connections": 1}})


if __name__ == "__main__":
    unittest.main()
