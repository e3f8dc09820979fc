// Statuses of gRPC as the contract and reports have them, by their numbers. Source: gRPC,
// Status codes and their use in gRPC (doc/statuscodes.md).
//
// Layer: above kit/contract. Plain functions; any thread.
#pragma once

#include <string>

#include "kit/contract.h"

namespace netdyno::grpc_worker {

/// The contract's kind of a status: peer when the connection is gone, timeout when a deadline
/// passed, invalid when the answer is not the expected one.
contract::ErrorKind kind_of(int code);

/// A status in words: "Unavailable: try later". The name is that of the library in Go, so that
/// equal causes have equal reasons.
std::string status_text(int code, const std::string& message);

}  // namespace netdyno::grpc_worker
