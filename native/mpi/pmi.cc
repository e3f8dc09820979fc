#include "mpi/pmi.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <system_error>

#include "kit/contract.h"

namespace netdyno::mpi_worker {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// The most that is kept of lines that nobody took yet, in bytes.
constexpr std::size_t kMaxWaiting = 64 << 10;

/// The value of put and of get's result comes last and takes the rest of the line: Open
/// MPI's end in blanks.
constexpr std::string_view kValue = "value=";

[[noreturn]] void wrong(const std::string& text) { throw Failure(ErrorKind::invalid, "speak PMI: " + text); }

}  // namespace

PmiLine PmiLine::parse(std::string_view text) {
  PmiLine line;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.starts_with(kValue) ? text.npos : text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) continue;  // words of a message to people
    line.words_.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  if (line.words_.empty() || line.words_[0].first != "cmd") wrong("a line does not begin with cmd=");
  return line;
}

PmiLine& PmiLine::add(std::string_view key, std::string_view value) {
  words_.emplace_back(key, value);
  return *this;
}

std::optional<std::string_view> PmiLine::find(std::string_view key) const {
  for (const auto& [name, value] : words_) {
    if (name == key) return value;
  }
  return std::nullopt;
}

std::string_view PmiLine::at(std::string_view key) const {
  if (const auto value = find(key)) return *value;
  wrong("cmd=" + command() + " has no " + std::string(key) + "=");
}

int PmiLine::number(std::string_view key) const {
  const std::string_view text = at(key);
  int number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) {
    wrong("cmd=" + command() + " has " + std::string(key) + "=" + std::string(text) + ", expected a number");
  }
  return number;
}

std::string PmiLine::text() const {
  std::string text;
  for (const auto& [key, value] : words_) text += (text.empty() ? "" : " ") + key + "=" + value;
  return text + "\n";
}

void PmiLines::add(std::span<const char> bytes) {
  buffer_.append(bytes.data(), bytes.size());
  const std::size_t last = buffer_.rfind('\n');
  const std::size_t begun = last == std::string::npos ? buffer_.size() : buffer_.size() - last - 1;
  if (begun >= kMaxPmiLine || buffer_.size() > kMaxWaiting) {
    wrong("a line is longer than " + std::to_string(kMaxPmiLine) + " bytes, or too many came at once");
  }
}

