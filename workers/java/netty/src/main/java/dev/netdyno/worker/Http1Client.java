package dev.netdyno.worker;

import dev.netdyno.kit.Addresses;
import dev.netdyno.kit.Ask;
import dev.netdyno.kit.Caller;
import dev.netdyno.kit.Draw;
import dev.netdyno.kit.Exchange;
import dev.netdyno.kit.Failure;
import dev.netdyno.kit.LoopClient;
import dev.netdyno.kit.Setup;
import dev.netdyno.kit.Slot;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.io.EOFException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** The client of transport netty-http1: one exchange at a time on a connection. */
final class Http1Client extends LoopClient {
  private final Loops loops;
  private final Exchange exchange;
  private final ByteBuf up;
  private final Ask[] asks;
  private final HttpMethod[] methods; // of asks
  private final boolean compares;
  private final boolean fresh;
  private final Connection[] connections;
  private final AtomicLong redialled = new AtomicLong();
  private final AtomicLong again = new AtomicLong();

  Http1Client(Setup setup) {
    this(setup, new Loops(setup));
  }

  private Http1Client(Setup setup, Loops loops) {
    super(setup, loops.size());
    if (setup.load.inFlight > 1) {
      throw Failure.unsupported("load.in_flight is " + setup.load.inFlight
          + ": HTTP/1.1 carries one exchange at a time on a connection; use more connections");
    }
    this.loops = loops;
    exchange = new Exchange(setup);
    up = Loops.shared(exchange.up);
    asks = Ask.of(setup, setup.text("path"));
    methods = Arrays.stream(asks).map(a -> HttpMethod.valueOf(a.method)).toArray(HttpMethod[]::new);
    fresh = setup.load.fresh;
    compares = setup.text("verify").equals("content");
    connections = new Connection[routes().size()];
  }

  @Override
  protected void execute(int loop, Runnable task) {
    loops.loop(loop).execute(task);
  }

  @Override
  protected void open(int i, Addresses.Route to) {
    connections[i] = new Connection(i, to);
    connections[i].dial();
  }

  @Override
  protected void begin(int i) {
    connections[i].caller.begin();
  }

  @Override
  protected void disconnect() {
    for (Connection c : connections) if (c != null && c.channel != null) c.channel.close();
  }

  @Override
  public long redialled() {
    return redialled.get();
  }

  @Override
  public long again() {
    return again.get();
  }

  /** One connection of the trial, made anew where it ended between two exchanges, and its slot. */
  @ChannelHandler.Sharable
  private final class Connection extends ChannelInboundHandlerAdapter {
    private final int number;
    private final Addresses.Route to;
    private final String host;
    private final Caller caller;
    private volatile Channel channel; // null while there is none
    private boolean verifying = true;
    private boolean flying;
    private boolean idleBefore; // the exchange under way met a connection that had served one
    private boolean served;
    private boolean repeated;
    private int dials;

    Connection(int number, Addresses.Route to) {
      this.number = number;
      this.to = to;
      host = Addresses.text(to.peer());
      Slot[] slots = load().slots(number);
      caller = slots.length == 0 ? null : new Caller(Http1Client.this, number, slots[0], true) {
        @Override
        protected void call() {
          send();
        }

        @Override
        protected void late() {
          flying = false;
          dials++; // what is being dialled comes too late, as the reply does
          if (channel != null) channel.close();
          channel = null;
        }
      };
    }

    private void dial() {
      int dial = ++dials;
      loops.connect(number, to, () -> List.of(new HttpClientCodec(), new HttpObjectAggregator(exchange.down.length + 65536), this))
          .addListener((ChannelFuture f) -> {
        if (dial != dials) {
          f.channel().close();
        } else if (f.isSuccess()) {
          channel = f.channel();
          served = false;
          send();
        } else if (verifying) {
          verified(Addresses.connectFailure(number, routes().size(), to, f.cause()));
        } else {
          caller.lost(f.cause());
        }
      });
    }

    private Draw draw() {
      return verifying ? load().first(number) : caller.slot.draw();
    }

    /** Sends the exchange that is to be made; dials first where there is no connection. */
    private void send() {
      Channel c = channel;
      if (closed() && !verifying) {
        caller.failed(Failure.peer("this end has closed the connection"));
        return;
      }
      if (c == null || !c.isActive()) {
        channel = null;
        if (fresh) {
          caller.sending();
        } else {
          redialled.incrementAndGet();
        }
        dial();
        return;
      }
      Draw d = draw();
      Ask ask = asks[d.kind];
      int n = (int) d.up;
      DefaultFullHttpRequest r =
          new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, methods[d.kind], ask.path(d), up.retainedSlice(0, n));
      r.headers().set(HttpHeaderNames.HOST, host);
      if (fresh) r.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
      if (n > 0 || !ask.safe) {
        r.headers().set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_OCTET_STREAM).setInt(HttpHeaderNames.CONTENT_LENGTH, n);
      }
      if (exchange.downVaries) r.headers().set(Exchange.DOWN, Long.toString(d.down));
      flying = true;
      idleBefore = served;
      if (!verifying) caller.sent();
      c.writeAndFlush(r, c.voidPromise());
    }

    @Override
    public void channelRead(ChannelHandlerContext c, Object message) {
      FullHttpResponse reply = (FullHttpResponse) message;
      try {
        if (!flying) {
          c.close();
          return;
        }
        flying = false;
        served = true;
        repeated = false;
        if (fresh) {
          channel = null;
          c.close();
        }
        judge(reply);
      } finally {
        reply.release();
      }
    }

    private void judge(FullHttpResponse reply) {
      int n = reply.content().readableBytes();
      Failure wrong = wrong(reply, draw());
      if (!verifying) {
        if (wrong == null) {
          caller.replied(n);
        } else {
          caller.failed(wrong);
        }
        return;
      }
      try {
        if (wrong == null && compares) Exchange.verify(number, exchange.down, n, ByteBufUtil.getBytes(reply.content()));
      } catch (Failure f) {
        wrong = f;
      }
      verifying = false;
      verified(wrong);
    }

    private Failure wrong(FullHttpResponse reply, Draw d) {
      if (reply.decoderResult().isFailure()) return Failure.invalid("the reply is no HTTP");
      HttpResponseStatus status = reply.status();
      Ask ask = asks[d.kind];
      if (!ask.takes(status.code())) {
        return new Failure(Failure.Kind.INVALID, "the reply has status " + status + ", expected " + ask.expected(), status.toString());
      }
      int n = reply.content().readableBytes();
      if (n == ask.down(d)) return null;
      return new Failure(Failure.Kind.INVALID, "the reply has " + n + " bytes, expected " + ask.down(d), "a reply of another length");
    }

    @Override
    public void channelInactive(ChannelHandlerContext c) {
      broke(c, new EOFException("the peer closed the connection"));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext c, Throwable cause) {
      broke(c, cause);
      c.close();
    }

    private void broke(ChannelHandlerContext c, Throwable why) {
      if (c.channel() != channel || !flying) return;
      flying = false;
      channel = null;
      if (verifying) {
        verified(Addresses.connectFailure(number, routes().size(), to, why));
      } else if (idleBefore && !repeated && asks[draw().kind].safe && !closed()) {
        repeated = true; // a request that does no harm twice goes out again (RFC 9112, section 9.3.1)
        again.incrementAndGet();
        send();
      } else {
        caller.failed(why);
      }
    }
  }
}
