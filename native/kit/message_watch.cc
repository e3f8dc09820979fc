#include "kit/message_watch.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <system_error>

namespace netdyno {
namespace {

/// The event's entry among those of the connections.
constexpr std::uint64_t kWoken = std::numeric_limits<std::uint64_t>::max();

void watch_for(int epoll, int fd, std::uint32_t events, std::uint64_t entry) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = entry;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0) return;
  throw std::system_error(errno, std::generic_category(), "watch a control socket");
}

}  // namespace

MessageWatch::MessageWatch()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)), event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (epoll_.get() < 0 || event_.get() < 0) {
    throw std::system_error(errno, std::generic_category(), "create epoll and eventfd");
  }
  watch_for(epoll_.get(), event_.get(), EPOLLIN, kWoken);
}

void MessageWatch::add(int control, std::size_t connection) {
  watch_for(epoll_.get(), control, EPOLLRDHUP | EPOLLONESHOT, connection);
}

std::vector<std::size_t> MessageWatch::ended() {
  std::vector<std::size_t> connections;
  std::array<epoll_event, 64> events;
  for (int n = -1; n != 0;) {
    n = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
    if (n < 0) break;  // interrupted: they are there at the next call
    for (int i = 0; i < n; i++) {
      const std::uint64_t entry = events[static_cast<std::size_t>(i)].data.u64;
      if (entry == kWoken) {
        eventfd_t count = 0;
        eventfd_read(event_.get(), &count);
      } else {
        connections.push_back(entry);
      }
    }
  }
  return connections;
}

void MessageWatch::wake() const { eventfd_write(event_.get(), 1); }

}  // namespace netdyno
