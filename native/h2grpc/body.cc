#include "h2grpc/body.h"

#include <algorithm>
#include <utility>

namespace netdyno::h2grpc {

using google::protobuf::Message;
using v1::Block;

namespace {

void put_prefix(char* to, std::size_t size) {
  to[0] = 0;
  for (int i = 4; i > 0; i--, size >>= 8) to[i] = static_cast<char>(size & 0xff);
}

}  // namespace

std::size_t size_behind(std::string_view prefix) {
  std::size_t size = 0;
  for (std::size_t i = 1; i < kPrefix; i++) size = size << 8 | static_cast<unsigned char>(prefix[i]);
  return size;
}

void add_message(std::string& body, std::string_view message) {
  const std::size_t at = body.size();
  body.resize(at + kPrefix);
  put_prefix(body.data() + at, message.size());
  body += message;
}

std::size_t put_message(std::string& room, std::size_t at, const Message& message) {
  const std::size_t size = message.ByteSizeLong();
  const std::size_t end = at + kPrefix + size;
  if (room.size() < end) room.resize(end);
  put_prefix(room.data() + at, size);
  message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(room.data() + at + kPrefix));
  return end;
}

Payload::Payload(const Direction& direction, bool raw)
    : judge_(direction), message_(direction.out.message.get()) {
  if (message_ == nullptr && raw) add_message(raw_, direction.out.bytes);
  if (message_ == nullptr && !raw) block_.set_content(direction.out.bytes);
}

std::string_view Payload::outgoing(std::string& room) const {
  if (!raw_.empty()) return raw_;
  const std::size_t end =
      message_ == nullptr ? put_message(room, 0, block_) : put_message(room, 0, *message_);
  return std::string_view(room).substr(0, end);
}

Taken Payload::take(std::string_view body, bool compares) const {
  if (body.size() < kPrefix) {
    return {0, internal, "the " + incoming() + " holds no message, expected one"};
  }
  if (body[0] != 0) {
    return {0, unimplemented, "the " + incoming() + " is compressed, expected one that is not"};
  }
  const std::size_t size = size_behind(body);
  body.remove_prefix(kPrefix);
  if (size != body.size()) {
    return {0, internal,
            "the " + incoming() + " holds " + std::to_string(body.size()) +
                " bytes behind a prefix that says " + std::to_string(size)};
  }
  if (!raw_.empty()) return judge_.content(body, compares);
  const auto parse = [body](Message& into) {
    return into.ParseFromArray(body.data(), static_cast<int>(body.size()));
  };
  return judge_.decoded(size, parse, compares);
}

namespace {

/// Moves bytes behind text until it has so many. Whether it has them then.
bool fill(std::string& text, std::string_view& bytes, std::size_t size) {
  const std::size_t n = std::min(size - text.size(), bytes.size());
  text.append(bytes.substr(0, n));
  bytes.remove_prefix(n);
  return text.size() == size;
}

}  // namespace

bool refuse(h2::Incoming& in, Taken taken) {
  in.fault = taken.code;
  in.why = std::move(taken.why);
  return false;
}

bool refuse_longer(h2::Incoming& in, const std::string& incoming, std::int64_t most) {
  return refuse(in, {0, resource_exhausted,
                     "the " + incoming + " has a message longer than option max_message, " +
                         std::to_string(most) + " bytes"});
}

bool UnaryBody::data(h2::Incoming& in, std::string_view bytes) const {
  const std::int64_t most = most_ + static_cast<std::int64_t>(kPrefix);
  in.bytes += static_cast<std::int64_t>(bytes.size());
  if (in.bytes > most) return refuse_longer(in, payload_.incoming(), most_);
  in.kept.append(bytes);
  return true;
}

bool TalkBody::data(h2::Incoming& in, std::string_view bytes) const {
  while (!bytes.empty()) {
    if (one_ && in.whole > 0) {
      return refuse(in, {0, internal, "the stream holds more than one " + payload_.incoming()});
    }
    if (in.kept.size() < kPrefix && !fill(in.kept, bytes, kPrefix)) return true;
    const std::size_t size = size_behind(in.kept);
    if (static_cast<std::int64_t>(size) > most_) return refuse_longer(in, payload_.incoming(), most_);
    if (!fill(in.kept, bytes, kPrefix + size)) return true;
    Taken taken = payload_.take(in.kept, false);
    if (taken.code != ok) return refuse(in, std::move(taken));
    in.whole++;
    in.received += taken.bytes;
    if (!one_) in.kept.clear();
  }
  return true;
}

