import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** An echo server of blocking sockets, a thread per connection, without netdyno: the port is its argument. */
public final class ThreadsBare {
  public static void main(String[] arguments) throws IOException {
    ServerSocket listener = new ServerSocket(Integer.parseInt(arguments[0]), 4096, InetAddress.getByName("127.0.0.1"));
    while (true) {
      Socket socket = listener.accept();
      new Thread(() -> {
        try (socket) {
          socket.setTcpNoDelay(true);
          byte[] buffer = new byte[65536];
          for (int n; (n = socket.getInputStream().read(buffer)) >= 0; ) socket.getOutputStream().write(buffer, 0, n);
        } catch (IOException e) {
          // it is gone
        }
      }).start();
    }
  }
}
