#include "ucx/introduction.h"

#include <array>
#include <string_view>

#include "kit/contract.h"
#include "ucx/words.h"

namespace netdyno::ucx {

namespace {

constexpr std::string_view kMagic = "ucx1";

std::string_view take(std::string_view& text, std::uint64_t size) {
  if (size > text.size()) {
    throw contract::Failure(contract::ErrorKind::invalid,
                            "meet the other end: what it sent ends early; is it another version?");
  }
  const auto part = text.substr(0, size);
  text.remove_prefix(size);
  return part;
}

std::uint64_t number(std::string_view& text) { return numbers(take(text, sizeof(std::uint64_t)))[0]; }

}  // namespace

std::string Introduction::text() const {
  const std::array<std::uint64_t, 5> head = {static_cast<std::uint64_t>(operation), id, memory, key.size(),
                                             host.size()};
  return std::string(kMagic) + words(head) + key + host + worker;
}

Introduction Introduction::read(const std::string& text) {
  std::string_view rest = text;
  const bool known = rest.starts_with(kMagic);
  rest.remove_prefix(known ? kMagic.size() : rest.size());
  Introduction theirs;
  const std::uint64_t operation = number(rest);
  if (operation > static_cast<std::uint64_t>(Operation::get)) take(rest, rest.size() + 1);
  theirs.operation = static_cast<Operation>(operation);
  theirs.id = number(rest);
  theirs.memory = number(rest);
  const std::uint64_t key = number(rest);
  const std::uint64_t host = number(rest);
  theirs.key = take(rest, key);
  theirs.host = take(rest, host);
  theirs.worker = rest;
  if (theirs.worker.empty()) take(rest, 1);
  return theirs;
}

}  // namespace netdyno::ucx
