package dev.netdyno.kit;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/** What each message of one direction contains: a block, repeated. It never changes. */
public final class Content {
  public final long bytes;
  public final byte[] block;

  public Content(long bytes, byte[] block) {
    this.bytes = bytes;
    this.block = block;
  }

  /** Where in the block position at of a message lies. */
  public int offset(long at) {
    return (int) (at % block.length);
  }

  /** How many bytes of a message of some size one copy of the block has from position at on. */
  public int reach(long at, long size) {
    return (int) Math.min(block.length - offset(at), size - at);
  }

  /** The CRC-32C of the first bytes of a message. */
  public long sum(long size) {
    CRC32C sum = new CRC32C();
    for (long at = 0; at < size; ) {
      int n = reach(at, size);
      sum.update(block, offset(at), n);
      at += n;
    }
    return sum.getValue();
  }

  /** Content of wire stream, whose generator begins at a state: 1 upwards, 2 downwards. */
  static Content stream(long bytes, int chunk, long state) {
    int size = (int) Math.min(bytes, chunk);
    ByteBuffer block = ByteBuffer.allocate(size + 7).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i + 8 <= block.capacity(); i += 8) block.putLong(i, Drawer.at(state, i / 8));
    return new Content(bytes, java.util.Arrays.copyOf(block.array(), size));
  }

  /** Incompressible bytes, the same in every worker: of direction 'u' or 'd' on wires with requests. */
  public static byte[] random(long size, char direction) {
    byte[] key = new byte[32];
    key[0] = (byte) direction;
    return chacha8(key, size);
  }

  static byte[] chacha8(byte[] key, long size) {
    byte[] out = new byte[(int) size];
    byte[] next = key.clone();
    byte[] piece = new byte[1024];
    for (int at = 0; at < out.length; at += piece.length - 32) {
      blocks(next, piece);
      System.arraycopy(piece, 0, out, at, Math.min(piece.length - 32, out.length - at));
      System.arraycopy(piece, piece.length - 32, next, 0, 32);
    }
    return out;
  }

  /** The 1,024 bytes of one key: groups of four blocks of eight rounds, word i of each side by side. */
  private static void blocks(byte[] keyBytes, byte[] to) {
    int[] key = new int[8];
    ByteBuffer.wrap(keyBytes).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(key);
    ByteBuffer out = ByteBuffer.wrap(to).order(ByteOrder.LITTLE_ENDIAN);
    int[] b = new int[16];
    for (int counter = 0; counter < 16; counter++) {
      b[0] = 0x61707865;
      b[1] = 0x3320646e;
      b[2] = 0x79622d32;
      b[3] = 0x6b206574;
      System.arraycopy(key, 0, b, 4, 8);
      b[12] = counter;
      b[13] = b[14] = b[15] = 0;
      for (int i = 0; i < 4; i++) {
        for (int c = 0; c < 4; c++) quarter(b, c, 4 + c, 8 + c, 12 + c);
        for (int c = 0; c < 4; c++) quarter(b, c, 4 + (c + 1) % 4, 8 + (c + 2) % 4, 12 + (c + 3) % 4);
      }
      for (int i = 0; i < 8; i++) b[4 + i] += key[i];
      for (int word = 0; word < 16; word++) out.putInt(counter / 4 * 256 + word * 16 + counter % 4 * 4, b[word]);
    }
  }

  private static void quarter(int[] b, int a, int i, int j, int k) {
    b[a] += b[i];
    b[k] = Integer.rotateLeft(b[k] ^ b[a], 16);
    b[j] += b[k];
    b[i] = Integer.rotateLeft(b[i] ^ b[j], 12);
    b[a] += b[i];
    b[k] = Integer.rotateLeft(b[k] ^ b[a], 8);
    b[j] += b[k];
    b[i] = Integer.rotateLeft(b[i] ^ b[j], 7);
  }

  /** Compares the first message that comes on a connection with the expected one. One thread uses it. */
  public static final class Verifier {
    private final long want;
    private final long bytes;
    private final CRC32C got = new CRC32C();
    private long came;

    public Verifier(Content content, long bytes) {
      this.bytes = bytes;
      want = content.sum(bytes);
    }

    public long left() {
      return bytes - came;
    }

    public long came() {
      return came;
    }

    /** Takes the next bytes, no more than left. */
    public void add(ByteBuffer piece) {
      came += piece.remaining();
      got.update(piece);
    }

    public void add(byte[] piece, int from, int n) {
      came += n;
      got.update(piece, from, n);
    }

    /** Throws a Failure of kind invalid unless all has come and is as expected. */
    public void check(int connection) {
      if (left() == 0 && got.getValue() == want) return;
      throw new Failure(
          Failure.Kind.INVALID,
          String.format("verify connection %d: received %d bytes with CRC-32C %08x, expected %d with %08x: the peer sends other content",
              connection, came, got.getValue(), bytes, want),
          "the peer sends other content");
    }
  }
}
