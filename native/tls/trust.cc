#include "tls/trust.h"

#include <cstddef>
#include <utility>

#include "kit/files.h"
#include "kit/options.h"

namespace netdyno::tls {

using contract::ErrorKind;
using contract::Failure;
using contract::Option;
using contract::Role;

namespace {

/// The level of option ca for the authorities that this host trusts.
constexpr char kSystem[] = "system";
constexpr std::size_t kMostPem = 1 << 20;

}  // namespace

std::vector<Option> trust_options() {
  std::vector<Option> all = {
      text_option("ca", "",
                  "PEM file of the authorities that a client trusts; system: those of its host; unless "
                  "given, netdyno's own"),
      text_option("sni", "", "server name in TLS; the server's address unless given"),
      text_option("cert", "", "PEM file of the client's certificate"),
      text_option("key", "", "PEM file of the key of cert"),
      boolean_option("insecure", false, "accept any certificate of the server"),
  };
  for (Option& option : all) option = only(Role::client, std::move(option));
  return all;
}

Trust trust_of(const contract::Setup& setup) {
  const contract::Json& options = setup.options;
  Trust trust;
  if (!options.contains("ca")) return trust;
  trust.any = options.at("insecure").get<bool>();
  trust.name = options.at("sni").get<std::string>();
  const auto ca = options.at("ca").get<std::string>();
  if (ca == kSystem) {
    trust.of_host = true;
  } else if (!ca.empty()) {
    trust.authorities = read_file("option ca", ca, kMostPem);
  }
  const auto cert = options.at("cert").get<std::string>();
  const auto key = options.at("key").get<std::string>();
  if (cert.empty() != key.empty()) {
    throw Failure(ErrorKind::setup, "options cert and key: " +
                                        std::string(key.empty() ? "cert is given and key is not"
                                                                : "key is given and cert is not") +
                                        "; expected both");
  }
  if (!cert.empty()) {
    trust.certificate = read_file("option cert", cert, kMostPem);
    trust.key = read_file("option key", key, kMostPem);
  }
  return trust;
}

}  // namespace netdyno::tls
