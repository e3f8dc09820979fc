#include "kit/traffic.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

#include "kit/contract.h"
#include "kit/crc.h"

namespace netdyno {

namespace {

// Bounds of a file, as internal/traffic has them.
constexpr std::string_view kMagic = "NDTRAF1\n";
constexpr std::uint32_t kMostPaths = 1 << 16;
constexpr std::uint32_t kMostPathsLength = 16 << 20;
constexpr std::uint32_t kBlockLength = 1 << 14;
constexpr std::uint32_t kMostBlock = kBlockLength * 5 * 10;
constexpr std::int64_t kMostSpan = 100LL * 365 * 24 * 3600 * 1'000'000'000;
constexpr std::size_t kPathsHead = 12;
constexpr std::size_t kBlockHead = 20;

std::uint64_t little(const char* bytes, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::uint32_t word(const char* bytes) { return static_cast<std::uint32_t>(little(bytes, 4)); }

[[noreturn]] void refuse(const std::string& text) {
  throw contract::Failure(contract::ErrorKind::setup, "load.trace.file: " + text);
}

}  // namespace

Recording::Recording(const std::string& file, std::int64_t begins)
    : name_(file), fd_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (fd_.get() < 0) refuse("open " + file + ": " + std::generic_category().message(errno));
  struct stat status {};
  if (fstat(fd_.get(), &status) != 0 || !S_ISREG(status.st_mode)) refuse(file + " is no regular file");
  if (begins < 0) refuse(file + ": load.trace.begins is " + std::to_string(begins) + ", expected 0 or more");
  read_blocks(read_paths(begins));
  if (requests_ == 0) refuse(file + " has no requests");
}

void Recording::damaged(std::int64_t at, const std::string& what) const {
  refuse(name_ + ": recorded traffic is damaged at byte " + std::to_string(at) + ": " + what);
}

/// Whether so many bytes are there.
bool Recording::read(char* to, std::size_t size, std::int64_t at) const {
  while (size > 0) {
    const ssize_t n = ::pread(fd_.get(), to, size, at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    to += n;
    size -= static_cast<std::size_t>(n);
    at += n;
  }
  return true;
}

/// Returns where the blocks begin.
std::int64_t Recording::read_paths(std::int64_t at) {
  std::array<char, kMagic.size() + kPathsHead> all{};
  if (!read(all.data(), all.size(), at) || !std::equal(kMagic.begin(), kMagic.end(), all.begin())) {
    damaged(at, "the body does not begin here");
  }
  const char* const head = all.data() + kMagic.size();
  const std::uint32_t count = word(head);
  const std::uint32_t size = word(head + 4);
  at += static_cast<std::int64_t>(all.size());
  if (count > kMostPaths || size > kMostPathsLength) damaged(at, "it has more paths than a file holds");
  std::string text(size, '\0');
  if (!read(text.data(), size, at) || crc32c({text.data(), size}, crc32c({head, 8})) != word(head + 8)) {
    damaged(at, "the paths are cut off or changed");
  }
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    paths_.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  if (paths_.size() != count) {
    damaged(at, std::to_string(count) + " paths are announced and " + std::to_string(paths_.size()) +
                    " are there");
  }
  return at + size;
}

void Recording::read_blocks(std::int64_t at) {
  for (std::array<char, kBlockHead> head{};;) {
    if (!read(head.data(), head.size(), at)) damaged(at, "the file is cut off");
    const std::uint64_t span = little(head.data() + 8, 8);
    Block block{at + static_cast<std::int64_t>(kBlockHead),
                word(head.data()),
                word(head.data() + 4),
                span_ns_,
                0,
                word(head.data() + 16)};
    if (block.count > kBlockLength || block.bytes > kMostBlock ||
        std::uint64_t{block.bytes} < std::uint64_t{block.count} * 5 ||
        span > static_cast<std::uint64_t>(kMostSpan - span_ns_)) {
      damaged(at, "a block's head says what cannot be");
    }
    if (block.count == 0) {
      if (block.sum != crc32c({head.data(), 16})) damaged(at, "the end has another sum");
      return;
    }
    span_ns_ += static_cast<std::int64_t>(span);
    block.ends = span_ns_;
    requests_ += block.count;
    blocks_.push_back(block);
    at = block.at + block.bytes;
  }
}

RecordingReader::RecordingReader(const Recording& recording, std::int64_t from_ns) : recording_(&recording) {
  const auto& all = recording.blocks_;
  const auto first =
      std::lower_bound(all.begin(), all.end(), from_ns,
                       [](const Recording::Block& block, std::int64_t ns) { return block.ends < ns; });
  number_ = static_cast<std::size_t>(first - all.begin());
  do {
    held_ = decode();
  } while (held_ && held_->at_ns < from_ns);
}

std::optional<Recorded> RecordingReader::next() {
  if (held_) return std::exchange(held_, std::nullopt);
  return decode();
}

void RecordingReader::broken(const std::string& what) const {
  recording_->damaged(recording_->blocks_[number_ - 1].at, what);
}

/// Reads the block that comes next. False at the end.
bool RecordingReader::read_block() {
  if (number_ == recording_->blocks_.size()) return false;
  const Recording::Block& block = recording_->blocks_[number_++];
  content_.resize(block.bytes);
  std::array<char, 16> head{};
  if (!recording_->read(content_.data(), content_.size(), block.at)) broken("the file is cut off");
  if (!recording_->read(head.data(), head.size(), block.at - static_cast<std::int64_t>(kBlockHead)) ||
      crc32c({content_.data(), content_.size()}, crc32c({head.data(), head.size()})) != block.sum) {
    broken("a block has another sum");
  }
  at_ = 0;
  left_ = block.count;
  now_ = block.begins;
  return true;
}

std::optional<Recorded> RecordingReader::decode() {
  if (left_ == 0 && !read_block()) return std::nullopt;
  std::array<std::uint64_t, 5> values{};
  for (std::uint64_t& value : values) {
    int shift = 0;
    for (unsigned byte = 0x80; byte >= 0x80; shift += 7) {
      if (at_ == content_.size() || shift > 63) broken("a request is cut off");
      byte = static_cast<unsigned char>(content_[at_++]);
      if (shift == 63 && byte > 1) broken("a request is cut off");
      value |= std::uint64_t{byte & 0x7f} << shift;
    }
  }
  const Recording::Block& block = recording_->blocks_[number_ - 1];
  constexpr auto kMostBytes = static_cast<std::uint64_t>(contract::kMaxFlowMessage);
  if (values[0] > static_cast<std::uint64_t>(block.ends - now_) || values[1] >= contract::kMostClasses ||
      values[2] > kMostBytes || values[3] > kMostBytes || values[4] > recording_->paths_.size()) {
    broken("a request says what cannot be");
  }
  now_ += static_cast<std::int64_t>(values[0]);
  left_--;
  return Recorded{now_, static_cast<std::int32_t>(values[1]), static_cast<std::int32_t>(values[4]) - 1,
                  static_cast<std::int64_t>(values[2]), static_cast<std::int64_t>(values[3])};
}

}  // namespace netdyno
