package dev.netdyno.worker;

import dev.netdyno.kit.Addresses;
import dev.netdyno.kit.Setup;
import dev.netdyno.kit.Traffic;
import dev.netdyno.kit.Transport;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** A server's ports: who is admitted, and which handlers an accepted connection gets. */
final class Ports {
  private Ports() {}

  static Transport.Server open(Setup setup, Loops loops, Traffic.All traffic, Function<Traffic, List<ChannelHandler>> handlers) {
    List<String> bound = new ArrayList<>();
    Addresses.Allowed allowed = new Addresses.Allowed(setup);
    ChannelInitializer<SocketChannel> accepted = new ChannelInitializer<>() {
      @Override
      protected void initChannel(SocketChannel channel) {
        if (!allowed.admits(channel.remoteAddress().getAddress())) {
          channel.close();
          return;
        }
        Traffic own = traffic.begin();
        channel.closeFuture().addListener(f -> traffic.end(own));
        loops.handle(channel, null, handlers.apply(own));
      }
    };
    for (InetSocketAddress to : Addresses.binds(setup)) {
      try {
        Channel listener = loops.server().option(ChannelOption.SO_BACKLOG, Addresses.BACKLOG)
            .childOption(ChannelOption.TCP_NODELAY, true).childHandler(accepted).bind(to).sync().channel();
        bound.add(Addresses.bound(setup, ((InetSocketAddress) listener.localAddress()).getPort()));
      } catch (Exception e) {
        throw Addresses.bindFailure(to, e);
      }
    }
    return new Transport.Listening(bound, traffic);
  }
}
