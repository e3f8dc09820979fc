package dev.netdyno.worker;

import com.google.protobuf.Message;
import dev.netdyno.kit.Addresses;
import dev.netdyno.kit.Counts;
import dev.netdyno.kit.Setup;
import dev.netdyno.kit.Transport;
import io.grpc.Attributes;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServerTransportFilter;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
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
  private final Messages messages;
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
    EventLoopGroup serves = loops.group(setup.loops());
    ServerServiceDefinition service = ServerServiceDefinition.builder("netdyno.v1.Exchange")
        .addMethod(messages.unary, ServerCalls.asyncUnaryCall(this::unary))
        .addMethod(messages.talk, ServerCalls.asyncBidiStreamingCall(this::talk)).build();
    for (InetSocketAddress to : Addresses.binds(setup)) {
      NettyServerBuilder b = NettyServerBuilder.forAddress(to).bossEventLoopGroup(accepts).workerEventLoopGroup(serves)
          .channelFactory(() -> loops.listener(allowed)).withOption(ChannelOption.SO_BACKLOG, Addresses.BACKLOG)
          .maxInboundMessageSize(messages.most()).initialFlowControlWindow((int) setup.number("window"))
          .addTransportFilter(counting()).addService(service);
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

  private void unary(Message request, StreamObserver<Message> to) {
    if (answer(request, to)) to.onCompleted();
  }

  private boolean answer(Message request, StreamObserver<Message> to) {
    String refused = messages.refuses(request);
    if (refused != null) {
      to.onError(Status.INVALID_ARGUMENT.withDescription(refused).asRuntimeException());
      return false;
    }
    Message reply = messages.reply();
    to.onNext(reply);
    received.add(messages.size(request));
    sent.add(messages.size(reply));
    exchanges.increment();
    return true;
  }

  private StreamObserver<Message> talk(StreamObserver<Message> to) {
    return new StreamObserver<>() {
      @Override
      public void onNext(Message request) {
        answer(request, to);
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
