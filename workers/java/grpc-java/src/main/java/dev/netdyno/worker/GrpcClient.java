package dev.netdyno.worker;

import com.google.protobuf.Message;
import dev.netdyno.kit.Addresses;
import dev.netdyno.kit.Caller;
import dev.netdyno.kit.Draw;
import dev.netdyno.kit.Exchange;
import dev.netdyno.kit.Failure;
import dev.netdyno.kit.Load;
import dev.netdyno.kit.LoopClient;
import dev.netdyno.kit.Setup;
import dev.netdyno.kit.Slot;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ClientStreamTracer;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoop;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The client of transport grpc-java: calls as generated stubs make them. */
final class GrpcClient extends LoopClient {
  private final Messages messages;
  private final Setup setup;
  private final Loops kind;
  private final EventLoopGroup[] groups;
  private final EventLoop[] loops;
  private final boolean streams;
  private final long[] deadlines; // of each class
  private final ManagedChannel[] channels;

  GrpcClient(Setup setup, Messages messages) {
    super(setup, setup.loops(), Load.forThreads(setup));
    this.setup = setup;
    this.messages = messages;
    kind = new Loops(setup);
    streams = setup.text("mode").equals("stream");
    if (streams && messages.plain() && messages.content.downVaries) {
      throw Failure.unsupported("option mode is stream with down sizes that vary: a request says how long its reply is to be by metadata, which a stream has once");
    }
    if (streams && (setup.load.deadlines() || setup.load.fresh)) {
      throw Failure.unsupported("option mode is stream with a class's deadline or fresh connections: a stream outlives its exchanges; expected unary");
    }
    if (streams && messages.chunked != null) throw Failure.unsupported("option mode is stream with exchange.stream: chunks travel by Up, Down and Both alone");
    deadlines = setup.load.classes.stream().mapToLong(c -> c.deadlineNs).toArray();
    groups = new EventLoopGroup[setup.loops()];
    loops = new EventLoop[groups.length];
    for (int i = 0; i < groups.length; i++) {
      groups[i] = kind.group(1);
      loops[i] = (EventLoop) groups[i].next();
    }
    channels = new ManagedChannel[routes().size()];
  }

  @Override
  public Map<String, Object> ready() {
    return messages.ready;
  }

  @Override
  protected void execute(int loop, Runnable task) {
    loops[loop].execute(task);
  }

  @Override
  protected void open(int i, Addresses.Route to) {
    channels[i] = channel(i);
    new First(i).start(channels[i], CallOptions.DEFAULT);
  }

  private ManagedChannel channel(int i) {
    Addresses.Route to = routes().get(i);
    NettyChannelBuilder b = NettyChannelBuilder.forAddress(to.peer()).eventLoopGroup(groups[i % groups.length])
        .channelType(kind.connects().asSubclass(io.grpc.netty.shaded.io.netty.channel.Channel.class), to.peer().getClass())
        .maxInboundMessageSize(messages.most()).initialFlowControlWindow((int) setup.number("window"))
        .disableRetry().proxyDetector(a -> null);
    if (kind.tls == null) b.usePlaintext();
    if (kind.tls != null) b.sslContext(kind.tls);
    if (to.source() != null) b.localSocketPicker(new Local(to));
    b.directExecutor(); // replies come on the connection's loop, which its slots belong to
    return b.build();
  }

  private static final class Local extends NettyChannelBuilder.LocalSocketPicker {
    private final Addresses.Route to;

    Local(Addresses.Route to) {
      this.to = to;
    }

    @Override
    public java.net.SocketAddress createSocketAddress(java.net.SocketAddress remote, io.grpc.Attributes attributes) {
      return new InetSocketAddress(to.source(), 0);
    }
  }

  @Override
  protected void begin(int i) {
    for (Slot s : load().slots(i)) {
      Caller c = streams ? new Talk(i, s) : new Calls(i, s);
      c.begin();
    }
  }

  @Override
  protected void disconnect() {
    for (ManagedChannel c : channels) if (c != null) c.shutdownNow();
  }

  private static Failure failure(Status status) {
    Failure.Kind kind = switch (status.getCode()) {
      case UNAVAILABLE, CANCELLED -> Failure.Kind.PEER;
      case DEADLINE_EXCEEDED -> Failure.Kind.TIMEOUT;
      default -> Failure.Kind.INVALID;
    };
    Throwable cause = status.getCause();
    String text = status.getCode() + (status.getDescription() == null ? "" : ": " + status.getDescription());
    String reason = cause == null ? text : Failure.reasonOf(cause);
    Failure f = new Failure(kind, cause == null ? text : text + " (" + Failure.textOf(cause) + ")", reason);
    if (cause != null) f.initCause(cause);
    return f;
  }

  /** One call: a message each way, or chunks of them. */
  private abstract class Call extends ClientCall.Listener<Message> {
    final Draw draw;
    private final byte[] joined; // of replies in chunks; else null
    private ClientCall<Message, Message> call;
    private int at; // what was sent of a request in chunks
    private boolean requested;
    private Message reply;
    private int came;
    private Failure wrong;

    Call(Draw draw, byte[] joined) {
      this.draw = draw;
      this.joined = joined;
    }

    final void start(ManagedChannel on, CallOptions options) {
      call = on.newCall(messages.chunked != null ? messages.chunked : messages.unary, options);
      call.start(this, messages.headers(draw));
      call.request(messages.cutDown ? Integer.MAX_VALUE : 2);
      send();
    }

    /** Sends what the server has room for; the beginning at once. */
    private void send() {
      while (!requested && (at == 0 || call.isReady())) {
        if (messages.chunked == null) {
          call.sendMessage(messages.request(draw));
          requested = true;
        } else {
          Message piece = messages.piece(messages.content.up, at, messages.cutUp);
          at += (int) messages.size(piece);
          call.sendMessage(piece);
          requested = at >= messages.content.up.length;
        }
        if (requested) call.halfClose();
      }
    }

