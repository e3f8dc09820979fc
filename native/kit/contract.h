// The worker contract in C++: the messages between the bench and a worker. kit/json.h reads
// and writes them.
//
// Layer: above values.h, and nothing else of netdyno.
// Everything here is a plain value that any thread may copy.
// contract/CONTRACT.md is the specification, internal/contract its Go counterpart;
// names, units and defaults are the same in all three.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kit/table.h"
#include "kit/values.h"

namespace netdyno::contract {

/// The contract's integer version, announced in hello.
inline constexpr int kVersion = 1;

enum class Role { server, client, pair };
enum class Arrival { constant, poisson };

/// What went wrong, as CONTRACT.md classifies it. unsupported leaves a cell empty with
/// a reason; it is no failure.
enum class ErrorKind { unsupported, setup, peer, timeout, invalid, bug };
inline constexpr std::size_t kErrorKinds = 6;

std::string_view name(Role role);
std::string_view name(ErrorKind kind);

/// A client's requests, each once where its exchange ended, and how often one went out again.
struct Sent {
  std::int64_t verify = 0;  // before ready
  std::int64_t before = 0;  // before the window
  std::int64_t window = 0;
  std::int64_t drain = 0;  // after it, or never
  std::int64_t again = 0;
};

/// The kit's exception: a failure with the kind that run_worker reports.
class Failure : public std::runtime_error {
 public:
  Failure(ErrorKind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  ErrorKind kind() const { return kind_; }
  /// What the client that fails had sent until then; none where it does not know.
  const std::optional<Sent>& sent() const { return sent_; }
  void tell(const Sent& sent) { sent_ = sent; }

 private:
  ErrorKind kind_;
  std::optional<Sent> sent_;
};

/// Calls body, and gives a failure of it what sent returns then.
template <class Told, class Body>
void telling(Told sent, Body body) {
  try {
    body();
  } catch (Failure& failure) {
    failure.tell(sent());
    throw;
  }
}

struct Library {
  std::string name;
  std::string version;
};

enum class OptionType { integer, bytes, duration, boolean, choice, text };

/// One option of a transport. min and max bound integer and bytes. choices lists the
/// levels of a choice. Empty roles means every role of the transport.
struct Option {
  std::string name;
  OptionType type = OptionType::integer;
  std::string unit;
  Value fallback;  // "default" on the wire
  std::optional<std::int64_t> min;
  std::optional<std::int64_t> max;
  std::vector<std::string> choices;
  std::vector<Role> roles;
  std::string doc;
  std::vector<std::string> grid =
      {};  // values worth trying; empty for an option that no race varies by itself
  std::vector<std::pair<Role, std::string>> as = {};  // how it is set outside of netdyno
  std::int64_t file_max = 0;  // bytes of the file that a text may name as @FILE; 0: it may not
};

/// One named implementation that a worker offers.
struct Transport {
  std::string name;
  std::string doc;
  std::string wire;
  std::vector<Role> roles;
  std::string delivery;  // "message" or "chunks", specification §1.2
  std::vector<Option> options;
  std::vector<std::string> codecs = {};    // allowed in exchange.codec; empty: bytes only
  std::vector<std::string> features = {};  // tls, fresh, stream-up, …, turns, work-cpu, work-sleep
};

struct Hello {
  std::string worker;
  std::string version;
  std::vector<Library> libraries;
  std::vector<Transport> transports;
};

/// Which directions of an exchange travel as a stream of chunks.
enum class Stream { none, up, down, both };

std::string_view name(Stream stream);  // empty for none

/// One structured message: its type and its values.
struct Content {
  std::string type;  // full name: "netdyno.v1.Text"
  std::string json;  // by the protobuf JSON mapping
};

/// What a codec other than bytes encodes.
struct Structure {
  std::string name;         // level of factor message
  std::string descriptors;  // a serialized FileDescriptorSet, in base64; empty for built-in types
  Content up;
  Content down;
};

/// Bytes that a message of wires echo and stream may have.
inline constexpr std::int64_t kMaxFlowMessage = 1 << 30;

/// The unit of work: a message up and a message down.
struct Exchange {
  std::int64_t up_bytes = 0;
  std::int64_t down_bytes = 0;
  std::string codec;
  Stream stream = Stream::none;
  std::int64_t chunk_bytes = 0;  // 0: the transport's own choice
  std::optional<Structure> message = {};
  bool tells_down = false;    // replies differ in size, and requests say how long theirs is to be
  std::int64_t every_ns = 0;  // stream down: message k leaves the server k times that after the first

