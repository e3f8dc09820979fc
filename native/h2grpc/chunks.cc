#include "h2grpc/chunks.h"

#include <algorithm>

namespace netdyno::h2grpc {

using grpc_worker::Content;
using v1::Block;

namespace {

/// Bytes that a piece gathers before it goes out: what a frame has by default.
constexpr std::size_t kPiece = 16 << 10;

void add_raw(std::string& body, std::string_view part) {
  const std::size_t at = body.size();
  body.resize(at + kPrefix);
  put_prefix(body.data() + at, part.size());
  body += part;
}

/// What reads joined content sends nothing.
std::unique_ptr<const Payload> reader(const Content& out, const Content& in, const std::string& incoming) {
  static const Content kNothing;
  return make_payload(in.message ? out : kNothing, in, incoming, true);
}

}  // namespace

ChunkedBody::ChunkedBody(const Content& out, const Content& in, const std::string& incoming,
                         const Cutting& cutting, std::int64_t most)
    : out_(out), in_(in), cutting_(cutting), most_(most), joined_(reader(out, in, incoming)) {
  if (out.message) return;
  const std::string_view all = out.bytes;
  std::size_t at = 0;
  do {
    const std::string_view part = all.substr(at, step(all.size()));
    if (cutting.raw) {
      add_raw(raw_, part);
    } else {
      blocks_.emplace_back().set_content(part.data(), part.size());
    }
    at += step(all.size());
  } while (at < all.size());
}

std::size_t ChunkedBody::step(std::size_t size) const {
  return cutting_.sends ? static_cast<std::size_t>(cutting_.chunk) : std::max<std::size_t>(1, size);
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
  out.at = std::min(size, from + step(size));
  if (!out_.message) return put_message(out.room, used, blocks_[from / step(size)]);
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
  if (compressed) return refuse(in, unimplemented, "a chunk is compressed, expected one that is not");
  if (static_cast<std::int64_t>(size) > most_) return refuse_longer(in, joined_->incoming(), most_);
  if (in.messages > 0 && !cutting_.receives) {
    return refuse(in, internal, "the " + joined_->incoming() + " holds more than one message");
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
    return refuse(in, internal, "decode a chunk: expected a netdyno.v1.Block, found bytes that are none");
  }
  in.kept.clear();
  return join(in, block.content());
}

bool ChunkedBody::join(h2::Incoming& in, std::string_view part) const {
  const auto expected = static_cast<std::size_t>(in_.size);
  if (part.size() > expected - in.joined.size()) {
    return refuse(in, invalid_argument,
                  "the stream holds more than the " + std::to_string(expected) + " bytes expected");
  }
  in.joined.append(part);
  return true;
}

Taken ChunkedBody::end(const h2::Incoming& in) const {
  if (in.left > 0 || !in.kept.empty()) {
    return {0, internal, "the " + joined_->incoming() + " ends within a message"};
  }
  if (in.messages == 0 && !cutting_.receives) {
    return {0, internal, "the " + joined_->incoming() + " holds no message, expected one"};
  }
  return joined_->decode(in.joined);
}

}  // namespace netdyno::h2grpc
