package dev.netdyno.worker;

import com.google.protobuf.Message;
import dev.netdyno.kit.Addresses;
import dev.netdyno.kit.Counts;
import dev.netdyno.kit.Failure;
import dev.netdyno.kit.Service;
import dev.netdyno.kit.Setup;
import dev.netdyno.kit.Transport;
import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServerTransportFilter;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** The server of transport grpc-java: the trial's methods, by handlers as generated stubs have them. */
final class GrpcServer implements Transport.Server {
  /** The length that a request's reply is to have, where that varies. */
  private static final Context.Key<Integer> ASKED = Context.key("netdyno-down");

  private final Messages messages;
  private final Service service;
  private final EventLoopGroup serves;
  private final boolean asks; // requests say how long their replies are to be
  private final List<String> bound = new ArrayList<>();
  private final LongAdder exchanges = new LongAdder();
  private final LongAdder received = new LongAdder();
  private final LongAdder sent = new LongAdder();
  private final AtomicInteger open = new AtomicInteger();

  GrpcServer(Setup setup, Messages messages) {
    this.messages = messages;
    Loops loops = new Loops(setup);
    Addresses.Allowed allowed = new Addresses.Allowed(setup);
    EventLoopGroup accepts = loops.group(1);
    service = Service.of(setup);
    asks = messages.plain() && messages.content.downVaries;
    serves = loops.group(setup.loops());
    ServerServiceDefinition.Builder of = ServerServiceDefinition.builder("netdyno.v1.Exchange")
        .addMethod(messages.unary, ServerCalls.asyncUnaryCall(this::unary))
        .addMethod(messages.talk, ServerCalls.asyncBidiStreamingCall(this::talk));
    if (messages.cutUp) of.addMethod(messages.chunked, ServerCalls.asyncBidiStreamingCall(Chunks::new));
    if (messages.cutDown && !messages.cutUp) {
      of.addMethod(messages.chunked, ServerCalls.asyncServerStreamingCall((request, to) -> {
        Chunks chunks = new Chunks(to);
        chunks.onNext(request);
        chunks.onCompleted();
      }));
    }
    ServerServiceDefinition methods = of.build();
    for (InetSocketAddress to : Addresses.binds(setup)) {
      NettyServerBuilder b = NettyServerBuilder.forAddress(to).bossEventLoopGroup(accepts).workerEventLoopGroup(serves)
          .channelFactory(() -> loops.listener(allowed)).withOption(ChannelOption.SO_BACKLOG, Addresses.BACKLOG)
          .maxInboundMessageSize(messages.most()).initialFlowControlWindow((int) setup.number("window"))
          .addTransportFilter(counting()).addService(methods);
      if (asks) b.intercept(GrpcServer.this::ask);
      if (loops.tls != null) b.sslContext(loops.tls);
      if (setup.text("executor").equals("direct")) b.directExecutor();
      try {
        Server server = b.build().start();
        bound.add(Addresses.bound(setup, server.getPort()));
      } catch (IOException e) {
        throw Addresses.bindFailure(to, e.getCause() == null ? e : e.getCause());
      }
    }
  }

  private ServerTransportFilter counting() {
    return new ServerTransportFilter() {
      @Override
      public Attributes transportReady(Attributes a) {
        open.incrementAndGet();
        return a;
      }

      @Override
      public void transportTerminated(Attributes a) {
        if (a != null) open.decrementAndGet();
      }
    };
  }

  private <Q, R> ServerCall.Listener<Q> ask(ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
    int n = messages.content.asked(headers.get(Messages.DOWN));
    return Contexts.interceptCall(Context.current().withValue(ASKED, n), call, headers, next);
  }

  private void unary(Message request, StreamObserver<Message> to) {
    Integer asked = asks ? ASKED.get() : null;
    if (service == null) {
      reply(request, asked, to);
    } else {
      work(() -> reply(request, asked, to));
    }
  }

  private void reply(Message request, Integer asked, StreamObserver<Message> to) {
    if (answer(request, asked, to)) to.onCompleted();
  }

  /** Does an exchange's work, if there is any, and then what follows. */
  private void work(Runnable then) {
    if (service == null) {
      then.run();
    } else {
      service.serve(service.sleeps() ? () -> serves.execute(then) : then);
    }
  }

  private boolean answer(Message request, Integer asked, StreamObserver<Message> to) {
    String refused = messages.refuses(request);
    if (asked != null && asked < 0) refused = "metadata " + Messages.DOWN.name() + " is missing or no length of a reply";
    if (refused != null) {
      to.onError(Status.INVALID_ARGUMENT.withDescription(refused).asRuntimeException());
      return false;
    }
    Message reply = messages.reply(asked);
    to.onNext(reply);
    count(messages.size(request), messages.size(reply));
    return true;
  }

  private void count(long came, long went) {
    received.add(came);
    sent.add(went);
    exchanges.increment();
  }

  private StreamObserver<Message> talk(StreamObserver<Message> to) {
    ServerCallStreamObserver<Message> call = (ServerCallStreamObserver<Message>) to;
    if (service != null) call.disableAutoRequest(); // one message at a time, so that replies keep their order
    if (service != null) call.request(1);
    return new StreamObserver<>() {
      @Override
      public void onNext(Message request) {
        work(() -> {
          if (answer(request, null, to) && service != null) call.request(1);
        });
      }

      @Override
      public void onError(Throwable why) {
        // the client counts it
      }

      @Override
      public void onCompleted() {
        to.onCompleted();
      }
    };
  }

  /** An exchange whose content travels in chunks: joined when it comes, cut when it goes, as fast as the client reads. */
  private final class Chunks implements StreamObserver<Message> {
    private final ServerCallStreamObserver<Message> to;
    private final byte[] joined = new byte[messages.content.up.length];
    private int came;
    private int at = -1; // of the reply; -1 before it begins
    private boolean over;

    Chunks(StreamObserver<Message> to) {
      this.to = (ServerCallStreamObserver<Message>) to;
      this.to.setOnReadyHandler(this::send);
    }

    @Override
    public void onNext(Message chunk) {
      try {
        came = messages.join(joined, came, chunk);
      } catch (Failure f) {
        refuse(f.getMessage());
      }
    }

    private void refuse(String why) {
      if (over) return;
      over = true;
      to.onError(Status.INVALID_ARGUMENT.withDescription(why).asRuntimeException());
    }

    @Override
    public void onError(Throwable why) {
      over = true; // the client counts it
    }

    @Override
    public void onCompleted() {
      String refused = messages.content.refuses(came);
      if (refused != null) {
        refuse(refused);
        return;
      }
      work(() -> {
        count(came, messages.content.down.length);
        begin();
      });
    }

    private synchronized void begin() {
      at = 0;
      send();
    }

    /** Sends what the client has room for; the beginning at once. */
    private synchronized void send() {
      byte[] down = messages.content.down;
      while (at >= 0 && !over && (at == 0 || to.isReady())) {
        Message piece = messages.piece(down, at, messages.cutDown);
        at += (int) messages.size(piece);
        to.onNext(piece);
        if (at < down.length) continue;
        over = true;
        to.onCompleted();
      }
    }
  }

  @Override
  public Map<String, Object> ready() {
    Map<String, Object> ready = new LinkedHashMap<>(messages.ready);
    ready.put("addresses", bound);
    return ready;
  }

  @Override
  public Counts counts() {
    Counts c = new Counts();
    c.exchanges = exchanges.sum();
    c.receivedBytes = received.sum();
    c.sentBytes = sent.sum();
    c.connections = open.get();
    return c;
  }
}
