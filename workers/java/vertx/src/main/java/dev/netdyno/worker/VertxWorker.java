package dev.netdyno.worker;

import dev.netdyno.kit.Addresses;
import dev.netdyno.kit.Counts;
import dev.netdyno.kit.Description;
import dev.netdyno.kit.Exchange;
import dev.netdyno.kit.Failure;
import dev.netdyno.kit.Option;
import dev.netdyno.kit.Service;
import dev.netdyno.kit.Setup;
import dev.netdyno.kit.Tls;
import dev.netdyno.kit.Traffic;
import dev.netdyno.kit.Transport;
import dev.netdyno.kit.Worker;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.AbstractVerticle;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Promise;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Transport vertx-http1: a server of HTTP/1.1 on Vert.x, a verticle for each event loop; JSON by Jackson. */
public final class VertxWorker implements Transport {
  public static void main(String[] arguments) {
    System.setProperty("vertx.disableFileCPResolving", "true");
    new Worker("netdyno-worker-vertx", "0.1.0", new VertxWorker())
        .library("vertx", "5.0.7").library("netty", "4.2.9.Final").library("jackson", "2.18.2").main();
  }

  @Override
  public Description describe() {
    return new Description("vertx-http1", "http/1.1", "HTTP/1.1 by Vert.x, a verticle for each event loop; JSON by Jackson", List.of("server"))
        .codecs("bytes", "json").features("tls", "sizes", "work-cpu", "work-sleep")
        .option(Option.choice("io", List.of("nio", "epoll"), "what event loops wait by: Java's Selector, or epoll by Netty's native library")
            .grid("nio", "epoll"));
  }

  @Override
  public Transport.Client client(Setup setup) {
    throw Failure.unsupported("vertx-http1 has no client");
  }

  @Override
  public Transport.Server server(Setup setup) throws Exception {
    Answers answers = setup.exchange.plain() ? Answers.bytes(new Exchange(setup)) : JsonAnswers.of(setup);
    boolean epoll = setup.text("io").equals("epoll");
    Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(setup.loops()).setPreferNativeTransport(epoll));
    if (epoll && !vertx.isNativeTransportEnabled()) {
      throw Failure.unsupported("io=epoll: " + vertx.unavailableNativeTransportCause() + "; io=nio runs everywhere");
    }
    return new Server(setup, vertx, answers);
  }

  private static final class Server implements Transport.Server {
    private final List<String> bound = new ArrayList<>();
    private final Traffic.All traffic = new Traffic.All();
    private final AtomicInteger open = new AtomicInteger();
    private final Addresses.Allowed allowed;
    private final Answers answers;
    private final Service service;
    private final Tls tls;

    Server(Setup setup, Vertx vertx, Answers answers) throws Exception {
      this.answers = answers;
      service = Service.of(setup);
      tls = setup.tls;
      allowed = new Addresses.Allowed(setup);
      for (InetSocketAddress to : Addresses.binds(setup)) {
        int port = to.getPort() == 0 ? -1 - bound.size() : to.getPort(); // a negative one is any free port, which instances share
        for (int i = 0; i < setup.loops(); i++) {
          Serve serve = new Serve(to.getAddress().getHostAddress(), port);
          try {
            vertx.deployVerticle(serve, new DeploymentOptions()).await(10, TimeUnit.SECONDS);
          } catch (Exception e) {
            throw Addresses.bindFailure(to, e.getCause() == null ? e : e.getCause());
          }
          if (i == 0) bound.add(Addresses.bound(setup, serve.server.actualPort()));
        }
      }
    }

    /** A server on one event loop; those of one port share it. */
    private final class Serve extends AbstractVerticle {
      private final String host;
      private final int port;
      private final Traffic own = traffic.begin();
      private HttpServer server;

      Serve(String host, int port) {
        this.host = host;
        this.port = port;
      }

      @Override
      public void start(Promise<Void> started) {
        HttpServerOptions options = new HttpServerOptions().setAcceptBacklog(Addresses.BACKLOG).setTcpNoDelay(true)
            .setHttp2ClearTextEnabled(false); // with it a connection is told of, and a stranger's closed, only when its first bytes come
        if (tls != null) {
          options.setSsl(true).setUseAlpn(false).setEnabledSecureTransportProtocols(Set.of("TLSv1.3")).setKeyCertOptions(
              new PemKeyCertOptions().addCertValue(Buffer.buffer(tls.certificate)).addKeyValue(Buffer.buffer(tls.key)));
        }
        server = vertx.createHttpServer(options);
        server.connectionHandler(this::connected);
        server.requestHandler(this::serve);
        server.listen(port, host).<Void>mapEmpty().onComplete(started);
      }

      private void connected(HttpConnection c) {
        try {
          if (!allowed.admits(InetAddress.getByName(c.remoteAddress().hostAddress()))) {
            c.close();
            return;
          }
        } catch (java.net.UnknownHostException e) {
          c.close();
          return;
        }
        open.incrementAndGet();
        c.closeHandler(v -> open.decrementAndGet());
      }

      private void serve(HttpServerRequest request) {
        if (request.method() != HttpMethod.GET && request.method() != HttpMethod.POST) {
          request.response().setStatusCode(405).putHeader("Allow", "GET, POST")
              .end("method " + request.method() + " is not served, expected GET or POST\n");
          return;
        }
        request.body().onSuccess(body -> work(() -> answer(request, body)));
      }

      /** Does an exchange's work, if there is any, and then on this loop what follows. */
      private void work(Runnable then) {
        if (service == null) {
          then.run();
        } else {
          service.serve(service.sleeps() ? () -> context.runOnContext(v -> then.run()) : then);
        }
      }

      private void answer(HttpServerRequest request, Buffer body) {
        Buffer reply;
        try {
          reply = answers.to(request, body);
        } catch (Failure f) {
          request.response().setStatusCode(400).end(f.getMessage() + "\n");
          return;
        }
        long n = reply.length();
        own.addReceived(body.length());
        request.response().putHeader("Content-Type", answers.mediaType()).end(reply);
        own.addSent(n);
        own.addExchanges(1);
      }
    }

    @Override
    public Map<String, Object> ready() {
      Map<String, Object> ready = new LinkedHashMap<>(answers.ready());
      ready.put("addresses", bound);
      return ready;
    }

    @Override
    public Counts counts() {
      Counts c = traffic.counts();
      c.connections = open.get();
      return c;
    }
  }
}
