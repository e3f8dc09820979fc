#include "grpcpp/methods.h"

#include <algorithm>

namespace netdyno::grpc_worker {

using contract::ErrorKind;
using contract::Failure;
using contract::Role;
using contract::Stream;

namespace {

/// The size of a chunk where the trial does not set it, in bytes.
constexpr std::int64_t kChunk = 64 << 10;

bool streams(const contract::Exchange& exchange, Stream direction) {
  return exchange.stream == direction || exchange.stream == Stream::both;
}

}  // namespace

Methods methods_of(const contract::Exchange& exchange) {
  Methods methods{"Unary", "Talk", {}};
  if (exchange.message) {
    const bool simple = exchange.message->name == "simple";
    methods.unary = simple ? "Simple" : "Complex";
    methods.stream = simple ? "TalkSimple" : "TalkComplex";
  }
  if (exchange.stream == Stream::up) methods.chunks = "Up";
  if (exchange.stream == Stream::down) methods.chunks = "Down";
  if (exchange.stream == Stream::both) methods.chunks = "Both";
  return methods;
}

std::string full_name(const std::string& method) { return "/netdyno.v1.Exchange/" + method; }

std::string refusal(const contract::Exchange& exchange) {
  const Methods methods = methods_of(exchange);
  const std::string codec = exchange.codec.empty() ? "bytes" : exchange.codec;
  std::string served = full_name(methods.unary) + " or " + full_name(methods.stream);
  if (!methods.chunks.empty()) served = full_name(methods.chunks) + ", " + served;
  return " does not serve this trial of codec " + codec + "; expected " + served;
}

bool sends_chunks(const contract::Setup& setup) {
  return streams(setup.exchange, setup.role == Role::client ? Stream::up : Stream::down);
}

bool receives_chunks(const contract::Setup& setup) {
  return streams(setup.exchange, setup.role == Role::client ? Stream::down : Stream::up);
}

std::int64_t chunk_bytes(const contract::Setup& setup) {
  return setup.exchange.chunk_bytes > 0 ? setup.exchange.chunk_bytes : kChunk;
}

std::int64_t largest_message(const contract::Setup& setup, const Contents& contents) {
  std::int64_t size = (setup.role == Role::client ? contents.down() : contents.up()).size;
  if (receives_chunks(setup)) size = std::min(size, chunk_bytes(setup));
  return size + size / 1024 + 64;
}

void require_agreement(const contract::Setup& setup, const Contents& contents) {
  if (setup.exchange.stream != Stream::none && setup.options.at("mode") == "stream") {
    throw Failure(ErrorKind::unsupported,
                  "option mode is stream, one message each way, and exchange.stream is \"" +
                      std::string(contract::name(setup.exchange.stream)) + "\", chunks: set one of them");
  }
  if (contents.structured() && setup.options.at("codec") == "raw") {
    throw Failure(ErrorKind::unsupported, "option codec is raw and exchange.codec is " +
                                              setup.exchange.codec + ": raw carries codec bytes alone");
  }
}

}  // namespace netdyno::grpc_worker
