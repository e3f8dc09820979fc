#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "h2/session.h"
#include "kit/options.h"

namespace netdyno::h2 {

using contract::Option;
using contract::Role;

namespace {

constexpr std::int64_t kLeastFrame = 16 << 10;
constexpr std::int64_t kMostFrame = (1 << 24) - 1;
constexpr std::int64_t kLeastWindow = (1 << 16) - 1;  // a connection's cannot be smaller
constexpr std::int64_t kMostWindow = (std::int64_t{1} << 31) - 1;

/// An option with the values that a race tries. Nobody sets it outside of netdyno by these
/// words: the library has functions of a session for it.
Option raced_bytes(const std::string& name, const Range& range, const std::string& doc,
                   const std::vector<std::string>& grid, const std::string& as) {
  return raced(bytes_option(name, range, doc), grid, {{Role::server, as}, {Role::client, as}});
}

}  // namespace

std::vector<Option> setting_options() {
  return {
      only(Role::server, integer_option("max_streams", {250, 1, 1 << 20},
                                        "streams that a client may have open on a connection")),
      raced_bytes("max_frame", {kLeastFrame, kLeastFrame, kMostFrame}, "largest frame that this end reads",
                  {"64KiB", "1MiB"}, "NGHTTP2_SETTINGS_MAX_FRAME_SIZE = {value}"),
      raced_bytes("connection_window", {16 << 20, kLeastWindow, kMostWindow},
                  "receive window of a connection", {"1MiB", "64MiB"},
                  "nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, {value})"),
      raced_bytes("stream_window", {1 << 20, 1, kMostWindow}, "receive window of a stream", {"4MiB", "16MiB"},
                  "NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE = {value}"),
  };
}

Settings Settings::of(const contract::Setup& setup) {
  const contract::Options& o = setup.options;
  Settings settings;
  settings.max_frame = o.at("max_frame").get<std::uint32_t>();
  settings.connection_window = o.at("connection_window").get<std::int32_t>();
  settings.stream_window = o.at("stream_window").get<std::int32_t>();
  if (setup.role == Role::server) settings.max_streams = o.at("max_streams").get<std::uint32_t>();
  return settings;
}

namespace {

Memory& of(void* memory) { return *static_cast<Memory*>(memory); }

}  // namespace

Memory::~Memory() {
  for (Head* next : free_) {
    while (next != nullptr) std::free(std::exchange(next, next->next));
  }
}

nghttp2_mem Memory::asked_by() {
  return {
      this, [](std::size_t size, void* memory) { return of(memory).take(size); },
      [](void* bytes, void* memory) { of(memory).give_back(bytes); },
      [](std::size_t count, std::size_t size, void* memory) { return of(memory).take_zeroed(count, size); },
      [](void* bytes, std::size_t size, void* memory) { return of(memory).resize(bytes, size); }};
}

void* Memory::take(std::size_t size) {
  if (size > SIZE_MAX / 2) return nullptr;
  const std::size_t steps = (size + kStep - 1) / kStep;
  const std::size_t rounded = steps * kStep;
  Head* head = nullptr;
  if (steps < free_.size() && free_[steps] != nullptr) {
    head = free_[steps];
    free_[steps] = head->next;
    kept_ -= rounded;
  } else {
    head = static_cast<Head*>(std::malloc(sizeof(Head) + rounded));
    if (head == nullptr) return nullptr;
  }
  head->size = rounded;
  return head + 1;
}

void Memory::give_back(void* bytes) {
  if (bytes == nullptr) return;
  Head* const head = static_cast<Head*>(bytes) - 1;
  const std::size_t steps = head->size / kStep;
  if (steps >= free_.size() || kept_ + head->size > kMostKept) return std::free(head);
  kept_ += head->size;
  head->next = free_[steps];
  free_[steps] = head;
}

void* Memory::resize(void* bytes, std::size_t size) {
  if (bytes == nullptr) return take(size);
  const std::size_t before = (static_cast<Head*>(bytes) - 1)->size;
  if (size <= before) return bytes;
  void* const more = take(size);
  if (more == nullptr) return nullptr;
  std::memcpy(more, bytes, before);
  give_back(bytes);
  return more;
}

void* Memory::take_zeroed(std::size_t count, std::size_t size) {
  if (size > 0 && count > SIZE_MAX / 2 / size) return nullptr;
  void* const bytes = take(count * size);
  if (bytes != nullptr) std::memset(bytes, 0, count * size);
  return bytes;
}

}  // namespace netdyno::h2
