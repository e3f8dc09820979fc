"""An echo server that answers in two small writes with Nagle's algorithm on."""

import socket
import sys
import threading


def serve(connection):
    with connection:
        while data := connection.recv(65536):
            connection.sendall(data[: len(data) // 2])
            connection.sendall(data[len(data) // 2 :])


with socket.create_server((sys.argv[1], int(sys.argv[2])), backlog=64) as listener:
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
