#include "threads/ends.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdio>
#include <system_error>
#include <utility>

namespace netdyno::threads_worker {

using contract::ErrorKind;
using contract::Failure;

void Shared::join(bool works) { working_ += works ? 1 : 0; }

void Shared::leave() {
  if (--working_ > 0) return;
  for (Connection* const connection : idle_) connection->release();
}

void ThreadLoop::add(int fd, std::unique_ptr<Flow> flow, bool active) {
  connection_ = std::make_unique<Connection>(shared_->manner, Descriptor(fd), std::move(flow));
  works_ = active;
  shared_->join(active);
  if (!active) shared_->idles(*connection_);
  opened(active);
}

void ThreadLoop::run() {
  if (!works_) {
    if (!connection_->watch()) lost(0);
    return;
  }
  // Also when the flow throws, because nobody else wakes those that watch.
  struct Leave {
    Shared& shared;
    ~Leave() { shared.leave(); }
  } const leave{*shared_};
  if (!connection_->run(&agenda())) lost(0);
}

ThreadsServer::ThreadsServer(const contract::Setup& setup)
    : manner_(setup),
      allowed_(setup),
      work_(Work::of(setup)),
      options_(setup.options),
      buffer_(read_size(setup)),
      seats_(kMaxConnections) {
  const Listening listening = listen_on(setup, 1);
  addresses_ = listening.addresses;
  for (const auto& port : listening.fds) listeners_.emplace_back(port[0]);
  options_ = effective_options(listeners_[0].get(), setup.options);
  options_[kReadBuffer] = buffer_;
  for (const Descriptor& listener : listeners_) {
    const int fd = listener.get();
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    acceptors_.emplace_back([this, fd, number = acceptors_.size()] {
      name_thread("accept " + std::to_string(number));
      accept(fd);
    });
  }
}

ThreadsServer::~ThreadsServer() {
  stopped_ = true;
  for (const Descriptor& listener : listeners_) shutdown(listener.get(), SHUT_RDWR);  // ends accept
  for (std::thread& acceptor : acceptors_) acceptor.join();
  {
    const std::lock_guard lock(mutex_);
    for (Seat& seat : seats_) {
      if (seat.connection) seat.connection->stop();
    }
  }
  for (Seat& seat : seats_) {
    if (seat.thread.joinable()) seat.thread.join();
  }
}

void ThreadsServer::accept(int listener) {
  while (!stopped_) {
    Descriptor socket(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    if (stopped_) return;
    if (socket.get() < 0) {
      refused_++;
      poll(nullptr, 0, kAcceptPauseNs / 1'000'000);
    } else if (allowed_.accepts(socket.get()) && prepare_accepted(socket.get())) {
      serve(std::move(socket));
    }
  }
}

void ThreadsServer::serve(Descriptor socket) {
  const std::lock_guard lock(mutex_);
  Seat* const seat = free_seat();
  if (seat == nullptr) {
    if (refused_++ == 0) {
      std::fprintf(stderr,
                   "refuse a connection: transport threads serves %lld at a time, a thread for each\n",
                   static_cast<long long>(kMaxConnections));
    }
    return;
  }
  try {
    seat->connection =
        std::make_unique<Connection>(manner_, std::move(socket), work_->server(buffer_, seat->traffic));
    seat->thread = std::thread([this, seat] { run(*seat); });
  } catch (const std::exception& error) {  // files or threads ran out
    seat->connection.reset();
    refused_++;
    std::fprintf(stderr, "refuse a connection: %s\n", error.what());
  }
}

/// A seat whose thread is over, or null. Call it with mutex_ held.
ThreadsServer::Seat* ThreadsServer::free_seat() {
  for (Seat& seat : seats_) {
    if (seat.connection) continue;
    if (seat.thread.joinable()) seat.thread.join();
    return &seat;
  }
  return nullptr;
}

/// The body of a connection's thread.
void ThreadsServer::run(Seat& seat) {
  name_thread("conn " + std::to_string(&seat - seats_.data()));
  Connection* connection = nullptr;
  {
    const std::lock_guard lock(mutex_);
    connection = seat.connection.get();
  }
  try {
    connection->run(nullptr);
  } catch (const Failure&) {  // a client that breaks the wire's rules loses only its connection
  }
  const std::lock_guard lock(mutex_);
  seat.connection.reset();
}

contract::Ready ThreadsServer::ready() const {
  contract::Ready ready;
  ready.addresses = addresses_;
  ready.options = options_;
  return ready;
}

contract::Counts ThreadsServer::counts() const {
  contract::Counts counts;
  for (const Seat& seat : seats_) add_to(counts, seat.traffic);
  counts.errors[static_cast<std::size_t>(ErrorKind::setup)] += refused_;
  allowed_.add_to(counts);
  return counts;
}

}  // namespace netdyno::threads_worker
