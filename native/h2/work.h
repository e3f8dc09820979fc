// A server's flow of HTTP/2, the work of a protocol on HTTP/2 for the kit's loop ends, and that of
// plain HTTP.
//
// Layer: above client.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "h2/exchange.h"
#include "h2/session.h"
#include "http1/kinds.h"
#include "kit/contract.h"
#include "kit/flow.h"
#include "kit/service.h"
#include "kit/work.h"

namespace netdyno::h2 {

/// Answers each request on its stream, once it is complete. Where exchanges follow one another on
/// a stream, their requests are counted as they come and answered as the client reads: what waits
/// is a number, not memory.
class H2Server final : public ServerFlow, private Events {
 public:
  /// answering, traffic and service, which may be none, outlive the flow. size is the most that one
  /// read takes.
  H2Server(const Answering& answering, const Settings& settings, std::size_t size, Traffic& traffic,
           Service* service);

  void begin(std::int64_t now) override;
  bool unsent() const override { return session_.unsent() || (!owing_.empty() && !service_->sleeps()); }
  std::span<const char> outgoing(std::int64_t) override;
  void written(std::size_t n) override { session_.written(n); }
  bool lasting() const override { return true; }

  std::span<char> read_buffer() override { return buffer(); }
  void received(std::size_t n, std::int64_t) override;
  void rested(std::int64_t now) override;

  Fate fate() const override { return over_ ? Fate::over : Fate::open; }
  using ServerFlow::ended;

 private:
  /// A request on its stream.
  struct Call : Stream {
    Request request;
    std::size_t owed = 0;      // answers to begin
    bool begun = false;        // the header of the answer is on its way
    bool answered = false;     // no exchange follows on this stream
    std::size_t owing = 0;     // its exchanges that wait for their work
    std::int64_t last_ns = 0;  // when the last of them has rested
  };

  Stream* began() override;
  void field(Stream& stream, std::string_view name, std::string_view value) override;
  void data(Stream& stream, std::string_view bytes) override;
  void more(Stream& stream) override;
  void ended(Stream& stream) override;
  void closed(Stream& stream, std::uint32_t code) override;

  void answer(Call& call);
  void completed(Call& call);
  void respond(Call& call, std::size_t exchanges);
  void worked(std::size_t at);

  /// An exchange whose work is to be done, or is over at an instant.
  struct Owing {
    Call* call;
    std::int64_t until_ns;
  };

  const Answering& answering_;
  Service* service_;
  std::deque<Owing> owing_;  // in the order in which their requests came
  Session session_;
  // As many as the client ever had open at once, of which the library bounds the number.
  std::vector<std::unique_ptr<Call>> all_;
  std::vector<Call*> spare_;
  bool over_ = false;
};

/// The wire's name.
inline constexpr char kH2C[] = "h2c";
/// What HTTP/2 is called in ALPN (RFC 9113, section 3.2).
inline constexpr char kAlpn[] = "h2";

/// The work of either end. It keeps the ends' parts. The kit's promise that any thread may use it holds as
/// far as each connection's verification and flow, one after the other, are used by one thread.
class H2Work : public Work {
 public:
  /// Throws Failure{unsupported} for exchanges that no end of this library carries.
  H2Work(const contract::Setup& setup, std::unique_ptr<const Asking> asking,
         std::unique_ptr<const Answering> answering);

  std::unique_ptr<Flow> client(const Place& place) const override;
  std::unique_ptr<Flow> server(std::size_t buffer, Traffic& traffic) const override;
  std::unique_ptr<Work::Verification> verification(std::int64_t connection) const override;
  Repeats repeats() const override { return asking_->repeats(); }
  std::vector<std::string> paths() const override { return asking_->paths(); }

 private:
  std::unique_ptr<const Asking> asking_;        // a client's
  std::unique_ptr<const Answering> answering_;  // a server's
  std::unique_ptr<Service> service_;            // nullptr for none
  Settings settings_;
  std::int64_t in_flight_;
  bool fresh_;
  // By connection: what its verification leaves to its flow.
  mutable std::vector<std::unique_ptr<Session>> sessions_;
};

/// The description of a transport of this wire, with the options that all engines have.
contract::Transport transport(const std::string& name, const std::string& doc);

/// Throws Failure{setup} for an exchange or an option that cannot be, Failure{unsupported}
/// for one that is not carried. The setup's options are complete.
std::unique_ptr<const Work> work_of(const contract::Setup& setup);

/// Plain HTTP on streams of HTTP/2, wire h2c (docs/wires.md). Its options and rules are those of wire
/// http/1.1.
class HttpAsking final : public Asking {
 public:
  /// Throws Failure{setup} for sizes or options that cannot be.
  explicit HttpAsking(const contract::Setup& setup);

  const Fields& fields(const http1::Turn& turn, std::optional<Fields>& own) const override;
  http1::Turn first(std::int64_t connection) const override { return kinds_.first(connection); }
  http1::Turn turn(std::int64_t connection, std::uint64_t k, Slot& slot) const override {
    return kinds_.turn(connection, k, slot);
  }
  std::vector<std::string> paths() const override { return kinds_.path_names(); }
  void begin(Outgoing& out) const override { out.piece = kinds_.terms(out.of).content(); }
  void field(Reply& reply, std::string_view name, std::string_view value) const override;
  bool data(Reply& reply, std::string_view bytes) const override;
  Verdict judge(const Reply& reply) const override {
    return {reply.bytes, kinds_.terms(reply.of).takes(found(reply))};
  }
  void require(const Reply& reply, const http1::Turn& turn) const override;
  std::string reason(const Reply& reply) const override {
    return kinds_.terms(reply.of).reason(found(reply));
  }
  Work::Repeats repeats() const override { return kinds_.common().repeats(); }
  std::size_t read_size(std::size_t in_flight) const override;

 private:
  static http1::Reply found(const Reply& reply) { return {reply.status, reply.bytes, reply.kept}; }

  http1::Kinds kinds_;
  std::size_t routes_;    // fields_ has those of each class by route, one class after the other
  std::string expected_;  // content of a first reply; empty where it is not compared
};

class HttpAnswering final : public Answering {
 public:
  /// Throws as HttpAsking does.
  explicit HttpAnswering(const contract::Setup& setup);

  void field(Request& request, std::string_view name, std::string_view value) const override;
  bool data(Request& request, std::string_view bytes) const override;
  void answer(Request& request) const override;
  void begin(Request& request) const override { request.out.piece = content_; }
  std::int64_t down_bytes() const override { return down_bytes_; }

 private:
  /// What is wrong with a request that is served; empty for a right one.
  std::string wrong(const Request& request) const;

  std::int64_t up_bytes_;
  std::int64_t down_bytes_;
  std::string content_;
  Fields right_;
};

}  // namespace netdyno::h2
