// Plain asio echo, one io_context: the peer of the asio worker. It is written as well as the
// worker: direct non-blocking writes, one read always pending, and asio's recycling of
// handler memory.
#include <asio.hpp>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "peers/bare.h"

namespace {

using Tcp = asio::ip::tcp;

class Session : public std::enable_shared_from_this<Session> {
 public:
  explicit Session(Tcp::socket socket) : socket_(std::move(socket)), buffer_(64 << 10) {
    socket_.set_option(Tcp::no_delay(true));
    socket_.non_blocking(true);
  }

  void read() {
    socket_.async_read_some(asio::buffer(buffer_),
                            [self = shared_from_this()](const std::error_code& error, std::size_t n) {
                              if (!error) self->echo(0, n);
                            });
  }

 private:
  void echo(std::size_t from, std::size_t to) {
    std::error_code error;
    const std::size_t n = socket_.write_some(asio::buffer(buffer_.data() + from, to - from), error);
    if (error && error != asio::error::would_block) return;
    if (from + n == to) return read();
    socket_.async_wait(Tcp::socket::wait_write,
                       [self = shared_from_this(), from, n, to](const std::error_code& failed) {
                         if (!failed) self->echo(from + n, to);
                       });
  }

  Tcp::socket socket_;
  std::vector<char> buffer_;
};

void accept(Tcp::acceptor& acceptor) {
  acceptor.async_accept([&acceptor](const std::error_code& error, Tcp::socket socket) {
    if (!error) std::make_shared<Session>(std::move(socket))->read();
    accept(acceptor);
  });
}

class Connection {
 public:
  Connection(asio::io_context& context, const bare::Arguments& arguments, const std::vector<char>& message)
      : socket_(context), message_(message), answer_(message.size()) {
    socket_.connect({asio::ip::address_v4::loopback(), arguments.port});
    socket_.set_option(Tcp::no_delay(true));
    socket_.non_blocking(true);
  }

  void send() { write(0); }
  std::int64_t exchanges = 0;

 private:
  void write(std::size_t from) {
    std::error_code error;
    const std::size_t n =
        socket_.write_some(asio::buffer(message_.data() + from, message_.size() - from), error);
    if (error && error != asio::error::would_block) throw std::system_error(error);
    if (from + n < message_.size()) {
      socket_.async_wait(Tcp::socket::wait_write, [this, from, n](const std::error_code& failed) {
        if (!failed) write(from + n);
      });
    }
    if (from == 0) read();
  }

  void read() {
    socket_.async_read_some(asio::buffer(answer_.data() + have_, answer_.size() - have_),
                            [this](const std::error_code& error, std::size_t n) {
                              if (error) throw std::system_error(error);
                              have_ += n;
                              if (have_ < answer_.size()) return read();
                              have_ = 0;
                              exchanges++;
                              write(0);
                            });
  }

  Tcp::socket socket_;
  const std::vector<char>& message_;
  std::vector<char> answer_;
  std::size_t have_ = 0;
};

void run_client(asio::io_context& context, const bare::Arguments& arguments) {
  const std::vector<char> message = bare::payload(arguments.size);
  std::vector<std::unique_ptr<Connection>> connections;
  for (std::size_t i = 0; i < arguments.connections; i++) {
    connections.push_back(std::make_unique<Connection>(context, arguments, message));
  }
  asio::steady_timer end(context, std::chrono::duration_cast<asio::steady_timer::duration>(
                                      std::chrono::duration<double>(arguments.seconds)));
  end.async_wait([&context](const std::error_code&) { context.stop(); });
  const bare::Stopwatch watch;
  for (const auto& connection : connections) connection->send();
  context.run();
  std::int64_t exchanges = 0;
  for (const auto& connection : connections) exchanges += connection->exchanges;
  watch.print(exchanges);
}

}  // namespace

int main(int argc, char** argv) {
  const bare::Arguments arguments = bare::parse(argc, argv);
  asio::io_context context(1);
  if (!arguments.server) {
    run_client(context, arguments);
    return 0;
  }
  Tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), arguments.port});
  acceptor.listen(4096);
  accept(acceptor);
  context.run();
}
