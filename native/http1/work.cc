#include "http1/work.h"

#include <optional>

#include "http1/client.h"
#include "http1/options.h"
#include "http1/server.h"
#include "http1/verification.h"
#include "tls/work.h"

namespace netdyno::http1 {
namespace {

class HttpWork final : public Work {
 public:
  explicit HttpWork(const contract::Setup& setup) {
    if (setup.role == contract::Role::server) {
      answering_.emplace(setup);
    } else {
      asking_.emplace(setup);
      content_ = asking_->terms().expected_content();
    }
  }

  std::unique_ptr<Flow> client(const Place& place) const override {
    return std::make_unique<HttpClient>(asking_.value(), place.connection,
                                        Flights(place.number, place.slots, place.agenda));
  }
  std::unique_ptr<Flow> server(std::size_t buffer, Traffic& traffic) const override {
    return std::make_unique<HttpServer>(answering_.value(), buffer, traffic);
  }
  std::unique_ptr<Work::Verification> verification(std::int64_t connection) const override {
    return std::make_unique<http1::Verification>(asking_.value(), content_, connection);
  }
  Repeats repeats() const override { return asking_->terms().repeats(); }

 private:
  std::optional<Asking> asking_;
  std::string content_;
  std::optional<Answering> answering_;
};

}  // namespace

contract::Transport transport(const std::string& name, const std::string& doc) {
  contract::Transport transport;
  transport.name = name;
  transport.doc = doc;
  transport.wire = kHttp1;
  transport.roles = {contract::Role::server, contract::Role::client};
  transport.delivery = "chunks";
  transport.options = tls::with_trust(options());
  transport.features = tls::with_tls({"fresh"});
  return transport;
}

std::string parser_version() {
  return std::to_string(LLHTTP_VERSION_MAJOR) + "." + std::to_string(LLHTTP_VERSION_MINOR) + "." +
         std::to_string(LLHTTP_VERSION_PATCH);
}

std::unique_ptr<const Work> work_of(const contract::Setup& setup) {
  return tls::over(setup, kHttp1, std::make_unique<HttpWork>(setup));
}

}  // namespace netdyno::http1