std::optional<std::string> PmiLines::next() {
  const std::size_t end = buffer_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  if (end >= kMaxPmiLine)
    wrong("a line has " + std::to_string(end) + " bytes, expected less than " + std::to_string(kMaxPmiLine));
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

PmiLine PmiClient::ask(const PmiLine& question, const std::string& expected) {
  const std::lock_guard lock(mutex_);
  const std::string verb = "ask PMI for cmd=" + question.command() + ": ";
  const std::string text = question.text();
  if (::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) {
    throw Failure(ErrorKind::peer, verb + std::generic_category().message(errno));
  }
  std::optional<std::string> line;
  while (!(line = lines_.next())) {
    std::array<char, kMaxPmiLine> bytes;
    const ssize_t n = ::recv(fd_, bytes.data(), bytes.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      throw Failure(ErrorKind::timeout, verb + "no answer came");
    }
    if (n < 0) throw Failure(ErrorKind::peer, verb + std::generic_category().message(errno));
    if (n == 0) throw Failure(ErrorKind::peer, verb + "the server of PMI has gone");
    lines_.add({bytes.data(), static_cast<std::size_t>(n)});
  }
  PmiLine answer = PmiLine::parse(*line);
  if (answer.command() == expected) return answer;
  throw Failure(ErrorKind::invalid, verb + "cmd=" + answer.command() + " came, expected cmd=" + expected);
}

void PmiClient::init() {
  ask(PmiLine("init").add("pmi_version", 1).add("pmi_subversion", 1), "response_to_init");
}

std::string PmiClient::space() {
  return std::string(ask(PmiLine("get_my_kvsname"), "my_kvsname").at("kvsname"));
}

void PmiClient::put(const std::string& key, const std::string& value) {
  const PmiLine result =
      ask(PmiLine("put").add("kvsname", "-").add("key", key).add("value", value), "put_result");
  if (result.number("rc") == 0) return;
  throw Failure(ErrorKind::invalid,
                "put " + key + ": its value has " + std::to_string(value.size()) + " bytes");
}

bool PmiClient::get(const std::string& key, std::string& value) {
  const PmiLine result = ask(PmiLine("get").add("kvsname", "-").add("key", key), "get_result");
  if (result.number("rc") != 0) return false;
  value = result.at("value");
  return true;
}

void PmiClient::barrier() { ask(PmiLine("barrier_in"), "barrier_out"); }

bool PmiClient::one_node() {
  std::string mapping;
  return get("PMI_process_mapping", mapping) && mapping == "(vector,(0,1,2))";
}

void PmiClient::finalize() { ask(PmiLine("finalize"), "finalize_ack"); }

namespace {

/// The one space of keys that ranks of a trial share.
constexpr std::string_view kSpace = "netdyno";
/// More values than any library puts: Open MPI puts some ten for each rank.
constexpr std::size_t kMaxValues = 4096;

/// Which ranks are on which node: from node 0 on, one node with two ranks, or two nodes
/// with one. Source: MPICH, doc/wiki/design/PMI_process_mapping.
constexpr std::string_view kMapping = "PMI_process_mapping";
constexpr std::string_view kOneNode = "(vector,(0,1,2))";
constexpr std::string_view kTwoNodes = "(vector,(0,2,1))";

[[noreturn]] void wrong(int rank, const std::string& text) {
  throw Failure(ErrorKind::invalid, "serve PMI: rank " + std::to_string(rank) + " " + text);
}

}  // namespace

PmiServer::PmiServer(bool one_node) { values_.emplace(kMapping, one_node ? kOneNode : kTwoNodes); }

std::vector<PmiAnswer> PmiServer::answer(int rank, std::string_view text) {
  const PmiLine line = PmiLine::parse(text);
  const std::string& command = line.command();
  const auto one = [rank](const PmiLine& answer) { return std::vector<PmiAnswer>{{rank, answer.text()}}; };
  if (waiting_[at(rank)]) wrong(rank, "said cmd=" + command + " while it waited at a barrier");
  if (command == "init") {
    return one(PmiLine("response_to_init").add("pmi_version", 1).add("pmi_subversion", 1).add("rc", 0));
  }
  if (command == "get_maxes") {
    return one(PmiLine("maxes")
                   .add("kvsname_max", static_cast<int>(kMaxPmiKey))
                   .add("keylen_max", static_cast<int>(kMaxPmiKey))
                   .add("vallen_max", static_cast<int>(kMaxPmiValue)));
  }
  if (command == "get_appnum") return one(PmiLine("appnum").add("appnum", 0));
  if (command == "get_my_kvsname") return one(PmiLine("my_kvsname").add("kvsname", kSpace));
  if (command == "get_universe_size") return one(PmiLine("universe_size").add("size", kRanks));
  if (command == "put") return one(put(line));
  if (command == "get") return one(get(line));
  if (command == "barrier_in") return barrier(rank);
  if (command == "finalize") {
    finished_[at(rank)] = true;
    return one(PmiLine("finalize_ack"));
  }
  if (command == "abort") {
    throw Failure(ErrorKind::peer, "serve PMI: the MPI library of rank " + std::to_string(rank) + " aborted");
  }
  wrong(rank, "said cmd=" + command + ", which two ranks of one trial do not need");
}

PmiLine PmiServer::put(const PmiLine& line) {
  const std::string_view key = line.at("key");
  const std::string_view value = line.at("value");
  PmiLine result("put_result");
  if (key.size() > kMaxPmiKey || value.size() > kMaxPmiValue || values_.size() >= kMaxValues) {
    return result.add("rc", -1).add("msg", "too_large");
  }
  values_.insert_or_assign(std::string(key), std::string(value));
  return result.add("rc", 0).add("msg", "success");
}

PmiLine PmiServer::get(const PmiLine& line) const {
  PmiLine result("get_result");
  const auto found = values_.find(line.at("key"));
  if (found == values_.end()) return result.add("rc", -1).add("msg", "no_such_key");
  return result.add("rc", 0).add("msg", "success").add("value", found->second);
}

std::vector<PmiAnswer> PmiServer::barrier(int rank) {
  waiting_[at(rank)] = true;
  std::vector<PmiAnswer> answers;
  if (!std::ranges::all_of(waiting_, std::identity())) return answers;
  waiting_.fill(false);
  for (int each = 0; each < kRanks; each++) answers.push_back({each, PmiLine("barrier_out").text()});
  return answers;
}

namespace {

/// How long a rank that still finalizes may say nothing once the service is to stop.
constexpr int kFarewellMs = 300;

}  // namespace

PmiService::PmiService(std::array<Descriptor, kRanks> ranks, bool one_node)
    : ranks_(std::move(ranks)), server_(one_node), stop_event_(eventfd(0, EFD_CLOEXEC)) {
  thread_ = std::thread([this] {
    name_thread("pmi");
    try {
      serve();
    } catch (const Failure& failure) {
      std::fprintf(stderr, "%s\n", failure.what());
    }
    // A rank that waits at a barrier for one that has gone must not wait on.
    for (int rank = 0; rank < kRanks; rank++) {
      if (!server_.finished(rank)) shutdown(ranks_[static_cast<std::size_t>(rank)].get(), SHUT_RDWR);
    }
  });
}

PmiService::~PmiService() {
  const std::uint64_t one = 1;
  if (write(stop_event_.get(), &one, sizeof one) < 0) std::perror("stop the PMI thread");
  thread_.join();
}

void PmiService::serve() {
  bool stopping = false;
  while (!server_.finished(0) || !server_.finished(1)) {
    std::array<pollfd, kRanks + 1> asked{};
    asked[kRanks] = {stopping ? -1 : stop_event_.get(), POLLIN, 0};
    for (int rank = 0; rank < kRanks; rank++) {
      const auto at = static_cast<std::size_t>(rank);
      asked[at] = {server_.finished(rank) ? -1 : ranks_[at].get(), POLLIN, 0};
    }
    const int ready = poll(asked.data(), asked.size(), stopping ? kFarewellMs : -1);
    if (ready == 0 || (ready < 0 && errno != EINTR)) return;
    stopping = stopping || asked[kRanks].revents != 0;
    for (int rank = 0; rank < kRanks; rank++) {
      if (asked[static_cast<std::size_t>(rank)].revents != 0 && !hear(rank)) return;
    }
  }
}

bool PmiService::hear(int rank) {
  const auto at = static_cast<std::size_t>(rank);
  std::array<char, 4096> bytes;
  const ssize_t n = recv(ranks_[at].get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (n <= 0) return false;
  lines_[at].add({bytes.data(), static_cast<std::size_t>(n)});
  while (const auto line = lines_[at].next()) {
    for (const PmiAnswer& answer : server_.answer(rank, *line)) {
      const int to = ranks_[static_cast<std::size_t>(answer.rank)].get();
      if (send(to, answer.line.data(), answer.line.size(), MSG_NOSIGNAL) < 0) return false;
    }
  }
  return true;
}

}  // namespace netdyno::mpi_worker
