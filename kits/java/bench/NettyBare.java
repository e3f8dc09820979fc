import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.socket.SocketChannel;

/** Netty's echo server as its own example has it, without netdyno: the port is its argument. */
public final class NettyBare {
  public static void main(String[] arguments) throws Exception {
    new ServerBootstrap().group(new MultiThreadIoEventLoopGroup(EpollIoHandler.newFactory()))
        .channel(EpollServerSocketChannel.class).option(ChannelOption.SO_BACKLOG, 4096)
        .childOption(ChannelOption.TCP_NODELAY, true)
        .childHandler(new ChannelInitializer<SocketChannel>() {
          @Override
          protected void initChannel(SocketChannel c) {
            c.pipeline().addLast(new ChannelInboundHandlerAdapter() {
              @Override
              public void channelRead(ChannelHandlerContext x, Object message) {
                x.write(message, x.voidPromise());
              }

              @Override
              public void channelReadComplete(ChannelHandlerContext x) {
                x.flush();
              }

              @Override
              public void exceptionCaught(ChannelHandlerContext x, Throwable why) {
                x.close();
              }
            });
          }
        }).bind("127.0.0.1", Integer.parseInt(arguments[0])).sync().channel().closeFuture().sync();
  }
}
