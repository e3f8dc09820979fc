// A client of HTTP/2: its first exchange on a connection, whose reply is compared, and the flow of
// the load. Every slot of a connection has its exchange on a stream of its own, and replies may
// come in any order. Where exchanges follow one another on a stream, a slot keeps its stream until
// the server ends it, which is an error of the slot's next exchange: that has another stream then.
//
// Layer: above exchange, session.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "h2/exchange.h"
#include "h2/session.h"
#include "kit/agenda.h"
#include "kit/flow.h"
#include "kit/load.h"
#include "kit/system.h"
#include "kit/work.h"

namespace netdyno::h2 {

class H2Client final : public Flow, private Events {
 public:
  /// asking and settings outlive the flow. session is one on which an exchange was verified,
  /// or none where that connection is over. fresh: every exchange has one of its own.
  H2Client(const Asking& asking, const Settings& settings, const Work::Place& place, bool fresh,
           std::unique_ptr<Session> session);

  void begin(std::int64_t now) override;
  void send(std::uint32_t slot) override;

  bool unsent() const override;
  std::span<const char> outgoing(std::int64_t now) override;
  void written(std::size_t n) override { session_->written(n); }
  bool lasting() const override { return true; }

  std::span<char> read_buffer() override { return {buffer_.get(), capacity_}; }
  void received(std::size_t n, std::int64_t now) override;

  Fate fate() const override { return fate_; }
  bool ended(std::int64_t now) override;
  void reopened(std::int64_t now) override;
  void made() override { connecting_ns_ = 0; }
  void abandon(contract::ErrorKind kind, std::int64_t now) override;

 private:
  /// Why an exchange fails.
  struct Fault {
    contract::ErrorKind kind;
    std::string why;
  };
  /// A slot's exchange.
  struct Call : Stream {
    enum class State { idle, waiting, under_way };
    State state = State::idle;
    std::uint32_t slot = 0;
    std::int64_t queued_ns = 0;
    std::int64_t sent_ns = 0;  // 0 until it is sent for the first time
    http1::Turn turn;
    std::optional<Fields> fields;  // where they are of this exchange alone
    bool late = false;             // its time ran out
    Outgoing out;
    Reply reply;
    Verdict verdict;            // on a reply that is complete on a stream that stays
    bool open = false;          // it has a stream
    int refusals = 0;           // of the stream, one after the other
    std::optional<Fault> owed;  // what its stream's end does to its next exchange
  };

  void field(Stream& stream, std::string_view name, std::string_view value) override;
  void data(Stream& stream, std::string_view bytes) override;
  void more(Stream& stream) override;
  void ended(Stream& stream) override;
  void closed(Stream& stream, std::uint32_t code) override;
  void going_away(std::uint32_t code) override;
  void refused(std::int32_t id) override;

  std::uint64_t waiting() const { return queued_ - taken_; }
  Call& front() { return calls_[ring_[taken_ & mask_]]; }
  const Call& front() const { return calls_[ring_[taken_ & mask_]]; }
  bool may_begin(const Call& call) const;
  bool answered(const Call& call) const;
  Fault fault(const Call& call, std::uint32_t code) const;
  void ask(Call& call);
  void queue(std::uint32_t slot);
  void again(Call& call);
  void begin_calls(std::int64_t now);
  void fail(Call& call, const Fault& fault);
  void came(const Call& call, std::int64_t had);
  void complete(Call& call);
  void complete_whole();
  void fail_all(const Fault& fault);
  void leave();
  void choose(Call& call);
  std::int64_t expires(const Call& call) const;
  void watch();
  void look(std::int64_t now);
  void fail_waiting(bool all, const Fault& fault);

  const Asking& asking_;
  const Settings& settings_;
  Work::Place place_;
  bool fresh_;
  bool stays_;
  std::int64_t shortest_limit_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::vector<Call> calls_;          // by slot
  std::vector<std::uint32_t> ring_;  // slots that wait to be sent; each is in it at most once
  std::uint64_t mask_ = 0;
  std::uint64_t queued_ = 0;
  std::uint64_t taken_ = 0;
  std::vector<std::uint32_t> whole_;  // slots whose reply is complete on a stream that stays
  std::size_t under_way_ = 0;         // exchanges
  std::size_t open_ = 0;              // streams
  std::int64_t now_ = 0;
  std::uint64_t chosen_ = 0;        // exchanges whose requests were made
  bool watched_ = false;            // the agenda is to say when time runs out
  std::int64_t connecting_ns_ = 0;  // since when the connection is being made; 0 for one that is there
  std::int64_t reopened_ns_ = 0;    // since when the connection is made anew, until something is sent on it
  bool heard_ = true;               // something came on this connection
  bool used_ = true;                // an exchange ended on it
  int barren_ = 0;                  // connections before it, one after the other, on which none did
  bool leaving_ = false;            // no more requests go out on it
  std::optional<std::uint32_t> gone_;  // the code by which the peer goes away
  Fate fate_ = Fate::open;
};

/// The first exchange of a client's connection of HTTP/2, whose reply is compared, on a stream that ends
/// with it. Its session is handed on to the flow that carries the load: what both ends have agreed on the
/// connection stays true.
class Verification final : public Work::Verification, private Events, Pinned {
 public:
  /// asking outlives this. streams is how many the load will need at once. to takes the
  /// session once the exchange is verified; it outlives this.
  Verification(const Asking& asking, const Settings& settings, std::int64_t connection, std::int64_t streams,
               std::unique_ptr<Session>& to);
  ~Verification() override;

  void begin(std::int64_t) override;
  bool unsent() const override { return session_->unsent(); }
  std::span<const char> outgoing(std::int64_t) override { return session_->outgoing(); }
  /// The session's opening goes out together with the head of the request.
  void written(std::size_t n) override {
    session_->written(n);
    asked_ = true;
  }
  std::span<char> read_buffer() override;
  void received(std::size_t n, std::int64_t) override;
  Fate fate() const override { return gone_ ? Fate::over : Fate::open; }
  bool ended(std::int64_t) override;

  bool verified() const override { return verified_; }
  bool asked() const override { return asked_; }
  std::int64_t arrived() const override { return arrived_; }

 private:
  struct First : Stream {
    std::optional<Fields> fields;  // where they are of this exchange alone
    Outgoing out;
    Reply reply;
    std::uint32_t code = 0;
    bool over = false;
  };

  void field(Stream& stream, std::string_view name, std::string_view value) override;
  void data(Stream& stream, std::string_view bytes) override;
  void more(Stream& stream) override;
  void ended(Stream& stream) override;
  void closed(Stream& stream, std::uint32_t code) override;
  void going_away(std::uint32_t code) override;

  void judge();
  void require_sense() const;
  std::string farewell() const;

  const Asking& asking_;
  std::int64_t connection_;
  std::int64_t streams_;
  std::unique_ptr<Session>& to_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<char[]> buffer_;
  First first_;
  std::array<char, 5> opening_{};  // the first bytes that came, to tell what speaks there
  std::int64_t arrived_ = 0;
  std::optional<std::uint32_t> gone_;  // the code by which the peer goes away
  bool asked_ = false;
  bool verified_ = false;
};

}  // namespace netdyno::h2
