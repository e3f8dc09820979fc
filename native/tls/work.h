// TLS 1.3 around the work of any wire over TCP, by OpenSSL. Where that library is not
// installed, absent.cc takes the place of the rest: no transport has the feature then.
//
// Layer: above verification.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kit/contract.h"
#include "kit/work.h"

namespace netdyno::tls {

/// work itself for a plain trial, else work that is encrypted. protocol is the wire's name in
/// ALPN. Throws Failure{setup} for certificates or a key that cannot be used.
std::unique_ptr<const Work> over(const contract::Setup& setup, std::string_view protocol,
                                 std::unique_ptr<const Work> work);

/// Adds to a transport's features and options, and to a worker's libraries, what this brings.
std::vector<std::string> with_tls(std::vector<std::string> features);
std::vector<contract::Option> with_trust(std::vector<contract::Option> options);
std::vector<contract::Library> with_library(std::vector<contract::Library> libraries);

}  // namespace netdyno::tls
