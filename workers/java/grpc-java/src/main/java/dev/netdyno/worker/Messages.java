package dev.netdyno.worker;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.UnsafeByteOperations;
import dev.netdyno.kit.Draw;
import dev.netdyno.kit.Exchange;
import dev.netdyno.kit.Failure;
import dev.netdyno.kit.Json;
import dev.netdyno.kit.Setup;
import io.grpc.Metadata;
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
  /** Of a trial whose content travels in chunks; null of another. */
  final MethodDescriptor<Message, Message> chunked;
  final boolean cutUp;
  final boolean cutDown;
  static final Metadata.Key<String> DOWN = Metadata.Key.of(Exchange.DOWN, Metadata.ASCII_STRING_MARSHALLER);
  /** What ready says of the messages. */
  final Map<String, Object> ready = new LinkedHashMap<>();

  /** Content of codec bytes; null of another. */
  final Exchange content;
  private static final int STANDARD_CHUNK = 64 << 10;

  private final boolean plain;
  private final int chunk;
  private final Message up;
  private final Message down;

  Messages(Setup setup) {
    Setup.Exchange x = setup.exchange;
    plain = x.plain();
    String method = "";
    if (plain) {
      content = new Exchange(setup);
      up = Block.newBuilder().setContent(ByteString.copyFrom(content.up)).build();
      down = Block.newBuilder().setContent(ByteString.copyFrom(content.down)).build();
    } else {
      content = null;
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
    cutUp = x.stream.equals("up") || x.stream.equals("both");
    cutDown = x.stream.equals("down") || x.stream.equals("both");
    chunk = x.chunkBytes == 0 ? STANDARD_CHUNK : x.chunkBytes;
    if (!plain && (cutUp || cutDown)) throw Failure.unsupported("exchange.stream with codec " + x.codec + ": grpc-java cuts codec bytes alone");
    chunked = switch (x.stream) {
      case "" -> null;
      case "up" -> method(MethodDescriptor.MethodType.CLIENT_STREAMING, "Up");
      case "down" -> method(MethodDescriptor.MethodType.SERVER_STREAMING, "Down");
      case "both" -> method(MethodDescriptor.MethodType.BIDI_STREAMING, "Both");
      default -> throw Failure.setup("exchange.stream is \"" + x.stream + "\", expected up, down or both");
    };
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
  private Message fresh(Message of, long size) {
    if (!plain || size == ((Block) of).getContent().size()) return of.toBuilder().build();
    return Block.newBuilder().setContent(((Block) of).getContent().substring(0, (int) size)).build();
  }

  Message request(Draw d) {
    return fresh(up, d.up);
  }

  /** A piece of content from a position on: a chunk, or all of it where it is not cut. */
  Message piece(byte[] of, int at, boolean cut) {
    int n = cut ? Math.min(chunk, of.length - at) : of.length;
    return Block.newBuilder().setContent(UnsafeByteOperations.unsafeWrap(of, at, n)).build();
  }

  /** Adds a chunk to what has come of a message, and returns how much that is then. More than fits is a Failure of kind invalid. */
  int join(byte[] to, int came, Message chunk) {
    ByteString content = ((Block) chunk).getContent();
    if (content.size() > to.length - came) throw Failure.invalid("the stream holds more than the " + to.length + " bytes expected");
    content.copyTo(to, came);
    return came + content.size();
  }

  /** The metadata of a request. */
  Metadata headers(Draw d) {
    Metadata headers = new Metadata();
    if (plain && content.downVaries) headers.put(DOWN, Long.toString(d.down));
    return headers;
  }

  /** A reply of a size; null is the trial's. */
  Message reply(Integer size) {
    return fresh(down, size == null ? size(down) : size);
  }

  boolean plain() {
    return plain;
  }

  /** Bytes of a message that came: of content, or encoded. */
  long size(Message m) {
    return plain ? ((Block) m).getContent().size() : m.getSerializedSize();
  }

  /** What is wrong with a request; null for nothing. */
  String refuses(Message request) {
    return plain ? content.refuses(size(request)) : null;
  }

  String wrongReply(Message reply, Draw d) {
    return !plain || size(reply) == d.down ? null : "the reply has " + size(reply) + " bytes, expected " + d.down;
  }

  /** Throws a Failure of kind invalid unless a reply is what our servers send. */
  void verify(int connection, Message reply, Draw d) {
    if (reply.equals(reply((int) d.down))) return;
    throw Failure.invalid("verify connection " + connection + ": what came is not what our servers send");
  }

  /** Whether messages are larger than what the library takes unless told. */
  int most() {
    return Math.max(4 << 20, Math.max(up.getSerializedSize(), down.getSerializedSize()) + 1024);
  }
}
