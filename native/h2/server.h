// A server's flow of HTTP/2: answers each request on its stream, once it is complete. Where
// exchanges follow one another on a stream, their requests are counted as they come and
// answered as the client reads: what waits is a number, not memory.
//
// Layer: above exchange, session, kit/server_flow.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "h2/exchange.h"
#include "h2/session.h"
#include "kit/server_flow.h"

namespace netdyno::h2 {

class H2Server final : public ServerFlow, private Events {
 public:
  /// answering and traffic outlive the flow. size is the most that one read takes.
  H2Server(const Answering& answering, const Settings& settings, std::size_t size, Traffic& traffic);

  void begin(std::int64_t now) override;
  bool unsent() const override { return session_.unsent(); }
  std::span<const char> outgoing(std::int64_t) override { return session_.outgoing(); }
  void written(std::size_t n) override { session_.written(n); }
  bool lasting() const override { return true; }

  std::span<char> read_buffer() override { return buffer(); }
  void received(std::size_t n, std::int64_t) override;

  Fate fate() const override { return over_ ? Fate::over : Fate::open; }
  using ServerFlow::ended;

 private:
  /// A request on its stream.
  struct Call : Stream {
    Request request;
    std::size_t owed = 0;   // answers to begin
    bool begun = false;     // the header of the answer is on its way
    bool answered = false;  // no exchange follows on this stream
  };

  Stream* began() override;
  void field(Stream& stream, std::string_view name, std::string_view value) override;
  void data(Stream& stream, std::string_view bytes) override;
  void more(Stream& stream) override;
  void ended(Stream& stream) override;
  void closed(Stream& stream, std::uint32_t code) override;

  void answer(Call& call);
  void respond(Call& call);

  const Answering& answering_;
  Session session_;
  // As many as the client ever had open at once, of which the library bounds the number.
  std::vector<std::unique_ptr<Call>> all_;
  std::vector<Call*> spare_;
  bool over_ = false;
};

}  // namespace netdyno::h2
