#include "asio/server.h"

#include <sys/socket.h>

#include <chrono>
#include <string>
#include <utility>

#include "kit/address.h"
#include "kit/echo.h"

namespace netdyno::asio_worker {

using contract::ErrorKind;
using contract::Failure;

namespace {

constexpr int kBacklog = 16'384;  // the kernel lowers it to net.core.somaxconn

using ReusePort = ::asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

}  // namespace

Session::Session(ServerLoop& loop, Socket socket, std::size_t buffer)
    : loop_(loop),
      socket_(std::move(socket)),
      size_(buffer),
      buffer_(std::make_unique_for_overwrite<char[]>(buffer)) {}

void Session::read() {
  socket_.async_read_some(
      ::asio::buffer(buffer_.get(), size_),
      [this](const std::error_code& error, std::size_t n) { error ? loop_.drop(*this) : received(n); });
}

void Session::received(std::size_t n) {
  loop_.received.add(static_cast<std::int64_t>(n));
  from_ = 0;
  to_ = n;
  echo();
}

void Session::echo() {
  while (from_ < to_) {
    std::error_code error;
    const std::size_t n = socket_.write_some(::asio::buffer(buffer_.get() + from_, to_ - from_), error);
    if (error == ::asio::error::would_block) {
      socket_.async_wait(Socket::wait_write,
                         [this](const std::error_code& failed) { failed ? loop_.drop(*this) : echo(); });
      return;
    }
    if (error) return loop_.drop(*this);
    from_ += n;
    loop_.sent.add(static_cast<std::int64_t>(n));
  }
  read();
}

void ServerLoop::adopt(Socket socket) {
  std::error_code error;
  socket.set_option(Tcp::no_delay(true), error);
  if (!error) socket.non_blocking(true, error);
  if (error) return;  // gone before it was served
  Session& session = *sessions_.emplace_back(std::make_unique<Session>(*this, std::move(socket), buffer_));
  session.place = sessions_.size() - 1;
  sessions.add(1);
  session.read();
}

void ServerLoop::drop(Session& session) {
  const std::size_t place = session.place;
  std::swap(sessions_[place], sessions_.back());
  sessions_[place]->place = place;
  sessions_.pop_back();
  sessions.add(-1);
}

/// One accepting socket on one loop; deals to targets in turn.
class AsioServer::Listener {
 public:
  Listener(AsioServer& server, ServerLoop& home, std::vector<ServerLoop*> targets)
      : server_(server), acceptor_(home.context()), pause_(home.context()), targets_(std::move(targets)) {}

  void listen(const Tcp::endpoint& endpoint, bool reuse_port) {
    acceptor_.open(endpoint.protocol());
    acceptor_.set_option(Tcp::acceptor::reuse_address(true));
    if (reuse_port) acceptor_.set_option(ReusePort(true));
    acceptor_.bind(endpoint);
    acceptor_.listen(kBacklog);
  }

  void close() {
    acceptor_.close();
    pause_.cancel();
  }

  Tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

  void accept() {
    ServerLoop& target = *targets_[next_++ % targets_.size()];
    acceptor_.async_accept(target.context(), [this, &target](const std::error_code& error, Socket socket) {
      if (error == ::asio::error::operation_aborted) return;
      if (error) return refused();
      admit(target, std::move(socket));
      accept();
    });
  }

 private:
  void admit(ServerLoop& target, Socket socket) {
    std::error_code error;
    const auto client = socket.remote_endpoint(error).address();
    if (error || (!server_.allow_.empty() && !server_.allow_.contains(client))) return;  // closes it
    if (targets_.size() == 1) return target.adopt(std::move(socket));
    ::asio::post(target.context(),
                 [&target, moved = std::move(socket)]() mutable { target.adopt(std::move(moved)); });
  }

  /// Out of files, or a client that left its place in the queue: counted, and
  /// tried again after a moment rather than in a spin.
  void refused() {
    server_.accept_errors_++;
    pause_.expires_after(std::chrono::milliseconds(10));
    pause_.async_wait([this](const std::error_code& error) {
      if (!error) accept();
    });
  }

