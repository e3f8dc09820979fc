package dev.netdyno.worker;

import com.google.protobuf.Message;
import dev.netdyno.kit.Addresses;
import dev.netdyno.kit.Caller;
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
    new First(i, to).start();
  }

  private ManagedChannel channel(int i) {
    Addresses.Route to = routes().get(i);
    NettyChannelBuilder b = NettyChannelBuilder.forAddress(to.peer()).usePlaintext().eventLoopGroup(groups[i % groups.length])
        .channelType(kind.connects().asSubclass(io.grpc.netty.shaded.io.netty.channel.Channel.class), to.peer().getClass())
        .maxInboundMessageSize(messages.most()).initialFlowControlWindow((int) setup.number("window"))
        .disableRetry().proxyDetector(a -> null);
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
      Calls c = new Calls(i, s);
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
    return new Failure(kind, cause == null ? text : text + " (" + Failure.textOf(cause) + ")", reason);
  }

  /** The first exchange of a connection, which is compared. */
  private final class First extends ClientCall.Listener<Message> {
    private final int number;
    private final Addresses.Route to;
    private Failure wrong;
    private boolean came;

    First(int number, Addresses.Route to) {
      this.number = number;
      this.to = to;
    }

    void start() {
      ClientCall<Message, Message> call = channels[number].newCall(messages.unary, CallOptions.DEFAULT);
      call.start(this, messages.headers(load().first(number)));
      call.request(2);
      call.sendMessage(messages.request(load().first(number)));
      call.halfClose();
    }

    @Override
    public void onMessage(Message reply) {
      came = true;
      try {
        messages.verify(number, reply, load().first(number));
      } catch (Failure f) {
        wrong = f;
      }
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      if (wrong == null && !status.isOk()) {
        Failure f = failure(status);
        wrong = f.kind == Failure.Kind.INVALID ? new Failure(f.kind, "verify connection " + number + ": " + f.getMessage())
            : new Failure(f.kind, "connect " + (number + 1) + " of " + routes().size() + " to " + Addresses.text(to.peer()) + ": " + f.getMessage());
      }
      if (wrong == null && !came) wrong = Failure.invalid("verify connection " + number + ": no message came");
      if (setup.load.fresh) channels[number].shutdown(); // the load's exchanges each make a connection of their own
      verified(wrong);
    }
  }

  /** A slot: a call for each exchange, or a stream for all of them. */
  private final class Calls extends Caller {
    private Stream stream; // the one that stays open
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
      Message request = messages.request(slot.draw());
      if (streams && stream != null) {
        sent();
        stream.call.sendMessage(request);
        return;
      }
      Stream s = new Stream(this);
      sending();
      CallOptions options = CallOptions.DEFAULT;
      if (deadlines.length > 0 && deadlines[slot.draw().kind] > 0) {
        options = options.withDeadlineAfter(deadlines[slot.draw().kind], TimeUnit.NANOSECONDS);
      }
      if (setup.load.fresh) {
        s.own = channel(connection);
        options = options.withStreamTracerFactory(tracer);
      } else {
        sent();
      }
      s.call = (s.own != null ? s.own : channels[connection]).newCall(streams ? messages.talk : messages.unary, options);
      stream = streams ? s : null;
      s.call.start(s, messages.headers(slot.draw()));
      s.call.request(streams ? Integer.MAX_VALUE : 2);
      s.call.sendMessage(request);
      if (!streams) s.call.halfClose();
    }

    void failedBy(Failure why) {
      stream = null;
      if (why.kind == Failure.Kind.TIMEOUT && deadlines.length > 0) {
        failed(Failure.late(deadlines[slot.draw().kind]));
        return;
      }
      if (setup.load.fresh && why.kind == Failure.Kind.PEER) {
        lost(why);
        return;
      }
      ConnectivityState state = channels[connection].getState(false);
      if (why.kind == Failure.Kind.PEER && (state == ConnectivityState.TRANSIENT_FAILURE || state == ConnectivityState.SHUTDOWN)) {
        lost(why);
      } else {
        failed(why);
      }
    }
  }

  /** What comes on a call. */
  private final class Stream extends ClientCall.Listener<Message> {
    private final Calls of;
    private ClientCall<Message, Message> call;
    private ManagedChannel own; // where every exchange has one
    private long bytes = -1;
    private Failure wrong;

    Stream(Calls of) {
      this.of = of;
    }

    @Override
    public void onMessage(Message reply) {
      String says = messages.wrongReply(reply, of.slot.draw());
      if (says != null) {
        wrong = Failure.invalid(says);
        call.cancel(says, null);
      } else if (streams) {
        of.replied(messages.size(reply));
      } else {
        bytes = messages.size(reply);
      }
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      if (own != null) own.shutdown();
      if (wrong == null && status.isOk() && bytes >= 0) {
        of.replied(bytes);
      } else if (!streams || of.stream == this) {
        of.failedBy(wrong != null ? wrong : failure(status));
      }
    }
  }
}
