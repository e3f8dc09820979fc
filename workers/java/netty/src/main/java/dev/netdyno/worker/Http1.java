package dev.netdyno.worker;

import dev.netdyno.kit.Description;
import dev.netdyno.kit.Exchange;
import dev.netdyno.kit.Option;
import dev.netdyno.kit.Setup;
import dev.netdyno.kit.Traffic;
import dev.netdyno.kit.Transport;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import java.util.ArrayList;
import java.util.List;

/** Transport netty-http1: HTTP/1.1 by Netty's codec, whole messages by its aggregator. */
final class Http1 implements Transport {
  @Override
  public Description describe() {
    return new Description("netty-http1", "http/1.1", "HTTP/1.1 by Netty's codec and aggregator; pooled direct buffers")
        .features("tls", "sizes", "arrivals", "mix", "deadline", "think", "fresh", "work-cpu", "work-sleep")
        .option(Loops.option())
        .option(Option.text("path", "/exchange", "what the client asks for; our servers answer any path, another's may not").of("client"))
        .option(Option.choice("verify", List.of("content", "length"),
            "what is compared before ready: the content that our servers send, or only its length, for a server of yours").of("client"));
  }

  @Override
  public Transport.Server server(Setup setup) {
    Exchange exchange = new Exchange(setup);
    ByteBuf down = Loops.shared(exchange.down);
    int most = exchange.up.length + (64 << 10); // of a refused body so much is read, for the status to arrive
    return Ports.open(setup, new Loops(setup), new Traffic.All(), traffic -> {
      List<ChannelHandler> all = new ArrayList<>(List.of(new HttpServerCodec(), new HttpObjectAggregator(most)));
      if (exchange.service != null) all.add(new Working(exchange.service, 0));
      all.add(new Requests(exchange, down, traffic));
      return all;
    });
  }

  @Override
  public Transport.Client client(Setup setup) throws Exception {
    Http1Client client = new Http1Client(setup);
    client.connect();
    return client;
  }

  private static final class Requests extends End {
    private final Exchange exchange;
    private final ByteBuf down;

    Requests(Exchange exchange, ByteBuf down, Traffic traffic) {
      super(traffic);
      this.exchange = exchange;
      this.down = down;
    }

    @Override
    public void channelRead(ChannelHandlerContext c, Object message) {
      FullHttpRequest request = (FullHttpRequest) message;
      try {
        answer(c, request);
      } finally {
        request.release();
      }
    }

    private void answer(ChannelHandlerContext c, FullHttpRequest request) {
      boolean get = request.method().equals(HttpMethod.GET);
      int length = request.content().readableBytes();
      String refused = exchange.refuses(length);
      int n = exchange.downVaries ? exchange.asked(request.headers().get(Exchange.DOWN)) : exchange.down.length;
      if (exchange.downVaries && request.headers().getAll(Exchange.DOWN).size() != 1) n = -1;
      if (request.decoderResult().isFailure()) refused = "the request is no HTTP";
      if (n < 0) refused = "header " + Exchange.DOWN + " is missing or no length of 0 to " + exchange.down.length + " bytes";
      boolean keep = HttpUtil.isKeepAlive(request) && !request.decoderResult().isFailure();
      if (!get && !request.method().equals(HttpMethod.POST)) {
        refuse(c, HttpResponseStatus.METHOD_NOT_ALLOWED, "method " + request.method() + " is not served, expected GET or POST", keep);
      } else if (refused != null) {
        refuse(c, HttpResponseStatus.BAD_REQUEST, refused, keep);
      } else {
        traffic.addReceived(length);
        reply(c, HttpResponseStatus.OK, down.retainedSlice(0, n), HttpHeaderValues.APPLICATION_OCTET_STREAM, keep);
        wrote(n, true);
      }
    }

    private void refuse(ChannelHandlerContext c, HttpResponseStatus status, String why, boolean keep) {
      reply(c, status, ByteBufUtil.writeUtf8(c.alloc(), why + "\n"), HttpHeaderValues.TEXT_PLAIN, keep);
      wrote(0, false);
    }

    private void reply(ChannelHandlerContext c, HttpResponseStatus status, ByteBuf body, CharSequence type, boolean keep) {
      DefaultFullHttpResponse r = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, body);
      r.headers().set(HttpHeaderNames.CONTENT_TYPE, type).setInt(HttpHeaderNames.CONTENT_LENGTH, body.readableBytes());
      if (status.equals(HttpResponseStatus.METHOD_NOT_ALLOWED)) r.headers().set(HttpHeaderNames.ALLOW, "GET, POST");
      if (!keep) r.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
      c.write(r, c.voidPromise());
      if (!keep) last();
    }
  }
}
