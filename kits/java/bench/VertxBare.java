import io.vertx.core.AbstractVerticle;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerOptions;

/** An HTTP server on Vert.x, a verticle for each loop, without netdyno: its arguments are the port and the reply's length. */
public final class VertxBare {
  public static void main(String[] arguments) throws Exception {
    Buffer content = Buffer.buffer(new byte[Integer.parseInt(arguments[1])]);
    int loops = Runtime.getRuntime().availableProcessors();
    Vertx.vertx().deployVerticle(() -> new AbstractVerticle() {
      @Override
      public void start() {
        vertx.createHttpServer(new HttpServerOptions().setAcceptBacklog(4096).setTcpNoDelay(true).setHttp2ClearTextEnabled(false))
            .requestHandler(request -> request.body().onSuccess(body ->
                request.response().putHeader("Content-Type", "application/octet-stream").end(content)))
            .listen(Integer.parseInt(arguments[0]), "127.0.0.1");
      }
    }, new DeploymentOptions().setInstances(loops)).await();
  }
}
