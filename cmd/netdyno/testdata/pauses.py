"""An echo server that stands still once, for so long, after so many bytes.

Usage: pauses.py PORT BYTES SECONDS
"""
import selectors
import socket
import sys
import time

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=128)
left, seconds = int(sys.argv[2]), float(sys.argv[3])
ready = selectors.DefaultSelector()
ready.register(listener, selectors.EVENT_READ)
while True:
    for key, _ in ready.select():
        if key.fileobj is listener:
            connection, _ = listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            ready.register(connection, selectors.EVENT_READ)
            continue
        content = key.fileobj.recv(65536)
        if not content:
            ready.unregister(key.fileobj)
            key.fileobj.close()
            continue
        left -= len(content)
        if left < 0 and seconds > 0:
            time.sleep(seconds)
            seconds = 0
        key.fileobj.sendall(content)
