package dev.netdyno.kit;

import java.util.zip.CRC32C;

/** Content of codec bytes on wires with requests (docs/wires.md, section Requests). It never changes. */
public final class Exchange {
  /** The header by which a request says how long its reply is to be, where that varies. */
  public static final String DOWN = "netdyno-down";

  public final byte[] up;
  public final byte[] down;
  public final boolean upVaries;
  public final boolean downVaries;
  /** What a server does for each exchange; null for nothing. */
  public final Service service;

  /** Sizes that cannot be are a Failure of kind setup. */
  public Exchange(Setup s) {
    long u = s.exchange.upBytes;
    long d = s.exchange.downBytes;
    if (u < 0 || u > Setup.MAX_MESSAGE || d < 0 || d > Setup.MAX_MESSAGE) {
      throw Failure.setup("exchange is " + u + " bytes up and " + d + " down, expected 0 to " + Setup.MAX_MESSAGE);
    }
    upVaries = s.exchange.upSizes.length > 0;
    downVaries = s.exchange.downSizes.length > 0;
    service = Service.of(s);
    up = Content.random(u, 'u');
    down = Content.random(d, 'd');
  }

  /** Why a server refuses a request of such a length; null where it does not. */
  public String refuses(long length) {
    if (upVaries ? length <= up.length : length == up.length) return null;
    return "the request has " + length + " bytes, expected " + (upVaries ? "at most " : "") + up.length;
  }

  /** How long the reply is to be, as a request asks by its header; -1 where that cannot be. */
  public int asked(String header) {
    if (!downVaries) return down.length;
    try {
      int n = Integer.parseInt(header == null ? "" : header);
      return n >= 0 && n <= down.length && header.charAt(0) != '+' ? n : -1;
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  /** Throws a Failure of kind invalid unless a reply is the first so many bytes of what servers send. */
  public static void verify(int connection, byte[] expected, long length, byte[] reply) {
    CRC32C want = new CRC32C();
    CRC32C got = new CRC32C();
    want.update(expected, 0, (int) length);
    got.update(reply);
    if (reply.length == length && want.getValue() == got.getValue()) return;
    throw new Failure(Failure.Kind.INVALID,
        String.format("verify connection %d: expected %d bytes with CRC-32C %08x, received %d with %08x"
            + " (a server that is not netdyno's sends other content: drive it with opt.verify=length)",
            connection, length, want.getValue(), reply.length, got.getValue()), "the server sends other content");
  }
}
