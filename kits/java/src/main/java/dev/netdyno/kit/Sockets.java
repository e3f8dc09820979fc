package dev.netdyno.kit;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/** Blocking sockets of a trial: its addresses, its TLS, TCP_NODELAY. */
public final class Sockets {
  private static final int CONNECT_MS = 10_000;

  private Sockets() {}

  /** What a server does with a connection, on a thread of the connection's own. */
  public interface Served {
    void serve(Socket socket, Traffic traffic) throws IOException;
  }

  /** Listens, admits who is allowed, and serves each connection until it ends. */
  public static Transport.Server serve(Setup setup, boolean virtual, Traffic.All traffic, Served served) {
    Addresses.Allowed allowed = new Addresses.Allowed(setup);
    List<String> bound = new ArrayList<>();
    for (InetSocketAddress to : Addresses.binds(setup)) {
      try {
        ServerSocket listener = Tls.listener(setup);
        listener.bind(to, Addresses.BACKLOG);
        bound.add(Addresses.bound(setup, listener.getLocalPort()));
        Threads.start(false, "accept", () -> {
          while (true) accept(listener, virtual, allowed, traffic, served);
        });
      } catch (IOException e) {
        throw Addresses.bindFailure(to, e);
      }
    }
    return new Transport.Listening(bound, traffic);
  }

  private static void accept(ServerSocket listener, boolean virtual, Addresses.Allowed allowed, Traffic.All traffic, Served served) {
    try {
      Socket socket = listener.accept();
      if (!allowed.admits(socket.getInetAddress())) {
        socket.close();
        return;
      }
      Threads.start(virtual, "connection", () -> {
        Traffic own = traffic.begin();
        try (socket) {
          socket.setTcpNoDelay(true);
          served.serve(socket, own);
        } catch (IOException e) {
          // the client's counts tell of it
        } finally {
          traffic.end(own);
        }
      });
    } catch (IOException e) {
      System.err.println("accept: " + e);
    }
  }

  /** A connection of a client. */
  public static Socket connect(Setup setup, Addresses.Route to) throws IOException {
    Socket s = Tls.socket(setup);
    s.setTcpNoDelay(true);
    if (to.source() != null) s.bind(new InetSocketAddress(to.source(), 0));
    s.connect(to.peer(), CONNECT_MS);
    return s;
  }
}
