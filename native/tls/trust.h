// How a client trusts a server that is not netdyno's, and what it shows to it. The Go clients
// have the same options: internal/work/wire/trust.go.
//
// Layer: bottom of tls, above kit/contract. Plain values; any thread.
#pragma once

#include <string>
#include <vector>

#include "kit/contract.h"

namespace netdyno::tls {

std::vector<contract::Option> trust_options();

/// What the options say. Texts in PEM; empty for none.
struct Trust {
  bool of_host = false;     // trusts the authorities that this host does
  std::string authorities;  // trusted; empty: those of the trial, unless of_host
  std::string name;         // the server's, in its certificate; empty: its IP address
  std::string certificate;  // the client's, and what it is signed by
  std::string key;
  bool any = false;  // any certificate of the server will do

  /// Whether the server may be one that is not netdyno's.
  bool foreign() const { return any || of_host || !authorities.empty(); }
};

/// Reads a client's options, and the files that they name, of at most 1 MiB each. A transport
/// without these options has none. Throws Failure{setup} that names the option.
Trust trust_of(const contract::Setup& setup);

}  // namespace netdyno::tls
