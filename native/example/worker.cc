// A whole worker in one file: wire echo on one asio loop. It shows how little a
// transport has to do on the kit and is tested like any other worker; it is not
// installed, because asio/ is the one worth measuring.
#include "kit/worker.h"

#include <asio.hpp>
#include <set>
#include <thread>

#include "kit/address.h"
#include "kit/clock.h"
#include "kit/pipeline.h"
#include "kit/tally.h"

namespace {

using Tcp = asio::ip::tcp;
using netdyno::contract::ErrorKind;
using netdyno::contract::Failure;
using netdyno::contract::Setup;

class MiniServer : public netdyno::Server {
 public:
  explicit MiniServer(const Setup& setup) : up_bytes_(netdyno::EchoPayload::check(setup)) {
    for (const auto& client : setup.allow) allow_.insert(asio::ip::make_address(client));
    const auto at = netdyno::parse_address(setup.listen, "setup.listen");
    try {
      for (std::int64_t i = 0; i < setup.listeners; i++) {
        const Tcp::endpoint endpoint(asio::ip::make_address(at.host), at.port);
        accept(*acceptors_.emplace_back(std::make_unique<Tcp::acceptor>(context_, endpoint)));
      }
    } catch (const std::system_error& error) {
      throw Failure(ErrorKind::setup, "listen on " + at.text() + ": " + error.code().message());
    }
    thread_ = std::thread([this] { context_.run(); });
  }
  ~MiniServer() override {
    context_.stop();
    thread_.join();
  }
  netdyno::contract::Ready ready() const override {
    netdyno::contract::Ready ready;
    for (const auto& a : acceptors_)
      ready.addresses.push_back("127.0.0.1:" + std::to_string(a->local_endpoint().port()));
    ready.threads = 1;
    return ready;
  }
  netdyno::contract::Counts counts() const override {
    return {received_.get() / up_bytes_, sent_.get(), received_.get(), open_.get(), {}};
  }

 private:
  struct Session {
    Tcp::socket socket;
    std::array<char, 65536> buffer;
    netdyno::Sum& open;
    ~Session() { open.add(-1); }
  };
  void accept(Tcp::acceptor& acceptor) {
    acceptor.async_accept([this, &acceptor](std::error_code error, Tcp::socket socket) {
      const auto client = error ? asio::ip::address() : socket.remote_endpoint(error).address();
      if (!error && (allow_.empty() || allow_.contains(client))) {
        socket.set_option(Tcp::no_delay(true));
        open_.add(1);
        read(std::shared_ptr<Session>(new Session{std::move(socket), {}, open_}));
      }
      accept(acceptor);
    });
  }
  void read(std::shared_ptr<Session> s) {
    s->socket.async_read_some(asio::buffer(s->buffer), [this, s](std::error_code error, std::size_t n) {
      if (error) return;
      received_.add(static_cast<std::int64_t>(n));
      asio::async_write(s->socket, asio::buffer(s->buffer, n),
                        [this, s](std::error_code failed, std::size_t m) {
                          sent_.add(static_cast<std::int64_t>(m));
                          if (!failed) read(s);
                        });
    });
  }

  std::int64_t up_bytes_;
  std::set<asio::ip::address> allow_;
  netdyno::Sum received_, sent_, open_;  // before context_, which holds the sessions
  asio::io_context context_;
  std::vector<std::unique_ptr<Tcp::acceptor>> acceptors_;
  std::thread thread_;
};

class MiniClient : public netdyno::Client {
 public:
  MiniClient(const Setup& setup, netdyno::Load& load) : load_(load), payload_(setup) {
    const auto routes = netdyno::routes(setup);
    for (std::int64_t i = 0; i < setup.load.connections; i++)
      open(i, routes[static_cast<std::size_t>(i) % routes.size()]);
    open_.add(setup.load.connections);
  }
  netdyno::contract::Ready ready() const override { return {{}, open_.get(), open_.get(), {}, 1}; }
  std::int64_t connections() const override { return open_.get(); }
  void close() override { context_.stop(); }
  void ended() override {
    asio::post(context_, [this] { agenda_.end(load_.closing()), pace(); });
  }
  void run() override {
    for (auto& c : connections_) c->pipeline.begin(netdyno::now_ns()), flush(*c), read(*c);
    pace();
    if (agenda_.held() > 0) context_.run();
    if (open_.get() == 0 && !load_.ended()) throw Failure(ErrorKind::peer, "run load: no connection is left");
  }

