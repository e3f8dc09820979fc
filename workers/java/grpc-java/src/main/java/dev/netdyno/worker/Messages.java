package dev.netdyno.worker;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import dev.netdyno.kit.Exchange;
import dev.netdyno.kit.Failure;
import dev.netdyno.kit.Json;
import dev.netdyno.kit.Setup;
import io.grpc.MethodDescriptor;
import io.grpc.protobuf.ProtoUtils;
import java.util.LinkedHashMap;
import java.util.Map;
import netdyno.v1.ExchangeOuterClass.Block;
import netdyno.v1.ExchangeOuterClass.Reply;
import netdyno.v1.ExchangeOuterClass.Text;

/** What a trial's messages are, and the methods that carry them. Every exchange makes its message anew. */
final class Messages {
  final MethodDescriptor<Message, Message> unary;
  final MethodDescriptor<Message, Message> talk;
  /** What ready says of the messages. */
  final Map<String, Object> ready = new LinkedHashMap<>();

  private final boolean plain;
  private final Message up;
  private final Message down;

  Messages(Setup setup) {
    Setup.Exchange x = setup.exchange;
    plain = x.plain();
    String method = "";
    if (plain) {
      Exchange content = new Exchange(setup);
      up = Block.newBuilder().setContent(ByteString.copyFrom(content.up)).build();
      down = Block.newBuilder().setContent(ByteString.copyFrom(content.down)).build();
    } else {
      if (x.message == null) throw Failure.setup("exchange.codec is " + x.codec + " and exchange.message is absent: expected what to encode");
      up = filled("up", x.message.upType, x.message.upJson);
      down = filled("down", x.message.downType, x.message.downJson);
      method = switch (x.message.name) {
        case "simple" -> "Simple";
        case "complex" -> "Complex";
        default -> throw Failure.unsupported("message " + x.message.name + ": grpc-java has the messages simple and complex");
      };
      x.upBytes = up.getSerializedSize();
      x.downBytes = down.getSerializedSize();
      ready.put("up_bytes", x.upBytes);
      ready.put("down_bytes", x.downBytes);
      ready.put("generated", true);
    }
    unary = method(MethodDescriptor.MethodType.UNARY, plain ? "Unary" : method);
    talk = method(MethodDescriptor.MethodType.BIDI_STREAMING, "Talk" + method);
  }

  private MethodDescriptor<Message, Message> method(MethodDescriptor.MethodType type, String name) {
    return MethodDescriptor.<Message, Message>newBuilder().setType(type)
        .setFullMethodName(MethodDescriptor.generateFullMethodName("netdyno.v1.Exchange", name))
        .setRequestMarshaller(ProtoUtils.marshaller(up.getDefaultInstanceForType()))
        .setResponseMarshaller(ProtoUtils.marshaller(down.getDefaultInstanceForType())).build();
  }

  private static Message filled(String way, String type, Object json) {
    Message.Builder to = switch (type) {
      case "netdyno.v1.Text" -> Text.newBuilder();
      case "netdyno.v1.Reply" -> Reply.newBuilder();
      default -> throw Failure.unsupported("exchange.message." + way + " is of type " + type + ": grpc-java has netdyno.v1.Text and Reply");
    };
    try {
      for (Map.Entry<?, ?> e : ((Map<?, ?>) Json.parse((String) json)).entrySet()) to.setField(field(to, e.getKey()), e.getValue());
    } catch (Json.Malformed | ClassCastException | IllegalArgumentException e) {
      throw Failure.setup("exchange.message." + way + " (proto): " + e.getMessage());
    }
    return to.build();
  }

  private static FieldDescriptor field(Message.Builder of, Object name) {
    for (FieldDescriptor f : of.getDescriptorForType().getFields()) {
      if (f.getJsonName().equals(name) || f.getName().equals(name)) return f;
    }
    throw new IllegalArgumentException("no field " + name);
  }

  /** A message as an application makes one for each call: content of codec bytes is not copied. */
  private static Message fresh(Message of) {
    return of.toBuilder().build();
  }

  Message request() {
    return fresh(up);
  }

  Message reply() {
    return fresh(down);
  }

  /** Bytes of a message that came: of content, or encoded. */
  long size(Message m) {
    return plain ? ((Block) m).getContent().size() : m.getSerializedSize();
  }

  /** What is wrong with a request; null for nothing. */
  String refuses(Message request) {
    return wrong("the request", request, up);
  }

  String wrongReply(Message reply) {
    return wrong("the reply", reply, down);
  }

  private String wrong(String what, Message got, Message want) {
    if (!plain) return null;
    int n = ((Block) got).getContent().size();
    int expected = ((Block) want).getContent().size();
    return n == expected ? null : what + " has " + n + " bytes, expected " + expected;
  }

  /** Throws a Failure of kind invalid unless a reply is what our servers send. */
  void verify(int connection, Message reply) {
    if (reply.equals(down)) return;
    throw Failure.invalid("verify connection " + connection + ": what came is not what our servers send");
  }

  /** Whether messages are larger than what the library takes unless told. */
  int most() {
    return Math.max(4 << 20, Math.max(up.getSerializedSize(), down.getSerializedSize()) + 1024);
  }
}
