#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "grpcpp/handler.h"
#include "grpcpp/options.h"
#include "kit/address.h"
#include "kit/system.h"

namespace netdyno::grpc_worker {

using contract::ErrorKind;
using contract::Failure;

void OpenConnections::add(int fd) {
  const std::lock_guard lock(mutex_);
  const auto number = static_cast<std::size_t>(fd);
  if (number >= known_.size()) known_.resize(number + 1);
  if (known_[number]) return;  // closed meanwhile, and the number is used again
  known_[number] = true;
  polled_.push_back({fd, POLLRDHUP, 0});
}

std::int64_t OpenConnections::count() {
  const std::lock_guard lock(mutex_);
  if (!polled_.empty() && ::poll(polled_.data(), polled_.size(), 0) > 0) {
    std::erase_if(polled_, [this](const pollfd& p) {
      if (p.revents == 0) return false;
      known_[static_cast<std::size_t>(p.fd)] = false;
      return true;
    });
  }
  return static_cast<std::int64_t>(polled_.size());
}

Acceptor::Acceptor(const contract::Setup& setup)
    : allowed_(setup), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  Listening listening = listen_on(setup, 1);
  for (const auto& copies : listening.fds) listeners_.emplace_back(copies.front());
  addresses_ = std::move(listening.addresses);
}

void Acceptor::start(Admit admit) {
  admit_ = std::move(admit);
  thread_ = std::thread([this] {
    name_thread("accept");
    loop();
  });
}

void Acceptor::stop() {
  if (!thread_.joinable()) return;
  eventfd_write(wake_.get(), 1);
  thread_.join();
}

void Acceptor::loop() {
  std::vector<pollfd> polled = {{wake_.get(), POLLIN, 0}};
  for (const Descriptor& listener : listeners_) polled.push_back({listener.get(), POLLIN, 0});
  while (polled.front().revents == 0) {
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;  // EINTR
    for (std::size_t i = 1; i < polled.size(); i++) {
      if (polled[i].revents != 0) accept(polled[i].fd);
    }
  }
}

/// Accepts what waits at a listener.
void Acceptor::accept(int listener) {
  for (;;) {
    Descriptor fd(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd.get() < 0) {
      if (errno == EAGAIN || errno == EINTR) return;
      // Files ran out, or the client left before it was accepted. Count it and try again
      // after a pause, because trying at once could fail for ever.
      refused_++;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return;
    }
    if (!allowed_.accepts(fd.get()) || !prepare_accepted(fd.get())) continue;  // closes it
    connections_.add(fd.get());
    admit_(listener, fd.release());
  }
}

GrpcServer::GrpcServer(const contract::Setup& setup)
    : contents_(setup.exchange),
      options_(effective(setup, contents_)),
      service_(methods_of(setup.exchange)),
      acceptor_(setup) {
  const Direction direction = serving(contents_);
  const Methods methods = methods_of(setup.exchange);
  const Cutting cutting = Cutting::of(setup);
  service_.payload = std::make_unique<Payload>(direction, cutting.raw);
  if (!methods.chunks.empty()) service_.chunks = std::make_unique<Chunks>(direction, cutting);
  service_.joins = cutting.receives;
  service_.down_bytes = contents_.down().size;
  service_.refusal = refusal(setup.exchange, false);
  service_.work = netdyno::Service::of(setup);
  start(setup);
}

void GrpcServer::start(const contract::Setup& setup) {
  using Builder = grpc::ServerBuilder::experimental_type;
  grpc::ServerBuilder builder;
  configure(builder, options_);
  builder.RegisterService(&service_.trial);
  builder.RegisterAsyncGenericService(&service_.others);
  admit_ = builder.experimental().AddExternalConnectionAcceptor(Builder::ExternalConnectionType::FROM_FD,
                                                                grpc::InsecureServerCredentials());
  for (int i = 0; i < effective_threads(setup); i++) {
    loops_.push_back(std::make_unique<ServerLoop>(service_, builder.AddCompletionQueue()));
  }
  server_ = builder.BuildAndStart();
  if (!server_) throw Failure(ErrorKind::setup, "start the server: gRPC says why on stderr");
  for (std::size_t i = 0; i < loops_.size(); i++) {
    loops_[i]->begin();
    threads_.emplace_back([this, i] {
      name_thread("loop " + std::to_string(i));
      loops_[i]->run();
    });
  }
  acceptor_.start([this](int listener, int fd) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.listener_fd = listener;
    connection.fd = fd;
    admit_->HandleNewConnection(&connection);
  });
}

/// The shutdown ends every RPC and every wait for one, so that the loops end by themselves.
/// Their queues must be drained after that.
GrpcServer::~GrpcServer() {
  acceptor_.stop();
  service_.stopping = true;
  server_->Shutdown(gpr_inf_past(GPR_CLOCK_MONOTONIC));
  for (std::thread& thread : threads_) thread.join();
  for (const auto& loop : loops_) drain(*loop->queue);
}

contract::Ready GrpcServer::ready() const {
  contract::Ready ready;
  ready.addresses = acceptor_.addresses();
  ready.options = options_;
  ready.threads = static_cast<std::int64_t>(loops_.size());
  if (contents_.structured()) {
    ready.up_bytes = contents_.up().size;
    ready.down_bytes = contents_.down().size;
  }
  return ready;
}

contract::Counts GrpcServer::counts() const {
  contract::Counts counts;
  for (const auto& loop : loops_) {
    counts.exchanges += loop->exchanges.get();
    counts.received_bytes += loop->received.get();
    counts.sent_bytes += loop->sent.get();
    counts.errors[static_cast<std::size_t>(ErrorKind::invalid)] += loop->invalid.get();
  }
  counts.connections = acceptor_.open();
  counts.errors[static_cast<std::size_t>(ErrorKind::setup)] = acceptor_.refused();
  acceptor_.allowed().add_to(counts);
  return counts;
}

}  // namespace netdyno::grpc_worker
