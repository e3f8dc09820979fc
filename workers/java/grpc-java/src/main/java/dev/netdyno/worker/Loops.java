package dev.netdyno.worker;

import dev.netdyno.kit.Addresses;
import dev.netdyno.kit.Failure;
import dev.netdyno.kit.Setup;
import dev.netdyno.kit.Tls;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.ServerChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.nio.NioEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioSocketChannel;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import java.net.InetSocketAddress;
import javax.net.ssl.SSLException;

/** The event loops of grpc-java's Netty, as option io says. */
final class Loops {
  private final boolean epoll;
  /** The library's own TLS, OpenSSL's where it can; null for plain connections. */
  final SslContext tls;

  Loops(Setup setup) {
    tls = setup.tls == null ? null : tls(setup);
    epoll = setup.text("io").equals("epoll");
    if (epoll && !Epoll.isAvailable()) throw Failure.unsupported("io=epoll: " + Epoll.unavailabilityCause() + "; io=nio runs everywhere");
  }

  private static SslContext tls(Setup setup) {
    try {
      SslContextBuilder b = setup.isServer()
          ? GrpcSslContexts.forServer(Tls.stream(setup.tls.certificate), Tls.stream(setup.tls.key))
          : GrpcSslContexts.forClient().trustManager(Tls.stream(setup.tls.authorities));
      return b.protocols("TLSv1.3").build();
    } catch (SSLException | IllegalArgumentException e) {
      throw Failure.setup("read setup.tls: " + Failure.textOf(e));
    }
  }

  EventLoopGroup group(int threads) {
    return epoll ? new EpollEventLoopGroup(threads) : new NioEventLoopGroup(threads);
  }

  Class<? extends Channel> connects() {
    return epoll ? EpollSocketChannel.class : NioSocketChannel.class;
  }

  /** A listening channel that closes connections of those who are not admitted, before anything else. */
  ServerChannel listener(Addresses.Allowed allowed) {
    ServerChannel listener = epoll ? new EpollServerSocketChannel() : new NioServerSocketChannel();
    listener.pipeline().addFirst(new ChannelInboundHandlerAdapter() {
      @Override
      public void channelRead(ChannelHandlerContext c, Object accepted) {
        Channel child = (Channel) accepted;
        if (allowed.admits(((InetSocketAddress) child.remoteAddress()).getAddress())) {
          c.fireChannelRead(accepted);
        } else {
          child.unsafe().closeForcibly();
        }
      }
    });
    return listener;
  }
}
