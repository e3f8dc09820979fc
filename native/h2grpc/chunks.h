// Content cut into the messages of a stream, and joined again: each is a Block, or raw. What
// is sent raw is the same in every exchange and made once; a Block is encoded when its turn
// comes, so that a body needs no more memory than the pieces that are on their way.
//
// Layer: above body. Immutable after construction: any thread may use it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exchange.pb.h"
#include "h2grpc/body.h"

namespace netdyno::h2grpc {

/// How an end cuts what it sends, and takes what it receives.
struct Cutting {
  bool raw = false;
  bool sends = false;      // several messages; else one
  bool receives = false;   // the same
  std::int64_t chunk = 0;  // bytes of a chunk, above 0
};

class ChunkedBody final : public Body {
 public:
  /// The contents outlive it. incoming and most are as with Payload and UnaryBody.
  ChunkedBody(const grpc_worker::Content& out, const grpc_worker::Content& in, const std::string& incoming,
              const Cutting& cutting, std::int64_t most);

  void begin(h2::Outgoing& out) const override;
  void next(h2::Outgoing& out) const override;
  bool data(h2::Incoming& in, std::string_view bytes) const override;
  Taken end(const h2::Incoming& in) const override;
  std::string compare(const h2::Incoming& in) const override { return joined_->compare(in.joined); }

 private:
  /// Bytes of content that one message carries of so many.
  std::size_t step(std::size_t size) const;
  std::size_t add_message(h2::Outgoing& out, std::size_t used, std::size_t size) const;
  bool begin_message(h2::Incoming& in) const;
  bool add(h2::Incoming& in, std::string_view message) const;
  bool join(h2::Incoming& in, std::string_view part) const;

  const grpc_worker::Content& out_;
  const grpc_worker::Content& in_;
  Cutting cutting_;
  std::int64_t most_;
  std::unique_ptr<const Payload> joined_;  // reads the joined content
  std::vector<v1::Block> blocks_;          // of codec bytes
  std::string raw_;                        // the body that is sent raw
};

}  // namespace netdyno::h2grpc