 private:
  struct Connection {
    Tcp::socket socket;
    netdyno::Pipeline pipeline;
    bool writing = false;
  };

  void open(std::int64_t i, const netdyno::Route& route) {
    Tcp::socket socket(context_, Tcp::v4());
    const auto sent = payload_.stamped(i);
    std::string answer(payload_.size(), '\0');
    try {
      if (!route.source.empty()) socket.bind({asio::ip::make_address(route.source), 0});
      socket.connect({asio::ip::make_address(route.peer.host), route.peer.port});
      socket.set_option(Tcp::no_delay(true));
      std::thread writer([&] {    // the peer may answer before it has read all
        std::error_code ignored;  // the read below fails too
        asio::write(socket, asio::buffer(sent.stamp.data(), sent.stamp_size), ignored);
        asio::write(socket, asio::buffer(payload_.after_stamp().data(), payload_.after_stamp().size()),
                    ignored);
      });
      std::error_code error;
      answer.resize(asio::read(socket, asio::buffer(answer), error));
      writer.join();
      if (error && error != asio::error::eof) throw std::system_error(error);
    } catch (const std::system_error& error) {
      throw Failure(ErrorKind::peer, "connection " + std::to_string(i) + " to " + route.peer.text() + ": " +
                                         error.code().message());
    }
    payload_.verify(i, sent, answer);
    socket.non_blocking(true);
    connections_.emplace_back(new Connection{
        std::move(socket), {static_cast<std::uint32_t>(i), load_.slots(i), payload_, agenda_}});
  }
  void read(Connection& c) {
    const auto room = c.pipeline.room();
    c.socket.async_read_some(asio::buffer(room.data(), room.size()),
                             [&](std::error_code error, std::size_t n) {
                               if (error) return lose(c);
                               c.pipeline.received(n, netdyno::now_ns());
                               flush(c), read(c), pace();
                             });
  }
  void flush(Connection& c) {
    while (c.socket.is_open() && !c.writing && c.pipeline.unsent()) {
      const auto out = c.pipeline.outgoing(netdyno::now_ns());
      std::error_code error;
      c.pipeline.written(c.socket.write_some(asio::buffer(out.data(), out.size()), error));
      if (!error) continue;
      if (error != asio::error::would_block) return;  // lost: the read under way fails too
      c.writing = true;
      c.socket.async_wait(Tcp::socket::wait_write, [&](std::error_code) { c.writing = false, flush(c); });
    }
  }
  void lose(Connection& c) {
    c.pipeline.abandon(ErrorKind::peer, netdyno::now_ns());
    c.socket.close();
    open_.add(-1);
    pace();
  }
  /// Sleeps until the next slot is due. A worker for low lag would wake early and poll.
  void pace() {
    for (auto now = netdyno::now_ns(); agenda_.next_due() <= now;) {
      const auto entry = agenda_.take();
      connections_[entry.connection]->pipeline.send(entry.slot);
      flush(*connections_[entry.connection]);
    }
    if (agenda_.held() == 0) return context_.stop();
    if (agenda_.next_due() == netdyno::Agenda::kNever) return;
    timer_.expires_after(std::chrono::nanoseconds(agenda_.next_due() - netdyno::now_ns()));
    timer_.async_wait([this](std::error_code cancelled) {
      if (!cancelled) pace();
    });
  }

  netdyno::Load& load_;
  netdyno::EchoPayload payload_;
  netdyno::Agenda agenda_;
  netdyno::Sum open_;
  asio::io_context context_;
  asio::steady_timer timer_{context_};
  std::vector<std::unique_ptr<Connection>> connections_;
};

class Mini : public netdyno::Transport {
 public:
  netdyno::contract::Transport describe() const override {
    using netdyno::contract::Role;
    return {"example",      "one asio loop, as short as can be",
            netdyno::kEcho, {Role::server, Role::client},
            "message",      {}};
  }
  std::unique_ptr<netdyno::Server> server(const Setup& setup) override {
    return std::make_unique<MiniServer>(setup);
  }
  std::unique_ptr<netdyno::Client> client(const Setup& setup, netdyno::Load& load) override {
    return std::make_unique<MiniClient>(setup, load);
  }
};

}  // namespace

int main() {
  Mini mini;
  return netdyno::run_worker({"example-worker", NETDYNO_VERSION, {}}, {&mini});
}
