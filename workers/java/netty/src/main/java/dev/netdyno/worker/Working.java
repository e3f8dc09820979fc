package dev.netdyno.worker;

import dev.netdyno.kit.Service;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;

/** Does a server's work before the end of each request goes on to the handler behind, one request at a time. */
final class Working extends ChannelInboundHandlerAdapter {
  private final Service service;
  private final long bytes; // of a request; 0 where every message is one
  private final ArrayDeque<Object> waiting = new ArrayDeque<>();
  private long at;
  private boolean busy;

  Working(Service service, long bytes) {
    this.service = service;
    this.bytes = bytes;
  }

  @Override
  public void channelRead(ChannelHandlerContext c, Object message) {
    waiting.add(message);
    take(c);
  }

  private void take(ChannelHandlerContext c) {
    while (!busy && !waiting.isEmpty()) {
      Object piece = waiting.peek();
      if (bytes > 0) {
        ByteBuf came = (ByteBuf) piece;
        int n = (int) Math.min(came.readableBytes(), bytes - at);
        at = (at + n) % bytes;
        if (n < came.readableBytes()) piece = came.readRetainedSlice(n);
      }
      if (piece == waiting.peek()) waiting.remove();
      if (bytes > 0 && at > 0) {
        c.fireChannelRead(piece);
        continue;
      }
      busy = true;
      Object end = piece;
      service.serve(() -> {
        if (c.executor().inEventLoop()) {
          pass(c, end);
        } else {
          c.executor().execute(() -> {
            pass(c, end);
            take(c);
          });
        }
      });
    }
  }

  private void pass(ChannelHandlerContext c, Object end) {
    busy = false;
    c.fireChannelRead(end);
    c.fireChannelReadComplete();
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext c) {
    waiting.forEach(ReferenceCountUtil::release);
    waiting.clear();
  }
}
