"""An echo server whose messages cost less and less, as code does that is being compiled."""

import math
import socket
import sys
import threading
import time

begun = time.perf_counter()


def serve(connection):
    with connection:
        while data := connection.recv(65536):
            until = time.thread_time() + 1.5e-3 * math.exp(-(time.perf_counter() - begun) / 2)
            while time.thread_time() < until:
                pass
            connection.sendall(data)


with socket.create_server((sys.argv[1], int(sys.argv[2])), backlog=64) as listener:
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
