package dev.netdyno.worker;

import dev.netdyno.kit.Addresses;
import dev.netdyno.kit.Failure;
import dev.netdyno.kit.LoopClient;
import dev.netdyno.kit.Pipe;
import dev.netdyno.kit.Setup;
import dev.netdyno.kit.Work;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.EOFException;
import java.util.List;

/** The client of transport netty. */
final class EchoClient extends LoopClient {
  private final Work work;
  private final Loops loops;
  private final ByteBuf up;
  private final Connection[] connections;

  EchoClient(Setup setup) {
    this(setup, new Loops(setup));
  }

  private EchoClient(Setup setup, Loops loops) {
    super(setup, loops.size());
    this.loops = loops;
    work = new Work(setup);
    up = Loops.shared(work.up.block);
    connections = new Connection[routes().size()];
  }

  @Override
  protected void execute(int loop, Runnable task) {
    loops.loop(loop).execute(task);
  }

  @Override
  protected void begin(int connection) {
    connections[connection].pipe.begin();
  }

  @Override
  protected void open(int i, Addresses.Route to) {
    Connection c = new Connection(i);
    connections[i] = c;
    loops.connect(i, to, () -> List.of(c)).addListener(f -> {
      if (!f.isSuccess()) verified(Addresses.connectFailure(i, routes().size(), to, f.cause()));
    });
  }

  @Override
  protected void disconnect() {
    for (Connection c : connections) if (c != null && c.channel != null) c.channel.close();
  }

  /** One connection: its handler and its pipe. */
  private final class Connection extends ChannelInboundHandlerAdapter {
    private final Pipe pipe;
    private volatile Channel channel;
    private ChannelHandlerContext context;
    private boolean reading;

    Connection(int number) {
      pipe = new Pipe(EchoClient.this, work, agenda(number), number) {
        @Override
        protected void send() {
          sendPieces();
        }

        @Override
        protected void disconnect() {
          channel.close();
        }
      };
    }

    /** Hands over what is to be sent; while a read is under way it is flushed at the end of it. */
    private void sendPieces() {
      boolean any = false;
      while (pipe.unsent() && channel.isWritable()) {
        int n = pipe.outgoing();
        int from = pipe.offset();
        pipe.written(n);
        context.write(up.retainedSlice(from, n), context.voidPromise());
        any = true;
      }
      if (any && !reading) context.flush();
    }

    @Override
    public void channelActive(ChannelHandlerContext c) {
      context = c;
      channel = c.channel();
      pipe.verify();
    }

    @Override
    public void channelRead(ChannelHandlerContext c, Object message) {
      ByteBuf came = (ByteBuf) message;
      reading = true;
      pipe.received(pipe.compares() ? came.nioBuffer() : null, came.readableBytes());
      came.release();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext c) {
      reading = false;
      c.flush();
      pipe.agenda().fire();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext c) {
      if (c.channel().isWritable()) sendPieces();
    }

    @Override
    public void channelInactive(ChannelHandlerContext c) {
      pipe.ended(new EOFException("the peer closed the connection"));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext c, Throwable cause) {
      pipe.ended(cause instanceof Exception ? cause : Failure.peer(Failure.textOf(cause)));
      c.close();
    }
  }
}
