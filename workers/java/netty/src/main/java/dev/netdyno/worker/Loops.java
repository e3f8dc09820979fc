package dev.netdyno.worker;

import dev.netdyno.kit.Failure;
import dev.netdyno.kit.Option;
import dev.netdyno.kit.Setup;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
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
import java.util.ArrayList;
import java.util.List;

/** Netty's event loops of one kind, as option io says. */
final class Loops {
  final Class<? extends ServerChannel> listens;
  final Class<? extends SocketChannel> connects;
  private final EventLoopGroup group;
  private final List<EventLoop> loops = new ArrayList<>();

  static Option option() {
    return Option.choice("io", List.of("nio", "epoll", "io_uring"),
            "what its loops wait by: Java's Selector, epoll, or io_uring, the latter two by Netty's native libraries")
        .grid("nio", "epoll", "io_uring");
  }

  Loops(Setup setup) {
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

  /** Content that is sent again and again without a copy. */
  static ByteBuf shared(byte[] block) {
    ByteBuf direct = PooledByteBufAllocator.DEFAULT.directBuffer(block.length).writeBytes(block);
    return Unpooled.unreleasableBuffer(direct);
  }
}
