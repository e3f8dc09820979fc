#include "grpcpp/payload.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <algorithm>
#include <cstring>

namespace netdyno::grpc_worker {

using google::protobuf::Message;
using v1::Block;

namespace {

grpc::ByteBuffer encoded(const Message& message) {
  grpc::ByteBuffer buffer;
  bool own = false;
  const grpc::Status status = grpc::SerializationTraits<Message>::Serialize(message, &buffer, &own);
  if (!status.ok()) throw std::logic_error("encode a message: " + status.error_message());
  return buffer;
}

bool decode(grpc::ByteBuffer& in, Message& into) {
  return grpc::SerializationTraits<Message>::Deserialize(&in, &into).ok();
}

grpc::Slice whole(grpc::ByteBuffer& in) {
  grpc::Slice slice;
  if (in.Length() > 0 && !in.TrySingleSlice(&slice).ok() && !in.DumpToSingleSlice(&slice).ok()) {
    throw Refused({0, Code::internal, "read a message: the library's buffer cannot be read"});
  }
  in.Clear();
  return slice;
}

std::string_view view(const grpc::Slice& slice) {
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

std::int64_t bytes_of(const Taken& taken) {
  if (taken.code != Code::ok) throw Refused(taken);
  return taken.bytes;
}

}  // namespace

Payload::Payload(const Direction& direction, bool raw)
    : judge_(direction), message_(direction.out.message.get()) {
  const std::string& bytes = direction.out.bytes;
  if (message_ == nullptr && raw) raw_.emplace(bytes.data(), bytes.size(), grpc::Slice::STATIC_SLICE);
  if (message_ == nullptr && !raw) block_.set_content(bytes);
}

grpc::ByteBuffer Payload::outgoing() const {
  if (raw_) return grpc::ByteBuffer(&*raw_, 1);
  return message_ == nullptr ? encoded(block_) : encoded(*message_);
}

std::int64_t Payload::take(grpc::ByteBuffer& in, bool compares) const {
  if (raw_) return bytes_of(judge_.content(view(whole(in)), compares));
  return bytes_of(judge_.decoded(
      in.Length(), [&in](Message& into) { return decode(in, into); }, compares));
}

Chunks::Chunks(const Direction& direction, const Cutting& cutting)
    : direction_(direction), cutting_(cutting) {
  if (!cutting.raw && !direction.out.message) blocks_ = cutting.blocks(direction.out.bytes);
}

grpc::ByteBuffer Chunks::message(std::size_t i) const {
  if (!cutting_.raw) return encoded(blocks_[i]);
  const std::string& bytes = direction_.out.bytes;
  const std::size_t step = cutting_.step(bytes.size());
  const std::size_t at = i * step;
  const grpc::Slice slice(bytes.data() + at, std::min(bytes.size() - at, step), grpc::Slice::STATIC_SLICE);
  return grpc::ByteBuffer(&slice, 1);
}

grpc::ByteBuffer Chunks::message(std::string_view part) const {
  Block block;
  block.set_content(part.data(), part.size());
  return encoded(block);
}

void Chunker::restart() {
  const Content& out = chunks_.direction().out;
  if (out.message) out.message->SerializeToString(&encoded_);
  size_ = out.message ? encoded_.size() : out.bytes.size();
  at_ = 0;
  first_ = true;
}

grpc::ByteBuffer Chunker::next() {
  const std::size_t step = chunks_.cutting().step(size_);
  const std::size_t from = at_;
  at_ = std::min(size_, at_ + step);
  first_ = false;
  if (!chunks_.direction().out.message) return chunks_.message(from / step);
  return chunks_.message(std::string_view(encoded_).substr(from, at_ - from));
}

Joiner::Joiner(const Chunks& chunks)
    : chunks_(chunks),
      judge_(chunks.direction()),
      buffer_(std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(judge_.in().size))) {}

void Joiner::add(grpc::ByteBuffer& in) {
  if (!chunks_.cutting().raw) {
    Block block;
    if (!decode(in, block)) throw Refused(Judge::undecodable_chunk());
    return add(block.content());
  }
  std::vector<grpc::Slice> slices;
  if (in.Length() > 0) in.Dump(&slices);  // fails only for a buffer that holds nothing
  in.Clear();
  for (const grpc::Slice& slice : slices) add(view(slice));
}

void Joiner::add(std::string_view part) {
  if (part.size() > static_cast<std::size_t>(judge_.in().size) - size_) throw Refused(judge_.excess());
  if (part.empty()) return;
  std::memcpy(buffer_.get() + size_, part.data(), part.size());
  size_ += part.size();
}

std::int64_t Joiner::take(bool compares) const {
  return bytes_of(judge_.content({buffer_.get(), size_}, compares));
}

}  // namespace netdyno::grpc_worker
