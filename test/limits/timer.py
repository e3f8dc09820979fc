"""An echo server that takes a millisecond for each message from a timer, as a
loop does that polls. Usage: timer.py HOST PORT"""

import socket
import sys
import threading
import time


def serve(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection:
        while content := connection.recv(65536):
            time.sleep(0.001)
            connection.sendall(content)


listener = socket.create_server((sys.argv[1], int(sys.argv[2])), backlog=64)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
