"""netdyno_kit: what a netdyno worker in Python needs around its library. Standard library only; see README.md."""

from .addresses import Allowed, Routes, addresses_of, listen
from .failure import Failure, failure_of, nearest, say
from .load import Load
from .slot import now_ns
from .transport import ECHO_FEATURES, STREAM_FEATURES, Client, Option, Server, Transport
from .worker import main

__version__ = "0.1.0"
__all__ = ["Allowed", "Client", "ECHO_FEATURES", "Failure", "Load", "Option", "Routes", "STREAM_FEATURES", "Server", "Transport",
           "addresses_of", "failure_of", "listen", "main", "nearest", "now_ns", "say"]