  /// Bytes of a message of a stream whose setup leaves them to the transport.
  static constexpr std::int64_t kDefaultChunk = 64 << 10;
  /// Bytes of an event of a reply: a message of the stream down, or else the whole reply.
  std::int64_t event_bytes() const {
    if (stream != Stream::down) return down_bytes;
    return chunk_bytes == 0 ? kDefaultChunk : chunk_bytes;
  }
};

inline constexpr std::size_t kMostTurns = 4096;
inline constexpr std::int64_t kMostClasses = 64;
inline constexpr std::int64_t kNoLimit = INT64_MAX / 2;
inline constexpr std::int64_t kMostKey = (std::int64_t{1} << 53) - 1;

/// One kind of exchange of a load that mixes several (contract/MIXES.md).
struct Class {
  std::string name;
  std::int64_t end = 0;  // cumulative probability × 2^32
  std::int64_t up_bytes = 0;
  std::int64_t down_bytes = 0;
  std::string method = {};  // of HTTP, as what follows
  std::string path = {};    // {key} stands for a key; empty: the trial's
  std::vector<std::string> headers = {};
  std::int64_t status = 0;       // that every reply must have; 0 for any 2xx
  std::int64_t deadline_ns = 0;  // 0: the load's
};

/// How much work a client offers and in what pattern, with defaults filled in.
struct Load {
  std::int64_t connections = 0;
  std::int64_t in_flight = 1;
  double rate = 0;  // exchanges/s over all connections; 0 is the closed loop
  Arrival arrival = Arrival::constant;
  std::int64_t think_ns = 0;
  double active_share = 1;
  bool fresh = false;
  std::int64_t amount = 0;  // exchanges per active connection; 0 is until stop
  std::int64_t drain_ns = 2'000'000'000;
  double max_errors = 0;         // share of exchanges that may fail
  std::int64_t deadline_ns = 0;  // after its send an exchange has failed; 0 for never
  std::int64_t connect_ns = 0;   // how long a connection may take; 0 for the kit's own bound
  std::int64_t gather_ns = 0;    // how long what is due may wait, to be sent with more; open loop
  /// Stretches [from, to), in ns since the start, in which exchanges fall due; empty for always.
  std::vector<std::array<std::int64_t, 2>> turns = {};
  std::vector<Class> classes = {};  // none: all exchanges are alike
  Table keys = {};                  // that {key} is drawn from

  /// How long an exchange of a class may take, in ns; 0 for ever. The class is 0 without any.
  std::int64_t deadline(std::size_t of) const {
    return of < classes.size() && classes[of].deadline_ns > 0 ? classes[of].deadline_ns : deadline_ns;
  }
  /// The shortest time after which an exchange, or the making of a connection, fails; kNoLimit where none
  /// does.
  std::int64_t shortest_limit() const;
};

/// How often a first exchange that failed is made, where a share of exchanges may fail: until a
/// run of failures is more than chance, in one of a million cases. As contract.Tries in Go.
inline std::size_t tries(double max_errors) {
  constexpr std::size_t kMost = 32;
  constexpr double kUnlikely = 1e-6;
  std::size_t n = 1;
  for (double left = max_errors; left > kUnlikely && n < kMost; left *= max_errors) n++;
  return n;
}

/// Whether a failure of that kind is of an exchange that went out.
inline bool is_of_exchange(ErrorKind kind) {
  return kind == ErrorKind::peer || kind == ErrorKind::timeout || kind == ErrorKind::invalid;
}

/// What the ends of an encrypted trial need, as PEM texts.
struct Tls {
  std::string authorities;  // whom a client trusts
  std::string certificate;  // what a server shows, those that lead to its authority behind it
  std::string key;          // what it is proved by
  bool resume = false;      // a client's connections resume sessions of earlier ones; else none does
};

/// What a server does for each exchange before the end of its reply goes out.
struct Work {
  Table ns;             // how long, drawn for each exchange
  bool sleeps = false;  // asleep, in place of on a CPU
};

/// The longest work for an exchange.
inline constexpr std::int64_t kMostWorkNs = 4'000'000'000;

/// A worker's trial.
struct Setup {
  std::string trial;
  std::string transport;
  Role role = Role::server;
  std::uint64_t seed = 0;
  std::string listen;
  std::int64_t listeners = 1;
  std::vector<std::string> allow;
  std::vector<std::string> peers;
  std::vector<std::string> sources;
  std::int64_t threads = 0;  // 0: one per usable CPU
  std::optional<Tls> tls = {};
  Exchange exchange;
  Load load;
  std::optional<Work> work = {};
  Options options = {};
  bool timeline = false;  // tell more in ticks
  bool events = false;    // tell when parts of replies came
  bool stages = false;    // tell how long stages of exchanges took
  /// Features that it needs and no worker of this kit has: what makes exchanges differ, or their
  /// rate change (contract/DRAWS.md, contract/MIXES.md).
  std::vector<std::string> beyond = {};
};

/// Times of what completed between two ticks; a percentile of 0 is not told.
struct TickTimes {
  std::int64_t count = 0;
  std::int64_t p50_ns = 0;
  std::int64_t p99_ns = 0;
  std::int64_t max_ns = 0;
};

/// The way that the messages of a library take that chooses it. A server says that they
/// need not take the connections to its addresses, and leaves both fields empty.
struct Path {
  std::string over;  // as the kernel's and the cards' counters tell: "tcp", "shm", "rdma", "unknown"
  std::string by;    // in the library's own words; empty when it does not tell
};

struct Ready {
  std::vector<std::string> addresses;
  std::int64_t connections = 0;
  std::int64_t verified = 0;
  std::int64_t repeated = 0;  // first exchanges that were sent again before they were answered
  Options options = {};
  std::int64_t threads = 0;
  std::string delivery = {};  // of this trial, where an option changes the transport's
  std::int64_t up_bytes = 0;  // encoded sizes, where a codec decides them
  std::int64_t down_bytes = 0;
  std::optional<Path> path = {};         // where a library chooses it
  bool polls = false;                    // its threads are busy when nothing happens
  std::vector<std::int64_t> nodes = {};  // NUMA node that each loop is kept to
};

/// Cumulative sums since ready. Bytes are payload bytes at this end.
struct Counts {
  std::int64_t exchanges = 0;
  std::int64_t sent_bytes = 0;
  std::int64_t received_bytes = 0;
  std::int64_t connections = 0;  // open now, not cumulative
  std::int64_t redialled = 0;    // by a client, in place of connections that ended between exchanges
  std::array<std::int64_t, kErrorKinds> errors{};
  std::int64_t strangers = 0;  // connections that a server refused by setup.allow
  std::string first_stranger;  // the address of the first of them

