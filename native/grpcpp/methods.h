// How the exchanges of a trial travel by service netdyno.v1.Exchange: by which methods, and in
// which sizes.
//
// Layer: above contents. Plain functions; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "grpcpp/contents.h"
#include "kit/contract.h"

namespace netdyno::grpc_worker {

/// The methods that a trial uses, by their names in exchange.proto.
struct Methods {
  std::string unary;
  std::string stream;
  std::string chunks;  // empty when nothing travels in chunks
};
Methods methods_of(const contract::Exchange& exchange);
/// gRPC's full name of a method, such as "/netdyno.v1.Exchange/Unary".
std::string full_name(const std::string& method);
/// What a server says of a method that is none of them, behind its name.
std::string refusal(const contract::Exchange& exchange);

/// Whether the setup's end sends its message in chunks, and whether it receives one so.
bool sends_chunks(const contract::Setup& setup);
bool receives_chunks(const contract::Setup& setup);
/// Bytes of a chunk.
std::int64_t chunk_bytes(const contract::Setup& setup);
/// The largest encoded message that the setup's end receives, in bytes.
std::int64_t largest_message(const contract::Setup& setup, const Contents& contents);

/// Throws Failure{unsupported} for options mode and codec that contradict the exchange.
void require_agreement(const contract::Setup& setup, const Contents& contents);

}  // namespace netdyno::grpc_worker
