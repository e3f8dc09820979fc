package dev.netdyno.worker;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import dev.netdyno.kit.Failure;
import dev.netdyno.kit.Setup;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.util.Map;

/** Messages as JSON by Jackson, bound to the classes that a Java programmer would write. */
final class JsonAnswers implements Answers {
  /** Type netdyno.v1.Text. */
  record Text(String text) {}

  /** Type netdyno.v1.Reply. */
  record Reply(String replyValue1, String replyValue2, String replyValue3, String replyValue4, String replyValue5,
      String replyValue6, String replyValue7, String replyValue8, String replyValue9, String replyValue10,
      String replyValue11, String replyValue12, String replyValue13, String replyValue14, String replyValue15,
      String replyValue16, String replyValue17, String replyValue18, String replyValue19, String replyValue20) {}

  // As JSON of protobuf has it: empty fields are left out.
  private static final ObjectMapper MAPPER = new ObjectMapper().setSerializationInclusion(JsonInclude.Include.NON_EMPTY);

  private final ObjectReader reader;
  private final ObjectWriter writer;
  private final Object reply;
  private final Map<String, Object> ready;

  private JsonAnswers(Class<?> up, Class<?> down, Setup.Message m) throws JsonProcessingException {
    reader = MAPPER.readerFor(up);
    writer = MAPPER.writerFor(down);
    reply = MAPPER.readerFor(down).readValue((String) m.downJson);
    byte[] request = MAPPER.writerFor(up).writeValueAsBytes(reader.readValue((String) m.upJson));
    ready = Map.of("up_bytes", request.length, "down_bytes", writer.writeValueAsBytes(reply).length, "generated", true);
  }

  static JsonAnswers of(Setup s) {
    Setup.Message m = s.exchange.message;
    if (m == null) throw Failure.setup("exchange.codec is json and exchange.message is absent: expected what to encode");
    try {
      return new JsonAnswers(type("up", m.upType), type("down", m.downType), m);
    } catch (JsonProcessingException e) {
      throw Failure.setup("exchange.message (json): " + e.getOriginalMessage());
    }
  }

  private static Class<?> type(String way, String name) {
    return switch (name) {
      case "netdyno.v1.Text" -> Text.class;
      case "netdyno.v1.Reply" -> Reply.class;
      default -> throw Failure.unsupported("exchange.message." + way + " is of type " + name + ": vertx-http1 has netdyno.v1.Text and Reply");
    };
  }

  @Override
  public Buffer to(HttpServerRequest request, Buffer body) {
    try {
      reader.readValue(body.getBytes());
      return Buffer.buffer(writer.writeValueAsBytes(reply));
    } catch (IOException e) {
      throw Failure.invalid("decode the request: " + e.getMessage());
    }
  }

  @Override
  public String mediaType() {
    return "application/json";
  }

  @Override
  public Map<String, Object> ready() {
    return ready;
  }
}
