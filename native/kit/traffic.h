// Recorded traffic as it lies in a file (contract/MIXES.md): when each request came, of which class
// it was, how much went up and down, and which path it asked for.
//
// Layer: above crc. A Recording: any thread. A Reader: one thread. Go counterpart: internal/traffic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kit/system.h"

namespace netdyno {

/// The path of a request whose path was not recorded.
inline constexpr std::int32_t kNoPath = -1;

/// One request of recorded traffic.
struct Recorded {
  std::int64_t at_ns = 0;  // since the beginning
  std::int32_t of_class = 0;
  std::int32_t path = kNoPath;  // its number
  std::int64_t up = 0;          // bytes
  std::int64_t down = 0;
};

/// The body of a file whose paths and the heads of whose blocks were read: a hundred million
/// requests are six thousand blocks.
class Recording : Pinned {
 public:
  /// Opens a regular file whose body begins at that byte. Throws Failure{setup} that says where
  /// it is damaged.
  Recording(const std::string& file, std::int64_t begins);

  const std::vector<std::string>& paths() const { return paths_; }
  std::int64_t requests() const { return requests_; }
  /// From the beginning to the last request.
  std::int64_t span_ns() const { return span_ns_; }

 private:
  friend class RecordingReader;
  struct Block {
    std::int64_t at;  // in the file
    std::uint32_t count;
    std::uint32_t bytes;
    std::int64_t begins;  // ns
    std::int64_t ends;
    std::uint32_t sum;
  };

  [[noreturn]] void damaged(std::int64_t at, const std::string& what) const;
  bool read(char* to, std::size_t size, std::int64_t at) const;
  std::int64_t read_paths(std::int64_t at);
  void read_blocks(std::int64_t at);

  std::string name_;
  Descriptor fd_;
  std::vector<std::string> paths_;
  std::vector<Block> blocks_;
  std::int64_t requests_ = 0;
  std::int64_t span_ns_ = 0;
};

/// Reads the requests of a body in order.
class RecordingReader {
 public:
  /// From the first request at or after a moment, in ns since the beginning. recording outlives it.
  /// Throws as next does.
  RecordingReader(const Recording& recording, std::int64_t from_ns);

  /// The next request; none at the end. Throws Failure{setup} where the file is damaged.
  std::optional<Recorded> next();

 private:
  bool read_block();
  std::optional<Recorded> decode();
  [[noreturn]] void broken(const std::string& what) const;

  const Recording* recording_;
  std::size_t number_ = 0;  // of the next block
  std::string content_;
  std::size_t at_ = 0;      // in content_
  std::uint32_t left_ = 0;  // requests of the block
  std::int64_t now_ = 0;
  std::optional<Recorded> held_;  // read and not given out
};

}  // namespace netdyno
