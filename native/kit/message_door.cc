#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <system_error>
#include <utility>

#include "kit/address.h"
#include "kit/message_ends.h"
#include "kit/messages.h"
#include "kit/system.h"

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// How long a greeting may take to come.
constexpr std::int64_t kGreetingNs = 1'000'000'000;
/// Clients whose greetings are waited for at a time. Others wait in the backlog.
constexpr std::size_t kMaxGuests = 1'024;
/// How often greetings that are late are looked for, and how long failed accepts rest.
constexpr int kLateMs = 100;
constexpr int kRestMs = 10;

}  // namespace

MessageDoor::MessageDoor(const contract::Setup& setup)
    : allowed_(setup), stop_event_(eventfd(0, EFD_CLOEXEC)) {
  if (stop_event_.get() < 0) throw std::system_error(errno, std::generic_category(), "create eventfd");
  const Listening listening = listen_on(setup, 1);
  addresses_ = listening.addresses;
  for (const auto& port : listening.fds) listeners_.emplace_back(port[0]);
}

MessageDoor::~MessageDoor() { close(); }

void MessageDoor::open(Admit admit) {
  admit_ = std::move(admit);
  thread_ = std::thread([this] {
    name_thread("accept");
    run();
  });
}

void MessageDoor::close() {
  if (!thread_.joinable()) return;
  eventfd_write(stop_event_.get(), 1);
  thread_.join();
}

std::string MessageDoor::host() const {
  Endpoint own;
  if (getsockname(listeners_[0].get(), own.get(), &own.size) != 0) return {};
  return own.address().host;
}

void MessageDoor::run() {
  for (;;) {
    std::vector<pollfd> asked = {{stop_event_.get(), POLLIN, 0}};
    for (const Guest& guest : guests_) asked.push_back({guest.control.get(), POLLIN, 0});
    const bool accepts = !std::exchange(rests_, false) && guests_.size() < kMaxGuests;
    for (const Descriptor& listener : listeners_) {
      asked.push_back({listener.get(), static_cast<short>(accepts ? POLLIN : 0), 0});
    }
    const int limit = !accepts ? kRestMs : guests_.empty() ? -1 : kLateMs;
    if (poll(asked.data(), asked.size(), limit) < 0 && errno != EINTR) return;
    if (asked[0].revents != 0) return;
    const std::int64_t now = now_ns();
    const std::size_t heard = guests_.size();
    for (std::size_t i = 0; i < heard; i++) hear(guests_[i], asked[1 + i].revents != 0, now);
    for (std::size_t i = 1 + heard; i < asked.size(); i++) {
      if ((asked[i].revents & POLLIN) != 0) accept_at(asked[i].fd);
    }
    std::erase_if(guests_, [](const Guest& guest) { return guest.control.get() < 0; });
  }
}

void MessageDoor::accept_at(int listener) {
  Descriptor control(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (control.get() < 0) {
    if (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR) return;
    refused_++;
    rests_ = true;
    return;
  }
  if (!allowed_.accepts(control.get())) return;
  await_greeting(control.get());
  guests_.push_back({std::move(control), now_ns() + kGreetingNs});
}

/// Lets a guest in whose greeting is there, and sends one away that is late.
void MessageDoor::hear(Guest& guest, bool readable, std::int64_t now) {
  if (!readable && now < guest.until_ns) return;
  Descriptor control = std::exchange(guest.control, Descriptor());
  if (!readable) return;
  try {
    const std::uint32_t number = read_greeting(control.get());
    admit_(std::move(control), number);
  } catch (const Failure& failure) {
    if (failure.kind() == ErrorKind::invalid) strangers_++;
    std::fprintf(stderr, "%s\n", failure.what());
  }
}

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
