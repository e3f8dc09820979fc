package dev.netdyno.worker;

import dev.netdyno.kit.Description;
import dev.netdyno.kit.Setup;
import dev.netdyno.kit.StreamServer;
import dev.netdyno.kit.Traffic;
import dev.netdyno.kit.Transport;
import dev.netdyno.kit.Work;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import java.util.List;

/** Transport netty: the wires echo and stream on Netty's event loops. */
final class NettyEcho implements Transport {
  @Override
  public Description describe() {
    return new Description("netty", "echo", "Echo and bulk on Netty's event loops; pooled direct buffers")
        .features(Work.features()).features("tls")
        .option(Loops.option());
  }

  @Override
  public Transport.Server server(Setup setup) {
    Work work = new Work(setup);
    ByteBuf down = work.streams() ? Loops.shared(work.down.block) : Unpooled.EMPTY_BUFFER;
    return Ports.open(setup, new Loops(setup), new Traffic.All(work), traffic -> {
      ChannelHandler end = work.streams() ? new Bulk(work, down, traffic) : new Echo(traffic);
      return work.service == null ? List.of(end) : List.of(new Working(work.service, work.up.bytes), end);
    });
  }

  @Override
  public Transport.Client client(Setup setup) throws Exception {
    EchoClient client = new EchoClient(setup);
    client.connect();
    return client;
  }

  private static final class Echo extends End {
    Echo(Traffic traffic) {
      super(traffic);
    }

    @Override
    public void channelRead(ChannelHandlerContext c, Object message) {
      int n = ((ByteBuf) message).readableBytes();
      traffic.addReceived(n);
      wrote(n, false);
      c.write(message, c.voidPromise());
    }
  }

  private static final class Bulk extends End {
    private final StreamServer stream;
    private final ByteBuf down;

    Bulk(Work work, ByteBuf down, Traffic traffic) {
      super(traffic);
      stream = new StreamServer(work, traffic);
      this.down = down;
    }

    @Override
    public void channelRead(ChannelHandlerContext c, Object message) {
      ByteBuf came = (ByteBuf) message;
      try {
        for (int n = stream.unverified(came.readableBytes()); n > 0; n = 0) {
          stream.verifier().add(came.nioBuffer(came.readerIndex(), n));
          came.skipBytes(n);
          stream.received(n, true);
        }
        if (came.isReadable()) stream.received(came.readableBytes(), false);
        send(c);
      } finally {
        came.release();
      }
    }

    private void send(ChannelHandlerContext c) {
      for (int n = stream.outgoing(); n > 0 && c.channel().isWritable(); n = stream.outgoing()) {
        c.write(down.retainedSlice(stream.offset(), n), c.voidPromise());
        wrote(n, stream.written(n));
      }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext c) {
      super.channelWritabilityChanged(c);
      if (!c.channel().isWritable()) return;
      send(c);
      flushed(c);
    }
  }
}
