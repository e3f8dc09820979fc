// What the bare peers share: their command line and their one line of output.
//
//   bare-X-echo server PORT
//   bare-X-echo client PORT CONNECTIONS SIZE SECONDS
//
// A closed loop with one message in flight per connection, on 127.0.0.1, one
// thread. The client prints {"exchanges":N,"seconds":S,"cpu_s":C}.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

namespace bare {

struct Arguments {
  bool server = false;
  std::uint16_t port = 0;
  std::size_t connections = 0;
  std::size_t size = 0;
  double seconds = 0;
};

inline Arguments parse(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const bool server = mode == "server" && argc == 3;
  if (!server && !(mode == "client" && argc == 6)) {
    std::fprintf(stderr, "usage: %s server PORT | client PORT CONNECTIONS SIZE SECONDS\n", argv[0]);
    std::exit(2);
  }
  Arguments a;
  a.server = server;
  a.port = static_cast<std::uint16_t>(std::strtoul(argv[2], nullptr, 10));
  if (!server) {
    a.connections = std::strtoul(argv[3], nullptr, 10);
    a.size = std::strtoul(argv[4], nullptr, 10);
    a.seconds = std::strtod(argv[5], nullptr);
  }
  return a;
}

/// Random bytes, so that nothing can compress them.
inline std::vector<char> payload(std::size_t size) {
  std::vector<char> bytes(size);
  std::uint64_t x = 0x9e3779b97f4a7c15;
  for (char& b : bytes) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    b = static_cast<char>(x);
  }
  return bytes;
}

inline double clock_s(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// Wall and CPU time from its construction to print.
class Stopwatch {
 public:
  void print(std::int64_t exchanges) const {
    std::printf("{\"exchanges\":%lld,\"seconds\":%.6f,\"cpu_s\":%.6f}\n", static_cast<long long>(exchanges),
                clock_s(CLOCK_MONOTONIC) - wall_, clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_);
  }

 private:
  double wall_ = clock_s(CLOCK_MONOTONIC);
  double cpu_ = clock_s(CLOCK_PROCESS_CPUTIME_ID);
};

}  // namespace bare
