package dev.netdyno.worker;

import dev.netdyno.kit.Addresses;
import dev.netdyno.kit.Failure;
import dev.netdyno.kit.Option;
import dev.netdyno.kit.Setup;
import dev.netdyno.kit.Tls;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import io.netty.handler.ssl.SslHandler;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Netty's event loops of one kind, as option io says. */
final class Loops {
  final Class<? extends ServerChannel> listens;
  private final Class<? extends SocketChannel> connects;
  private final EventLoopGroup group;
  private final Tls tls; // null for plain connections
  private final List<EventLoop> loops = new ArrayList<>();

  static Option option() {
    return Option.choice("io", List.of("nio", "epoll", "io_uring"),
            "what its loops wait by: Java's Selector, epoll, or io_uring, the latter two by Netty's native libraries")
        .grid("nio", "epoll", "io_uring");
  }

  Loops(Setup setup) {
    tls = setup.tls;
    IoHandlerFactory factory;
    switch (setup.text("io")) {
      case "epoll" -> {
        require(Epoll.unavailabilityCause(), "epoll");
        factory = EpollIoHandler.newFactory();
        listens = EpollServerSocketChannel.class;
        connects = EpollSocketChannel.class;
      }
      case "io_uring" -> {
        require(IoUring.unavailabilityCause(), "io_uring");
        factory = IoUringIoHandler.newFactory();
        listens = IoUringServerSocketChannel.class;
        connects = IoUringSocketChannel.class;
      }
      default -> {
        factory = NioIoHandler.newFactory();
        listens = NioServerSocketChannel.class;
        connects = NioSocketChannel.class;
      }
    }
    group = new MultiThreadIoEventLoopGroup(setup.loops(), factory);
    for (int i = 0; i < setup.loops(); i++) loops.add((EventLoop) group.next());
  }

  private static void require(Throwable missing, String io) {
    if (missing == null) return;
    Throwable root = missing;
    while (root.getCause() != null) root = root.getCause();
    throw Failure.unsupported("io=" + io + ": " + root + " on this host; io=nio runs everywhere");
  }

  int size() {
    return loops.size();
  }

  EventLoop loop(int i) {
    return loops.get(i % loops.size());
  }

  ServerBootstrap server() {
    return new ServerBootstrap().group(group).channel(listens);
  }

  /** Connects on loop i, with the handlers of a new connection. */
  ChannelFuture connect(int i, Addresses.Route to, Supplier<List<ChannelHandler>> handlers) {
    Bootstrap b = new Bootstrap().group(loop(i)).channel(connects)
        .option(ChannelOption.TCP_NODELAY, true).option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 10_000)
        .handler(new ChannelInitializer<SocketChannel>() {
          @Override
          protected void initChannel(SocketChannel c) {
            handle(c, to.peer(), handlers.get());
          }
        });
    if (to.source() != null) b.localAddress(new InetSocketAddress(to.source(), 0));
    return b.connect(to.peer());
  }

  /** Gives a connection its handlers, behind encryption where the trial asks for it; peer is null at a server. */
  void handle(Channel c, InetSocketAddress peer, List<ChannelHandler> handlers) {
    if (tls != null) {
      c.pipeline().addLast(new SslHandler(peer == null ? tls.engine() : tls.engine(peer)));
    }
    c.pipeline().addLast(handlers.toArray(ChannelHandler[]::new));
  }

  /** Content that is sent again and again without a copy. */
  static ByteBuf shared(byte[] block) {
    ByteBuf direct = PooledByteBufAllocator.DEFAULT.directBuffer(block.length).writeBytes(block);
    return Unpooled.unreleasableBuffer(direct);
  }
}