  std::int64_t error_sum() const;
};

struct Mark {
  std::int64_t id = 0;
  bool reset = false;
  bool keep = false;  // only read, also in the window
  bool part = false;  // close the window and open the next
};

struct Reading {
  std::int64_t at_ns = 0;
  std::int64_t cpu_ns = 0;
  Counts counts;
};

/// Sums over the gaps between consecutive actual sends of an open loop, over all slots
/// of a client, in a stretch that begins with the window.
struct Arrivals {
  std::int64_t gaps = 0;
  std::int64_t sum_ns = 0;  // first to last send
  double sum_squares_ns2 = 0;
  std::int64_t stretch_ns = 0;
};

/// How much work fell inside the window, exchanges that span one of its edges counted by
/// the share of their time in it.
struct Inside {
  double exchanges = 0;  // by the time from the actual send to the completion
  double cycles = 0;     // by the time from the slot's completion before
  std::int64_t idle_ns =
      0;           // closed loop: from the completion before to the send, over the exchanges of service
  double due = 0;  // open loop: exchanges that fell due
};

/// Why exchanges failed, and how many. No kind where several reasons are counted together.
struct Reason {
  std::optional<ErrorKind> kind;
  std::string text;
  std::int64_t count = 0;
};

/// What was counted of one class, or of one path, as Result has it of all.
struct ClassResult {
  std::string name;
  std::int64_t exchanges = 0;
  std::int64_t sent_bytes = 0;
  std::int64_t received_bytes = 0;
  std::int64_t errors = 0;
  std::int64_t late = 0;  // of errors, those of kind timeout
  std::int64_t drained = 0;
  std::int64_t unfinished = 0;
  std::string service = {};
  std::string response = {};
};

/// When parts of replies came, in a window and draining; histograms as Result's.
struct Events {
  std::int64_t count = 0;  // in the window
  std::string first;       // end of a reply's first event − due
  std::string gaps;        // an event − the one before it in its reply
  std::string waiting;     // ages of exchanges that ended without any event
};

/// How long stages of exchanges took, in a window and draining; histograms as Result's.
struct Stages {
  std::string connect;       // of connections made anew: the connection is there − it was begun
  std::string handshake;     // … TLS is there − the connection was
  std::int64_t resumed = 0;  // … handshakes in the window that resumed a session
  std::string first_byte;    // a reply's first byte − due
  std::string waiting;       // ages of exchanges that ended without a first byte
};

/// Histograms are HdrHistogram V2, compressed, in base64. Empty ones are left out.
struct Result {
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  Counts counts;
  std::int64_t drained = 0;
  std::int64_t unfinished = 0;
  std::string ages;
  std::string service;
  std::string response;
  std::string lag;
  std::string late;     // ages of exchanges that failed by kind timeout
  std::string lengths;  // of replies, in bytes, where any has another than was expected
  std::int64_t over_max = 0;
  std::vector<Reason> reasons;       // the most frequent first
  std::vector<ClassResult> classes;  // of a load that mixes them
  std::vector<ClassResult> paths;    // of a client that asks for several in turn
  std::optional<Arrivals> arrivals;  // open loop
  std::optional<Inside> inside;      // a client whose window opened
  std::optional<Sent> sent;          // a client's
  std::optional<Events> events;      // where setup asks for them
  std::optional<Stages> stages;      // the same
};

/// The candidate most like word, for "did you mean". Empty when the edit distance to
/// every candidate is more than half of word's length.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace netdyno::contract