Taken TalkBody::end(const h2::Incoming& in, bool compares) const {
  if (compares) return payload_.take(in.kept, true);
  if (one_ ? in.whole > 0 : in.kept.empty()) return {in.received, ok, ""};
  return {0, internal, "the stream ended before its " + payload_.incoming() + " was complete"};
}

namespace {

/// Bytes that a piece gathers before it goes out: what a frame has by default.
constexpr std::size_t kPiece = 16 << 10;

}  // namespace

ChunkedBody::ChunkedBody(const Direction& direction, const Cutting& cutting, std::int64_t most)
    : out_(direction.out), cutting_(cutting), most_(most), judge_(direction) {
  if (out_.message) return;
  if (!cutting.raw) {
    blocks_ = cutting.blocks(out_.bytes);
    return;
  }
  const std::string_view all = out_.bytes;
  const std::size_t step = cutting.step(all.size());
  std::size_t at = 0;
  do h2grpc::add_message(raw_, all.substr(at, step));
  while ((at += step) < all.size());
}

void ChunkedBody::begin(h2::Outgoing& out) const {
  if (!raw_.empty()) {
    out.piece = raw_;
    out.more = false;
    return;
  }
  if (out_.message) out_.message->SerializeToString(&out.encoded);
  out.at = 0;
  next(out);
}

/// Empty content is one empty message, so that the peer has one to wait for.
void ChunkedBody::next(h2::Outgoing& out) const {
  const std::size_t size = out_.message ? out.encoded.size() : out_.bytes.size();
  std::size_t used = 0;
  do used = add_message(out, used, size);
  while (out.at < size && used < kPiece);
  out.piece = std::string_view(out.room).substr(0, used);
  out.more = out.at < size;
}

std::size_t ChunkedBody::add_message(h2::Outgoing& out, std::size_t used, std::size_t size) const {
  const std::size_t from = out.at;
  const std::size_t step = cutting_.step(size);
  out.at = std::min(size, from + step);
  if (!out_.message) return put_message(out.room, used, blocks_[from / step]);
  Block block;
  block.set_content(out.encoded.data() + from, out.at - from);
  return put_message(out.room, used, block);
}

/// kept holds the prefix of the next message, or what has come of a Block.
bool ChunkedBody::data(h2::Incoming& in, std::string_view bytes) const {
  while (!bytes.empty()) {
    if (in.left == 0) {
      const std::size_t n = std::min(kPrefix - in.kept.size(), bytes.size());
      in.kept.append(bytes.substr(0, n));
      bytes.remove_prefix(n);
      if (in.kept.size() < kPrefix) return true;
      if (!begin_message(in)) return false;
      continue;
    }
    const std::string_view part = bytes.substr(0, in.left);
    bytes.remove_prefix(part.size());
    if (!add(in, part)) return false;
  }
  return true;
}

/// Reads the prefix.
bool ChunkedBody::begin_message(h2::Incoming& in) const {
  const std::size_t size = size_behind(in.kept);
  const bool compressed = in.kept[0] != 0;
  in.kept.clear();
  if (compressed) return refuse(in, {0, unimplemented, "a chunk is compressed, expected one that is not"});
  if (static_cast<std::int64_t>(size) > most_) return refuse_longer(in, judge_.incoming(), most_);
  if (in.messages > 0 && !cutting_.receives) {
    return refuse(in, {0, internal, "the " + judge_.incoming() + " holds more than one message"});
  }
  in.messages++;
  in.left = size;
  return true;
}

/// Takes bytes of the message that has begun.
bool ChunkedBody::add(h2::Incoming& in, std::string_view part) const {
  in.left -= part.size();
  if (cutting_.raw) return join(in, part);
  if (!in.kept.empty() || in.left > 0) {
    in.kept.append(part);
    if (in.left > 0) return true;
    part = in.kept;
  }
  Block block;  // a new one for each message, as generated code does
  if (!block.ParseFromArray(part.data(), static_cast<int>(part.size()))) {
    return refuse(in, Judge::undecodable_chunk());
  }
  in.kept.clear();
  return join(in, block.content());
}

bool ChunkedBody::join(h2::Incoming& in, std::string_view part) const {
  if (part.size() > static_cast<std::size_t>(judge_.in().size) - in.joined.size()) {
    return refuse(in, judge_.excess());
  }
  in.joined.append(part);
  return true;
}

Taken ChunkedBody::end(const h2::Incoming& in, bool compares) const {
  if (in.left > 0 || !in.kept.empty()) {
    return {0, internal, "the " + judge_.incoming() + " ends within a message"};
  }
  if (in.messages == 0 && !cutting_.receives) {
    return {0, internal, "the " + judge_.incoming() + " holds no message, expected one"};
  }
  return judge_.content(in.joined, compares);
}

}  // namespace netdyno::h2grpc
