#include "grpcpp/chunk.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <algorithm>
#include <cstring>

namespace netdyno::grpc_worker {

using netdyno::v1::Block;

Chunks::Chunks(const Direction& direction, const Chunking& chunking)
    : direction_(direction), chunking_(chunking) {
  if (chunking.raw || direction.out.message) return;
  const std::string& bytes = direction.out.bytes;
  std::size_t at = 0;
  do {
    blocks_.emplace_back().set_content(bytes.substr(at, step(bytes.size())));
    at += step(bytes.size());
  } while (at < bytes.size());
}

std::size_t Chunks::step(std::size_t size) const {
  return chunking_.many ? static_cast<std::size_t>(chunking_.chunk) : std::max<std::size_t>(1, size);
}

grpc::ByteBuffer Chunks::message(std::size_t i) const {
  if (!chunking_.raw) return encoded(blocks_[i]);
  const std::string& bytes = direction_.out.bytes;
  const std::size_t at = i * step(bytes.size());
  const grpc::Slice slice(bytes.data() + at, std::min(bytes.size() - at, step(bytes.size())),
                          grpc::Slice::STATIC_SLICE);
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
  const std::size_t step = chunks_.step(size_);
  const std::size_t from = at_;
  at_ = std::min(size_, at_ + step);
  first_ = false;
  if (!chunks_.direction().out.message) return chunks_.message(from / step);
  return chunks_.message(std::string_view(encoded_).substr(from, at_ - from));
}

Joiner::Joiner(const Chunks& chunks)
    : chunks_(chunks),
      buffer_(std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(chunks.direction().in.size))) {}

void Joiner::add(grpc::ByteBuffer& in) {
  if (!chunks_.chunking().raw) {
    Block block;
    if (!grpc::SerializationTraits<Block>::Deserialize(&in, &block).ok()) {
      throw Refused(grpc::StatusCode::INTERNAL,
                    "decode a chunk: expected a netdyno.v1.Block, found bytes that are none");
    }
    return add(block.content());
  }
  std::vector<grpc::Slice> slices;
  if (in.Length() > 0) in.Dump(&slices);  // fails only for a buffer that holds nothing
  in.Clear();
  for (const grpc::Slice& slice : slices) add({reinterpret_cast<const char*>(slice.begin()), slice.size()});
}

void Joiner::add(std::string_view part) {
  const auto expected = static_cast<std::size_t>(chunks_.direction().in.size);
  if (part.size() > expected - size_) {
    throw Refused(grpc::StatusCode::INVALID_ARGUMENT,
                  "the stream holds more than the " + std::to_string(expected) + " bytes expected");
  }
  if (part.empty()) return;
  std::memcpy(buffer_.get() + size_, part.data(), part.size());
  size_ += part.size();
}

std::unique_ptr<google::protobuf::Message> Joiner::decoded() const {
  std::unique_ptr<google::protobuf::Message> message(chunks_.direction().in.message->New());
  if (!message->ParseFromArray(buffer_.get(), static_cast<int>(size_)))
    refuse_undecodable(chunks_.direction());
  return message;
}

std::int64_t Joiner::take() const {
  if (chunks_.direction().in.message) {
    decoded();
  } else {
    require_size(chunks_.direction(), size_);
  }
  return static_cast<std::int64_t>(size_);
}

std::int64_t Joiner::verify() const {
  if (chunks_.direction().in.message) {
    require_values(chunks_.direction(), *decoded());
  } else {
    require_bytes(chunks_.direction(), whole());
  }
  return static_cast<std::int64_t>(size_);
}

}  // namespace netdyno::grpc_worker
