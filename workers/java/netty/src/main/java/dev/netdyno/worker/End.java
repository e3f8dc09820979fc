package dev.netdyno.worker;

import dev.netdyno.kit.Traffic;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/** Reads no more while what was written waits for the peer, and counts it once the kernel has it. */
abstract class End extends ChannelInboundHandlerAdapter {
  final Traffic traffic;
  private boolean any; // was written since the last flush
  private long unsent;
  private long exchanges;
  private boolean last;

  End(Traffic traffic) {
    this.traffic = traffic;
  }

  void wrote(int bytes, boolean exchange) {
    any = true;
    unsent += bytes;
    if (exchange) exchanges++;
  }

  /** What was written is the last of the connection, which is closed once it is counted. */
  void last() {
    any = true;
    last = true;
  }

  /** Flushes; what the kernel has not taken is counted when it has. */
  void flushed(ChannelHandlerContext c) {
    if (!any) return;
    any = false;
    c.flush();
    long n = unsent;
    long whole = exchanges;
    unsent = 0;
    exchanges = 0;
    if (c.channel().unsafe().outboundBuffer() == null || c.channel().unsafe().outboundBuffer().isEmpty()) {
      count(n, whole);
    } else {
      c.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(f -> {
        if (f.isSuccess()) count(n, whole);
      });
      c.channel().config().setAutoRead(c.channel().isWritable());
    }
    if (last) c.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(f -> c.close());
  }

  private void count(long bytes, long whole) {
    traffic.addSent(bytes);
    traffic.addExchanges(whole);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext c) {
    flushed(c);
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext c) {
    c.channel().config().setAutoRead(c.channel().isWritable());
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext c, Throwable cause) {
    c.close(); // the client's counts tell of it
  }
}
