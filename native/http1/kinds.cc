#include "http1/kinds.h"

#include <map>

#include "kit/address.h"

namespace netdyno::http1 {

namespace {

constexpr std::string_view kKey = "{key}";

/// The text, cut off after as much as names a path. Paths are of ASCII alone.
std::string clipped(const std::string& text) {
  return text.size() <= kMostReason ? text : text.substr(0, kMostReason) + "…";
}

}  // namespace

Kinds::Kinds(const contract::Setup& setup)
    : common_(setup),
      classes_(Terms::each(setup)),
      connections_(static_cast<std::size_t>(setup.load.connections)),
      paths_(paths_of(setup)) {
  if (!classes_.empty()) mix_ = std::make_unique<Mix>(setup);
  for (const Route& route : routes(setup))
    origins_.push_back((setup.tls ? "https://" : "http://") +
                       (common_.proxied().empty() ? route.peer.authority() : common_.proxied()));
  tell_apart();
  by_peer_ = path_names_.size() < 2 && classes_.empty() && setup.peers.size() > 1 &&
             std::ssize(setup.peers) <= contract::kMostClasses && setup.options.at("verify") != "content";
  if (by_peer_) path_names_ = setup.peers;
}

/// Gives each path a name; those beyond the first 63 have one together.
void Kinds::tell_apart() {
  std::map<std::string, std::uint32_t> known;
  for (const std::string& path : paths_) {
    std::string name = clipped(path);
    if (!known.contains(name) && path_names_.size() >= contract::kMostClasses - 1) name = "other";
    const auto [at, added] = known.emplace(name, static_cast<std::uint32_t>(path_names_.size()));
    if (added) path_names_.push_back(name);
    path_name_.push_back(at->second);
  }
}

bool Kinds::varied(std::size_t of) const {
  return !paths_.empty() || (mix_ && terms(of).path().find(kKey) != std::string::npos);
}

Turn Kinds::first(std::int64_t connection) const {
  const auto number = static_cast<std::uint64_t>(connection);
  return {connection, {}, mix_ ? mix_->class_of(number) : 0, number};
}

Turn Kinds::turn(std::int64_t connection, std::uint64_t k, Slot& slot) const {
  const Turn turn{connection, k, mix_ ? slot.kind() : 0, slot.number()};
  if (by_peer_) {
    slot.asks_for(static_cast<std::uint32_t>(connection % std::ssize(path_names_)));
  } else if (!paths_.empty()) {
    slot.asks_for(path_name_[place(turn)]);
  }
  return turn;
}

/// Which of the paths: connections begin evenly spread over them.
std::size_t Kinds::place(const Turn& turn) const {
  const std::size_t begins = static_cast<std::size_t>(turn.connection) * paths_.size() / connections_;
  return (begins + (turn.k ? *turn.k + 1 : 0)) % paths_.size();
}

std::string Kinds::path(const Turn& turn) const {
  if (!paths_.empty()) return paths_[place(turn)];
  std::string path = terms(turn.of).path();
  if (!mix_) return path;
  for (std::size_t at = 0; (at = path.find(kKey, at)) != std::string::npos;)
    path.replace(at, kKey.size(), std::to_string(mix_->key_of(turn.number)));
  return path;
}

std::string Kinds::named(const Turn& turn) const {
  if (classes_.empty() && paths_.size() < 2) return "";
  return clipped(origins_[static_cast<std::size_t>(turn.connection) % origins_.size()] + path(turn));
}

}  // namespace netdyno::http1
