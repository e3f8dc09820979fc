package dev.netdyno.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.netdyno.kit.Failure;
import dev.netdyno.kit.Setup;
import io.vertx.core.buffer.Buffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JsonAnswersTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private static JsonAnswers of(String type, String content) {
    Map<String, Object> side = Map.of("type", type, "json", content);
    Map<String, Object> message = Map.of("up", side, "down", side);
    return JsonAnswers.of(new Setup(Map.of("transport", "vertx-http1", "role", "server", "seed", 1L, "listen", "127.0.0.1:0",
        "exchange", Map.of("codec", "json", "message", message))));
  }

  @Test
  void messagesOfTheContractComeBackAsTheyWere() throws Exception {
    JsonNode all = MAPPER.readTree(Files.readString(Path.of("../../../contract/vectors/messages.json")));
    assertTrue(all.size() > 0);
    for (JsonNode m : all) {
      String content = m.get("json").toString();
      JsonAnswers answers = of(m.get("type").asText(), content);
      assertEquals(m.get("json"), MAPPER.readTree(answers.to(null, Buffer.buffer(content)).getBytes()));
      int size = MAPPER.writeValueAsBytes(m.get("json")).length; // nothing more, nothing less; Jackson escapes surrogates
      assertEquals(Map.of("up_bytes", size, "down_bytes", size, "generated", true), answers.ready());
    }
  }

  @Test
  void whatIsNoMessageIsRefused() {
    JsonAnswers answers = of("netdyno.v1.Text", "{\"text\":\"a\"}");
    for (String wrong : new String[] {"", "{", "[]", "{\"text\":{}}"}) {
      assertThrows(Failure.class, () -> answers.to(null, Buffer.buffer(wrong)), wrong);
    }
    assertThrows(Failure.class, () -> of("netdyno.v1.Other", "{}"));
  }
}
