"""An echo server that answers so many bytes and then stands still: once for so
many seconds, or, without them, falls silent for ever.

Usage: stalls.py PORT BYTES [SECONDS]
"""
import selectors
import socket
import sys
import time

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=128)
left = int(sys.argv[2])
seconds = float(sys.argv[3]) if len(sys.argv) > 3 else None
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
        if left <= 0 and seconds is None:
            continue
        if left <= 0 and seconds > 0:
            time.sleep(seconds)
            seconds = 0
        left -= len(content)
        key.fileobj.sendall(content)