  AsioServer& server_;
  Tcp::acceptor acceptor_;
  ::asio::steady_timer pause_;
  std::vector<ServerLoop*> targets_;
  std::size_t next_ = 0;
};

AsioServer::AsioServer(const contract::Setup& setup) : up_bytes_(EchoPayload::check(setup)) {
  for (const std::string& client : setup.allow) allow_.insert(to_ip(client, "setup.allow"));
  const auto buffer = setup.options.at("read_buffer").get<std::size_t>();
  for (int i = 0; i < effective_threads(setup); i++) loops_.push_back(std::make_unique<ServerLoop>(buffer));
  listen(setup);
  for (const auto& listener : listeners_) listener->accept();
  for (std::size_t i = 0; i < loops_.size(); i++) {
    threads_.emplace_back([this, i] {
      pthread_setname_np(pthread_self(), ("loop " + std::to_string(i)).c_str());
      const auto work = ::asio::make_work_guard(loops_[i]->context());
      loops_[i]->context().run();
    });
  }
}

void AsioServer::listen(const contract::Setup& setup) {
  const bool shared = setup.options.at("listener") == "shared";
  const Address address = parse_address(setup.listen.empty() ? "127.0.0.1:0" : setup.listen, "setup.listen");
  if (address.port != 0 && setup.listeners > 1) {
    throw Failure(ErrorKind::setup, "setup.listen has port " + std::to_string(address.port) + " for " +
                                        std::to_string(setup.listeners) + " listeners, expected port 0");
  }
  std::vector<ServerLoop*> all;
  for (const auto& loop : loops_) all.push_back(loop.get());
  const auto ip = to_ip(address.host, "setup.listen");
  try {
    for (std::int64_t port = 0; port < setup.listeners; port++) {
      Tcp::endpoint endpoint(ip, address.port);
      for (std::size_t i = 0; i < (shared ? 1 : all.size()); i++) {
        ServerLoop& home = *all[shared ? static_cast<std::size_t>(port) % all.size() : i];
        const std::vector<ServerLoop*> targets = shared ? all : std::vector<ServerLoop*>{&home};
        Listener& listener = *listeners_.emplace_back(std::make_unique<Listener>(*this, home, targets));
        listener.listen(endpoint, !shared);
        endpoint = listener.endpoint();  // the other loops share the port that the first was given
      }
      addresses_.push_back(Address{endpoint.address().to_string(), endpoint.port()}.text());
    }
  } catch (const std::system_error& error) {
    const bool taken = error.code() == std::errc::address_in_use;
    throw Failure(ErrorKind::setup, "listen on " + address.text() + ": " + error.code().message() +
                                        (taken ? "; let netdyno choose the port (port 0)" : ""));
  }
}

AsioServer::~AsioServer() {
  for (const auto& loop : loops_) loop->context().stop();
  for (std::thread& thread : threads_) thread.join();
  // A pending accept on one loop holds a socket of another: let go of all of
  // them before the first loop goes.
  for (const auto& listener : listeners_) listener->close();
  for (const auto& loop : loops_) {
    loop->context().restart();
    loop->context().poll();
  }
}

contract::Ready AsioServer::ready() const {
  contract::Ready ready;
  ready.addresses = addresses_;
  ready.threads = static_cast<std::int64_t>(loops_.size());
  return ready;
}

contract::Counts AsioServer::counts() const {
  contract::Counts counts;
  for (const auto& loop : loops_) {
    counts.received_bytes += loop->received.get();
    counts.sent_bytes += loop->sent.get();
    counts.connections += loop->sessions.get();
  }
  counts.exchanges = counts.received_bytes / up_bytes_;
  counts.errors[static_cast<std::size_t>(ErrorKind::setup)] = accept_errors_;
  return counts;
}

}  // namespace netdyno::asio_worker
