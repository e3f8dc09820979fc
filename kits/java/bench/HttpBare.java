import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;

/** An HTTP server on Netty as its own example has it, without netdyno: its arguments are the port and the reply's length. */
public final class HttpBare {
  public static void main(String[] arguments) throws Exception {
    ByteBuf content = Unpooled.unreleasableBuffer(Unpooled.directBuffer().writeBytes(new byte[Integer.parseInt(arguments[1])]));
    new ServerBootstrap().group(new MultiThreadIoEventLoopGroup(EpollIoHandler.newFactory()))
        .channel(EpollServerSocketChannel.class).option(ChannelOption.SO_BACKLOG, 4096)
        .childOption(ChannelOption.TCP_NODELAY, true)
        .childHandler(new ChannelInitializer<SocketChannel>() {
          @Override
          protected void initChannel(SocketChannel c) {
            c.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(1 << 20), new SimpleChannelInboundHandler<FullHttpRequest>() {
              @Override
              protected void channelRead0(ChannelHandlerContext x, FullHttpRequest request) {
                DefaultFullHttpResponse r = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, content.duplicate());
                r.headers().set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_OCTET_STREAM)
                    .setInt(HttpHeaderNames.CONTENT_LENGTH, content.readableBytes());
                x.write(r);
              }

              @Override
              public void channelReadComplete(ChannelHandlerContext x) {
                x.flush();
              }
            });
          }
        }).bind("127.0.0.1", Integer.parseInt(arguments[0])).sync().channel().closeFuture().sync();
  }
}
