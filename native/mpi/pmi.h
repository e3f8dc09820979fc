// PMI-1, by which an MPI library asks the program that started it who it is and how to reach the
// other ranks: its lines, a rank's questions, what a process manager answers to the two ranks of a
// trial, and the thread that serves them.
//
// Layer: bottom. Source: MPICH, src/pmi/simple/simple_pmi.c, and its process manager hydra, which
// answers.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kit/system.h"

namespace netdyno::mpi_worker {

/// The longest line, with its end, in bytes: the buffer that MPICH reads into.
constexpr std::size_t kMaxPmiLine = 1024;
/// The longest key and value that a rank may put: with them, a line still fits.
constexpr std::size_t kMaxPmiKey = 64;
constexpr std::size_t kMaxPmiValue = 800;

/// Words key=value with a blank between them, the first of which is cmd=NAME. A word value=… is
/// the last one, and may have blanks in it.
class PmiLine {
 public:
  /// Parses a line without its end. Throws Failure{invalid} for one that does not begin
  /// with cmd=.
  static PmiLine parse(std::string_view text);

  explicit PmiLine(std::string_view command) { add("cmd", command); }
  PmiLine& add(std::string_view key, std::string_view value);
  PmiLine& add(std::string_view key, int value) { return add(key, std::to_string(value)); }

  const std::string& command() const { return words_[0].second; }
  /// The value of a key; nothing when the line has no such key.
  std::optional<std::string_view> find(std::string_view key) const;
  /// The value of a key. Throws Failure{invalid} when the line has no such key.
  std::string_view at(std::string_view key) const;
  /// The same as a number. Throws Failure{invalid} for any other text.
  int number(std::string_view key) const;

  /// The line as it is sent, with its end.
  std::string text() const;

 private:
  PmiLine() = default;
  std::vector<std::pair<std::string, std::string>> words_;
};

/// Cuts what arrives into lines, in bounded memory.
class PmiLines {
 public:
  /// Takes bytes as they arrive. Throws Failure{invalid} for a line that is too long.
  void add(std::span<const char> bytes);
  /// The next whole line without its end; nothing when there is none yet.
  std::optional<std::string> next();

 private:
  std::string buffer_;
};

/// A rank's questions to the server of PMI, for a library that brings no client of its own: Open MPI asks by
/// calls of PMI-1's interface in C (pmi_calls.cc).
///
/// Any thread; calls wait for each other.
class PmiClient {
 public:
  /// Speaks on a socket that somebody else keeps and closes. Its time-outs bound every
  /// wait here.
  PmiClient(int fd, int rank) : fd_(fd), rank_(rank) {}

  int rank() const { return rank_; }
  /// Each of these throws Failure{peer}, {timeout} or {invalid}.
  void init();
  std::string space();
  void put(const std::string& key, const std::string& value);
  /// False when nobody has put the key.
  bool get(const std::string& key, std::string& value);
  void barrier();
  /// Whether the server says that both ranks are on one node.
  bool one_node();
  void finalize();

 private:
  /// Sends a line and waits for the answer, whose command must be the expected one.
  PmiLine ask(const PmiLine& question, const std::string& expected);

  int fd_;
  int rank_;
  std::mutex mutex_;
  PmiLines lines_;
};

/// A trial's server is rank 0, its client rank 1.
constexpr int kRanks = 2;

struct PmiAnswer {
  int rank;          // to whom
  std::string line;  // with its end
};

/// What a process manager answers: who the ranks are, whether they share a node, and what each has
/// put for the other to get. No I/O.
class PmiServer {
 public:
  /// one_node tells the library that its ranks may share memory.
  explicit PmiServer(bool one_node);

  /// What a rank's line leads to: mostly one answer to itself, but none when it is the
  /// first at a barrier, and one to each when it is the last. Throws Failure{invalid}
  /// for what is not the protocol's, and Failure{peer} for a rank that aborts.
  std::vector<PmiAnswer> answer(int rank, std::string_view line);

  /// Whether the rank has said that it needs no more.
  bool finished(int rank) const { return finished_[at(rank)]; }

 private:
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
  PmiLine put(const PmiLine& line);
  PmiLine get(const PmiLine& line) const;
  std::vector<PmiAnswer> barrier(int rank);

  std::map<std::string, std::string, std::less<>> values_;
  std::array<bool, kRanks> waiting_{};
  std::array<bool, kRanks> finished_{};
};

/// The thread with which a trial's server serves PMI: one descriptor to each rank, of which one is its own.
///
/// Any thread builds and destroys it.
class PmiService : Pinned {
 public:
  /// Serves the ranks behind the descriptors, both of them sockets, until each has
  /// finished, one leaves without that, or one speaks something else. Then a rank that
  /// still waits reads the end of its stream.
  PmiService(std::array<Descriptor, kRanks> ranks, bool one_node);
  ~PmiService();

 private:
  void serve();
  /// Reads what a rank said and answers. False when it has gone.
  bool hear(int rank);

  std::array<Descriptor, kRanks> ranks_;
  std::array<PmiLines, kRanks> lines_;
  PmiServer server_;
  Descriptor stop_event_;
  std::thread thread_;
};

}  // namespace netdyno::mpi_worker
