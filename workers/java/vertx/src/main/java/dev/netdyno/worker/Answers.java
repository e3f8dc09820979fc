package dev.netdyno.worker;

import dev.netdyno.kit.Exchange;
import dev.netdyno.kit.Failure;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.util.Map;

/** How a server answers a trial's requests. */
interface Answers {
  /** The reply. A Failure says what was wrong with the request. */
  Buffer to(HttpServerRequest request, Buffer body);

  String mediaType();

  /** What ready says of the messages. */
  Map<String, Object> ready();

  /** Content of codec bytes. */
  static Answers bytes(Exchange exchange) {
    Buffer down = Buffer.buffer(exchange.down);
    return new Answers() {
      @Override
      public Buffer to(HttpServerRequest request, Buffer body) {
        String refused = exchange.refuses(body.length());
        if (refused != null) throw Failure.invalid(refused);
        if (!exchange.downVaries) return down.slice();
        int n = request.headers().getAll(Exchange.DOWN).size() == 1 ? exchange.asked(request.getHeader(Exchange.DOWN)) : -1;
        if (n < 0) throw Failure.invalid("header " + Exchange.DOWN + " is missing or no length of 0 to " + exchange.down.length + " bytes");
        return down.slice(0, n);
      }

      @Override
      public String mediaType() {
        return "application/octet-stream";
      }

      @Override
      public Map<String, Object> ready() {
        return Map.of();
      }
    };
  }
}