    @Override
    public void onReady() {
      if (at > 0) send();
    }

    @Override
    public void onMessage(Message message) {
      try {
        if (joined != null) {
          came = messages.join(joined, came, message);
        } else {
          reply = message;
          came = (int) messages.size(message);
        }
      } catch (Failure f) {
        wrong = f;
        call.cancel(f.getMessage(), null);
      }
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      boolean whole = joined != null ? came == joined.length : reply != null && messages.wrongReply(reply, draw) == null;
      if (wrong == null && status.isOk() && !whole) {
        wrong = Failure.invalid(reply != null ? messages.wrongReply(reply, draw) : "the reply has " + came + " bytes");
      }
      if (wrong == null && !status.isOk()) wrong = failure(status);
      if (wrong == null) {
        completed(came);
      } else {
        broke(wrong);
      }
    }

    abstract void completed(long bytes);

    abstract void broke(Failure why);
  }

  private byte[] room() {
    return messages.chunked == null ? null : new byte[messages.content.down.length];
  }

  /** The first exchange of a connection, which is compared. */
  private final class First extends Call {
    private final int number;

    First(int number) {
      super(load().first(number), room());
      this.number = number;
    }

    @Override
    void completed(long bytes) {
      try {
        if (super.joined != null) {
          Exchange.verify(number, messages.content.down, bytes, super.joined);
        } else {
          messages.verify(number, super.reply, draw);
        }
        end(null);
      } catch (Failure f) {
        end(f);
      }
    }

    @Override
    void broke(Failure why) {
      if (why.kind == Failure.Kind.INVALID) {
        end(new Failure(why.kind, "verify connection " + number + ": " + why.getMessage()));
      } else {
        Throwable cause = why.getCause() != null ? why.getCause() : new IOException(why.getMessage());
        end(Addresses.connectFailure(number, routes().size(), routes().get(number), cause));
      }
    }

    private void end(Failure wrong) {
      if (setup.load.fresh) channels[number].shutdown(); // the load's exchanges each make a connection of their own
      verified(wrong);
    }
  }

  /** A slot that makes a call for each exchange. */
  private final class Calls extends Caller {
    private final byte[] room = room();
    private final ClientStreamTracer.Factory tracer = new ClientStreamTracer.Factory() { // tells when a fresh connection carries the request
      @Override
      public ClientStreamTracer newClientStreamTracer(ClientStreamTracer.StreamInfo info, Metadata headers) {
        return new ClientStreamTracer() {
          @Override
          public void outboundHeaders() {
            sent();
          }
        };
      }
    };

    Calls(int connection, Slot slot) {
      super(GrpcClient.this, connection, slot);
    }

    @Override
    protected void call() {
      sending();
      CallOptions options = CallOptions.DEFAULT;
      long deadline = deadlines.length == 0 ? 0 : deadlines[slot.draw().kind];
      if (deadline > 0) options = options.withDeadlineAfter(deadline, TimeUnit.NANOSECONDS);
      ManagedChannel own = setup.load.fresh ? channel(connection) : null;
      if (own != null) options = options.withStreamTracerFactory(tracer);
      if (own == null) sent();
      new Call(slot.draw(), room) {
        @Override
        void completed(long bytes) {
          if (own != null) own.shutdown();
          replied(bytes);
        }

        @Override
        void broke(Failure why) {
          if (own != null) own.shutdownNow();
          boolean late = why.kind == Failure.Kind.TIMEOUT && deadline > 0;
          breakOff(Calls.this, late ? Failure.late(deadline) : why, own != null);
        }
      }.start(own != null ? own : channels[connection], options);
    }
  }

  /** A slot whose stream stays open, with a message each way for each exchange. */
  private final class Talk extends Caller {
    private Open stream; // null before the first exchange, and after a failure

    Talk(int connection, Slot slot) {
      super(GrpcClient.this, connection, slot);
    }

    @Override
    protected void call() {
      Open s = stream;
      if (s == null) {
        s = new Open(channels[connection].newCall(messages.talk, CallOptions.DEFAULT));
        stream = s;
      }
      sent();
      s.begin();
      s.call.sendMessage(messages.request(slot.draw()));
    }

    /** What comes on the stream. */
    private final class Open extends ClientCall.Listener<Message> {
      private final ClientCall<Message, Message> call;
      private boolean begun;
      private Failure wrong;

      Open(ClientCall<Message, Message> call) {
        this.call = call;
      }

      private void begin() {
        if (begun) return;
        begun = true;
        call.start(this, new Metadata());
        call.request(Integer.MAX_VALUE);
      }

      @Override
      public void onMessage(Message reply) {
        String says = messages.wrongReply(reply, slot.draw());
        if (says == null) {
          replied(messages.size(reply));
        } else {
          wrong = Failure.invalid(says);
          call.cancel(says, null);
        }
      }

      @Override
      public void onClose(Status status, Metadata trailers) {
        if (stream != this) return;
        stream = null;
        breakOff(Talk.this, wrong != null ? wrong : failure(status), false);
      }
    }
  }

  /** Fails an exchange; where its connection is gone, the slot too. */
  private void breakOff(Caller of, Failure why, boolean alone) {
    ConnectivityState state = channels[of.connection].getState(false);
    boolean gone = state == ConnectivityState.TRANSIENT_FAILURE || state == ConnectivityState.SHUTDOWN;
    if (why.kind == Failure.Kind.PEER && (alone || gone)) {
      of.lost(why);
    } else {
      of.failed(why);
    }
  }
}
