// The kinds of requests of a client of any version of HTTP: one, or the classes of a workload, or several
// paths that are asked for in turn (contract/MIXES.md). Go counterpart: internal/work/wire/httpwire.
//
// Layer: above terms. Immutable after construction: any thread may use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http1/terms.h"
#include "kit/load.h"
#include "kit/mix.h"

namespace netdyno::http1 {

/// Which exchange of a client a request is of.
struct Turn {
  std::int64_t connection = 0;
  std::optional<std::uint64_t> k =
      {};                    // of the connection's, from 0; none for its first one, which is verified
  std::size_t of = 0;        // its class; 0 without classes
  std::uint64_t number = 0;  // over all slots, where classes are drawn by it
};

class Kinds {
 public:
  /// Throws Failure{setup} for options, classes and paths that cannot be.
  explicit Kinds(const contract::Setup& setup);

  /// What all exchanges have in common; of classes the largest sizes.
  const Terms& common() const { return common_; }
  /// How many terms there are: one, or those of the classes.
  std::size_t count() const { return classes_.empty() ? 1 : classes_.size(); }
  const Terms& terms(std::size_t of) const { return classes_.empty() ? common_ : classes_[of]; }
  /// Whether all requests of a connection are the same.
  bool alike() const { return classes_.empty() && paths_.empty(); }
  /// Whether the paths of a class's requests differ.
  bool varied(std::size_t of) const;

  /// The first exchange of a connection.
  Turn first(std::int64_t connection) const;
  /// The connection's exchange k, from 0, which is the slot's in flight. Says its path to the slot.
  Turn turn(std::int64_t connection, std::uint64_t k, Slot& slot) const;
  /// What an exchange asks for.
  std::string path(const Turn& turn) const;
  /// What names an exchange in an error, where it is one of several; empty where it is not.
  std::string named(const Turn& turn) const;
  /// By which names paths are told apart, or addresses of another's server.
  const std::vector<std::string>& path_names() const { return path_names_; }

 private:
  void tell_apart();
  std::size_t place(const Turn& turn) const;

  Terms common_;
  std::vector<Terms> classes_;
  std::unique_ptr<const Mix> mix_;  // null without classes
  std::size_t connections_;
  std::vector<std::string> origins_;  // by route: scheme and address
  std::vector<std::string> paths_;    // that are asked for in turn
  std::vector<std::string> path_names_;
  std::vector<std::uint32_t> path_name_;  // of each path, the number of its name
  bool by_peer_ = false;                  // the names are addresses, which connections take in turn
};

}  // namespace netdyno::http1
