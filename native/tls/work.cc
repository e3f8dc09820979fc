#include "tls/work.h"

#include <utility>

#include "kit/address.h"
#include "tls/context.h"
#include "tls/flow.h"
#include "tls/session.h"
#include "tls/trust.h"
#include "tls/verification.h"

namespace netdyno::tls {

namespace {

/// The kit's promise that any thread may use it holds as far as each connection's
/// verification and flow, one after the other, are used by one thread.
class TlsWork final : public Work {
 public:
  TlsWork(const contract::Setup& setup, std::string_view protocol, std::unique_ptr<const Work> inner)
      : context_(setup, protocol), inner_(std::move(inner)) {
    if (context_.role() == contract::Role::server) return;
    routes_ = routes(setup);
    sessions_.resize(static_cast<std::size_t>(setup.load.connections));
  }

  std::unique_ptr<Flow> client(const Place& place) const override {
    return std::make_unique<TlsFlow>(context_, host(place.connection), inner_->client(place),
                                     std::move(sessions_.at(static_cast<std::size_t>(place.connection))));
  }
  std::unique_ptr<Flow> server(std::size_t buffer, Traffic& traffic) const override {
    return std::make_unique<TlsFlow>(context_, inner_->server(buffer, traffic), traffic);
  }
  std::unique_ptr<Work::Verification> verification(std::int64_t connection) const override {
    return std::make_unique<tls::Verification>(context_, host(connection), inner_->verification(connection),
                                               sessions_.at(static_cast<std::size_t>(connection)));
  }
  std::optional<Sizes> encoded() const override { return inner_->encoded(); }
  Repeats repeats() const override { return inner_->repeats(); }

 private:
  const std::string& host(std::int64_t connection) const {
    return routes_[static_cast<std::size_t>(connection) % routes_.size()].peer.host;
  }

  Context context_;
  std::unique_ptr<const Work> inner_;
  std::vector<Route> routes_;
  // By connection: what its verification leaves to its flow.
  mutable std::vector<std::unique_ptr<Session>> sessions_;
};

}  // namespace

std::unique_ptr<const Work> over(const contract::Setup& setup, std::string_view protocol,
                                 std::unique_ptr<const Work> work) {
  if (!setup.tls) return work;
  return std::make_unique<TlsWork>(setup, protocol, std::move(work));
}

std::vector<std::string> with_tls(std::vector<std::string> features) {
  features.insert(features.begin(), "tls");
  return features;
}

std::vector<contract::Option> with_trust(std::vector<contract::Option> options) {
  for (contract::Option& option : trust_options()) options.push_back(std::move(option));
  return options;
}

std::vector<contract::Library> with_library(std::vector<contract::Library> libraries) {
  libraries.push_back({"openssl", library_version()});
  return libraries;
}

}  // namespace netdyno::tls
