// The settings of transport threads, beyond those of every transport over TCP.
// Layer: threads worker, bottom. Plain values; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "kit/contract.h"

namespace netdyno::threads_worker {

/// Connections, and so threads, of one process. Each client's thread counts on its own,
/// in histograms of 240 KiB.
constexpr std::int64_t kMaxConnections = 256;

enum class Send { write, sendfile, splice, zerocopy };
enum class Receive { read, truncate, splice };

struct Settings {
  Send send = Send::write;
  Receive receive = Receive::read;
  std::int64_t lowat = 0;  // SO_RCVLOWAT in bytes; 0 leaves it alone

  /// Reads a setup's complete options. Throws Failure: setup for an option that only wire
  /// stream has, on wire echo; unsupported for a number of threads or connections that
  /// this transport cannot have.
  static Settings of(const contract::Setup& setup);
};

/// Options send, receive and lowat.
std::vector<contract::Option> setting_options();

}  // namespace netdyno::threads_worker
