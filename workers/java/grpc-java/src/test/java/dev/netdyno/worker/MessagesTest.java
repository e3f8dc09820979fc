package dev.netdyno.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.netdyno.kit.Draw;
import dev.netdyno.kit.Fields;
import dev.netdyno.kit.Json;
import dev.netdyno.kit.Setup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MessagesTest {
  @Test
  void messagesOfTheContractAreEncodedToTheByte() throws Exception {
    List<?> all = (List<?>) Json.parse(Files.readString(Path.of("../../../contract/vectors/messages.json")));
    assertTrue(all.size() > 0);
    for (Object o : all) {
      Map<?, ?> v = (Map<?, ?>) o;
      StringBuilder json = new StringBuilder();
      Json.write(json, v.get("json"));
      Map<String, Object> side = Map.of("type", v.get("type"), "json", json.toString());
      Messages m = new Messages(new Setup(Map.of("transport", "grpc-java", "role", "client", "seed", 1L, "exchange",
          Map.of("codec", "proto", "message", Map.of("name", "simple", "up", side, "down", side)))));
      assertEquals(new Fields(v, "").text("proto"), HexFormat.of().formatHex(m.request(new Draw()).toByteArray()));
      assertEquals(m.request(new Draw()), m.reply(null));
    }
  }

  @Test
  void contentIsTheBeginningOfTheLargest() {
    List<?> sizes = List.of(List.of(1L << 32, 0L, 100L));
    Messages m = new Messages(new Setup(Map.of("transport", "grpc-java", "role", "client", "seed", 1L, "exchange",
        Map.of("up_bytes", 100L, "down_bytes", 100L, "up_sizes", sizes, "down_sizes", sizes))));
    Draw d = new Draw();
    d.up = 40;
    d.down = 0;
    assertEquals(40, m.size(m.request(d)));
    assertNull(m.wrongReply(m.reply(0), d));
    assertEquals("the reply has 1 bytes, expected 0", m.wrongReply(m.reply(1), d));
    assertEquals("0", m.headers(d).get(Messages.DOWN));
  }
}
