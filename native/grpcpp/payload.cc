#include "grpcpp/payload.h"

#include <google/protobuf/util/message_differencer.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include "exchange.pb.h"

namespace netdyno::grpc_worker {
namespace {

using google::protobuf::Message;
using netdyno::v1::Block;

template <class M>
void decode(grpc::ByteBuffer& in, M& into, const Direction& direction) {
  if (!grpc::SerializationTraits<M>::Deserialize(&in, &into).ok()) refuse_undecodable(direction);
}

/// Codec bytes in protobuf, as a service with a bytes field does it.
class Blocks : public Payload {
 public:
  explicit Blocks(const Direction& direction) : direction_(direction) {
    out_.set_content(direction.out.bytes);
  }

  grpc::ByteBuffer outgoing() const override { return encoded(out_); }

  std::int64_t take(grpc::ByteBuffer& in) const override {
    Block block;  // a new one for each exchange, as generated code does
    decode(in, block, direction_);
    require_size(direction_, block.content().size());
    return direction_.in.size;
  }

  std::int64_t verify(grpc::ByteBuffer& in) const override {
    Block block;
    decode(in, block, direction_);
    require_bytes(direction_, block.content());
    return direction_.in.size;
  }

 private:
  Direction direction_;
  Block out_;
};

/// Codec bytes without protobuf: sent without a copy, received into one
/// contiguous piece of memory.
class Raws : public Payload {
 public:
  explicit Raws(const Direction& direction)
      : direction_(direction),
        slice_(direction.out.bytes.data(), direction.out.bytes.size(), grpc::Slice::STATIC_SLICE) {}

  grpc::ByteBuffer outgoing() const override { return grpc::ByteBuffer(&slice_, 1); }

  std::int64_t take(grpc::ByteBuffer& in) const override {
    require_size(direction_, whole(in).size());
    return direction_.in.size;
  }

  std::int64_t verify(grpc::ByteBuffer& in) const override {
    const grpc::Slice came = whole(in);
    require_bytes(direction_, {reinterpret_cast<const char*>(came.begin()), came.size()});
    return direction_.in.size;
  }

 private:
  static grpc::Slice whole(grpc::ByteBuffer& in) {
    grpc::Slice slice;
    if (in.Length() > 0 && !in.TrySingleSlice(&slice).ok() && !in.DumpToSingleSlice(&slice).ok()) {
      throw Refused(grpc::StatusCode::INTERNAL, "read a message: the library's buffer cannot be read");
    }
    in.Clear();
    return slice;
  }

  Direction direction_;
  grpc::Slice slice_;
};

/// Messages that an application encodes by protobuf.
class Structured : public Payload {
 public:
  explicit Structured(const Direction& direction) : direction_(direction) {}

  grpc::ByteBuffer outgoing() const override { return encoded(*direction_.out.message); }

  std::int64_t take(grpc::ByteBuffer& in) const override {
    const auto size = static_cast<std::int64_t>(in.Length());
    decoded(in);
    return size;
  }

  std::int64_t verify(grpc::ByteBuffer& in) const override {
    const auto size = static_cast<std::int64_t>(in.Length());
    require_values(direction_, *decoded(in));
    return size;
  }

 private:
  std::unique_ptr<Message> decoded(grpc::ByteBuffer& in) const {
    std::unique_ptr<Message> message(direction_.in.message->New());
    decode(in, *message, direction_);
    return message;
  }

  Direction direction_;
};

}  // namespace

grpc::ByteBuffer encoded(const Message& message) {
  grpc::ByteBuffer buffer;
  bool own = false;
  const grpc::Status status = grpc::SerializationTraits<Message>::Serialize(message, &buffer, &own);
  if (!status.ok()) throw std::logic_error("encode a message: " + status.error_message());
  return buffer;
}

void require_size(const Direction& direction, std::size_t size) {
  if (static_cast<std::int64_t>(size) == direction.in.size) return;
  throw Refused(grpc::StatusCode::INVALID_ARGUMENT, std::string("the ") + direction.incoming + " has " +
                                                        std::to_string(size) + " bytes, expected " +
                                                        std::to_string(direction.in.size));
}

void require_bytes(const Direction& direction, std::string_view bytes) {
  require_size(direction, bytes.size());
  if (bytes == direction.in.bytes) return;
  throw Refused(grpc::StatusCode::INVALID_ARGUMENT,
                std::string("the ") + direction.incoming + " has the " + std::to_string(bytes.size()) +
                    " bytes expected, with another content than expected");
}

void refuse_undecodable(const Direction& direction) {
  const std::string type = direction.in.message ? direction.in.message->GetTypeName() : Block().GetTypeName();
  throw Refused(grpc::StatusCode::INTERNAL, std::string("decode the ") + direction.incoming +
                                                ": expected a " + type + ", found bytes that are none");
}

void require_values(const Direction& direction, const Message& message) {
  if (google::protobuf::util::MessageDifferencer::Equals(message, *direction.in.message)) return;
  throw Refused(grpc::StatusCode::INVALID_ARGUMENT, "the message has other values than expected");
}

std::unique_ptr<const Payload> make_payload(const Direction& direction, bool raw) {
  if (direction.out.message) return std::make_unique<Structured>(direction);
  if (raw) return std::make_unique<Raws>(direction);
  return std::make_unique<Blocks>(direction);
}

}  // namespace netdyno::grpc_worker
