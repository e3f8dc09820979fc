package dev.netdyno.kit;

import java.util.Arrays;

/** What a trial asks of connections on the wires echo and stream. It never changes. */
public final class Work {
  private static final int STANDARD_CHUNK = 64 << 10;
  private static final int MOST_CHUNK = 64 << 20;

  public final Content up;
  public final Content down;
  public final boolean varies;
  /** What a server does for each exchange; null for nothing. */
  public final Service service;
  private final String stream;

  /** The features of a transport that speaks both wires. */
  public static String[] features() {
    return new String[] {"stream-up", "stream-down", "stream-both", "sizes", "arrivals", "mix", "think", "work-cpu", "work-sleep"};
  }

  /** Reads setup.exchange. What is impossible is a Failure of kind setup. */
  public Work(Setup s) {
    Setup.Exchange x = s.exchange;
    stream = x.stream;
    varies = x.upSizes.length + x.downSizes.length > 0 || !s.load.classes.isEmpty();
    service = Service.of(s);
    if (varies && service != null) {
      throw Failure.unsupported("work is given and sizes vary: a server of wire echo does not see where a message ends, which begins its work");
    }
    if (stream.isEmpty()) {
      up = echo(s);
      down = up;
      return;
    }
    if (varies) throw Failure.unsupported("sizes vary: wire stream has no headers by which messages of several sizes could be told apart");
    int chunk = x.chunkBytes == 0 ? STANDARD_CHUNK : x.chunkBytes;
    if (!stream.equals("up") && !stream.equals("down") && !stream.equals("both")) {
      throw Failure.setup("exchange.stream is \"" + stream + "\", expected up, down or both");
    }
    if (Math.min(x.upBytes, x.downBytes) < 1 || Math.max(x.upBytes, x.downBytes) > Setup.MAX_MESSAGE) {
      throw Failure.setup("exchange is " + x.upBytes + " bytes up and " + x.downBytes + " down, expected 1 to "
          + Setup.MAX_MESSAGE + " each way on wire stream");
    }
    if (chunk > MOST_CHUNK) throw Failure.setup("exchange.chunk_bytes is " + x.chunkBytes + ", expected 1 to " + MOST_CHUNK);
    up = Content.stream(x.upBytes, chunk, 1);
    down = Content.stream(x.downBytes, chunk, 2);
  }

  private static Content echo(Setup s) {
    Setup.Exchange x = s.exchange;
    if (x.upBytes < 1 || x.upBytes > Setup.MAX_MESSAGE) {
      throw Failure.setup("exchange.up_bytes is " + x.upBytes + ", expected 1 to " + Setup.MAX_MESSAGE + " on wire echo");
    }
    if (x.downBytes != x.upBytes || !Arrays.deepEquals(x.upSizes, x.downSizes)) {
      throw Failure.setup("exchange is " + x.upBytes + " bytes up and " + x.downBytes + " down; wire echo returns what it is sent");
    }
    new Draws(s);
    if (x.upSizes.length > 0 && Drawer.least(x.upSizes) < 1) {
      throw Failure.setup("exchange.up_sizes has messages of 0 bytes, expected at least 1 on wire echo");
    }
    for (Setup.MixClass c : s.load.classes) {
      if (c.upBytes < 1 || c.upSizes.length > 0 && Drawer.least(c.upSizes) < 1) {
        throw Failure.setup("class " + c.name + " has messages of 0 bytes, expected at least 1 on wire echo");
      }
    }
    byte[] key = new byte[32];
    for (int i = 0; i < 8; i++) key[i] = (byte) (s.seed >>> 8 * i);
    return new Content(x.upBytes, Content.chacha8(key, x.upBytes));
  }

  public boolean streams() {
    return !stream.isEmpty();
  }

  /** Whether bytes of one exchange travel both ways at the same time. */
  public boolean bothWays() {
    return stream.equals("both");
  }

  /** How many bytes a server may have sent on a connection when so many have come to it. */
  public long owed(long came) {
    if (!streams()) return came;
    long owed = came / up.bytes * down.bytes;
    if (bothWays() && came % up.bytes > 0) owed += down.bytes - 1; // the last byte says that all has come
    return owed;
  }
}
