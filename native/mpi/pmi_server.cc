#include "mpi/pmi_server.h"

#include <algorithm>
#include <functional>

#include "kit/contract.h"

namespace netdyno::mpi_worker {

using contract::ErrorKind;
using contract::Failure;

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

}  // namespace netdyno::mpi_worker
