"""An echo server as anybody might write it, and some that are not one."""
import os, socket, sys, threading, time

port, kind = int(sys.argv[1]), sys.argv[2]

def serve(sock):
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while kind != "closes" and (data := sock.recv(65536)):
        sock.sendall(data if kind in ("plain", "daemon") else bytes(b ^ 255 for b in data))
    sock.close()

if kind == "exits":
    sys.exit(print("out of memory, says the server", file=sys.stderr) or 7)
if kind == "silent":
    time.sleep(60)
listener = socket.create_server(("127.0.0.1", port), backlog=128)
if kind == "daemon":  # forks twice, leaves its session, and the parent stays a while
    if os.fork():
        time.sleep(0.3)
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
