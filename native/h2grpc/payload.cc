#include "h2grpc/payload.h"

#include <google/protobuf/util/message_differencer.h>

#include <utility>

#include "exchange.pb.h"

namespace netdyno::h2grpc {

using google::protobuf::Message;
using grpc_worker::Content;
using netdyno::v1::Block;

namespace {

std::string_view encoded(const Message& message, std::string& room) {
  const std::size_t end = put_message(room, 0, message);
  return std::string_view(room).substr(0, end);
}

bool decoded(std::string_view from, Message& into) {
  return into.ParseFromArray(from.data(), static_cast<int>(from.size()));
}

/// Codec bytes in protobuf, as a service with a bytes field does it.
class Blocks final : public Payload {
 public:
  Blocks(const Content& out, const Content& in, const std::string& incoming) : Payload(out, in, incoming) {
    block_.set_content(out.bytes);
  }

  std::string_view outgoing(std::string& room) const override { return encoded(block_, room); }

  Taken decode(std::string_view message) const override {
    Block block;  // a new one for each exchange, as generated code does
    if (!decoded(message, block)) return undecodable();
    return sized(block.content().size());
  }
  std::string compare(std::string_view message) const override {
    Block block;
    if (decoded(message, block) && block.content() == in_.bytes) return "";
    return "the " + incoming_ + " has another content than expected";
  }

 private:
  Block block_;
};

/// Messages that are bytes, without protobuf.
class Raws final : public Payload {
 public:
  Raws(const std::string& bytes, const Content& in, const std::string& incoming, bool any_length = false)
      : Payload(in, in, incoming), any_length_(any_length) {
    whole_.resize(kPrefix);
    put_prefix(whole_.data(), bytes.size());
    whole_ += bytes;
  }

  std::string_view outgoing(std::string&) const override { return whole_; }

  Taken decode(std::string_view message) const override {
    if (any_length_) return {static_cast<std::int64_t>(message.size()), ok, ""};
    return sized(message.size());
  }
  std::string compare(std::string_view message) const override {
    return message == in_.bytes ? "" : "the " + incoming_ + " has another content than expected";
  }

 private:
  std::string whole_;
  bool any_length_;
};

/// Codec proto: messages of the trial.
class Structured final : public Payload {
 public:
  using Payload::Payload;

  std::string_view outgoing(std::string& room) const override { return encoded(*out_.message, room); }

  Taken decode(std::string_view message) const override {
    const std::unique_ptr<Message> into(in_.message->New());
    if (!decoded(message, *into)) return undecodable();
    return {static_cast<std::int64_t>(message.size()), ok, ""};
  }
  std::string compare(std::string_view message) const override {
    const std::unique_ptr<Message> into(in_.message->New());
    if (decoded(message, *into) && google::protobuf::util::MessageDifferencer::Equals(*into, *in_.message)) {
      return "";
    }
    return "the " + incoming_ + " has other values than expected";
  }
};

}  // namespace

void put_prefix(char* to, std::size_t size) {
  to[0] = 0;
  for (int i = 4; i > 0; i--, size >>= 8) to[i] = static_cast<char>(size & 0xff);
}

std::size_t size_behind(std::string_view prefix) {
  std::size_t size = 0;
  for (std::size_t i = 1; i < kPrefix; i++) size = size << 8 | static_cast<unsigned char>(prefix[i]);
  return size;
}

std::size_t put_message(std::string& room, std::size_t at, const Message& message) {
  const std::size_t size = message.ByteSizeLong();
  const std::size_t end = at + kPrefix + size;
  if (room.size() < end) room.resize(end);
  put_prefix(room.data() + at, size);
  message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(room.data() + at + kPrefix));
  return end;
}

Taken Payload::take(std::string_view body) const {
  if (body.size() < kPrefix) {
    return {0, internal, "the " + incoming_ + " holds no message, expected one"};
  }
  if (body[0] != 0) {
    return {0, unimplemented, "the " + incoming_ + " is compressed, expected one that is not"};
  }
  const std::size_t size = size_behind(body);
  if (size != body.size() - kPrefix) {
    return {0, internal,
            "the " + incoming_ + " holds " + std::to_string(body.size() - kPrefix) +
                " bytes behind a prefix that says " + std::to_string(size)};
  }
  return decode(body.substr(kPrefix));
}

Taken Payload::sized(std::size_t size) const {
  if (static_cast<std::int64_t>(size) == in_.size) return {in_.size, ok, ""};
  return {
      0, invalid_argument,
      "the " + incoming_ + " has " + std::to_string(size) + " bytes, expected " + std::to_string(in_.size)};
}

Taken Payload::undecodable() const {
  const std::string type = in_.message ? in_.message->GetTypeName() : Block().GetTypeName();
  return {0, internal, "decode the " + incoming_ + ": expected a " + type + ", found bytes that are none"};
}

std::unique_ptr<const Payload> make_payload(const Content& out, const Content& in,
                                            const std::string& incoming, bool raw) {
  if (out.message) return std::make_unique<Structured>(out, in, incoming);
  if (raw) return std::make_unique<Raws>(out.bytes, in, incoming);
  return std::make_unique<Blocks>(out, in, incoming);
}

std::unique_ptr<const Payload> make_raw_payload(const std::string& bytes, const Content& in,
                                                bool any_length) {
  return std::make_unique<Raws>(bytes, in, "reply", any_length);
}

}  // namespace netdyno::h2grpc
