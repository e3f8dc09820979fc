#include "mpi/pmi_client.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <optional>
#include <system_error>

#include "kit/contract.h"

namespace netdyno::mpi_worker {

using contract::ErrorKind;
using contract::Failure;

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

}  // namespace netdyno::mpi_worker
