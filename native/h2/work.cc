#include "h2/work.h"

#include <utility>

#include "h2/client.h"
#include "h2/http.h"
#include "h2/server.h"
#include "h2/verification.h"
#include "tls/work.h"

namespace netdyno::h2 {

using contract::ErrorKind;
using contract::Failure;
using contract::Role;

H2Work::H2Work(const contract::Setup& setup, std::unique_ptr<const Asking> asking,
               std::unique_ptr<const Answering> answering)
    : asking_(std::move(asking)),
      answering_(std::move(answering)),
      settings_(Settings::of(setup)),
      in_flight_(setup.load.in_flight),
      fresh_(setup.load.fresh) {
  if (setup.role != Role::client) return;
  if (fresh_ && in_flight_ > 1) {
    throw Failure(ErrorKind::unsupported,
                  "load.in_flight is " + std::to_string(in_flight_) +
                      ": a connection that is made for one exchange carries one; use more connections");
  }
  sessions_.resize(static_cast<std::size_t>(setup.load.connections));
}

std::unique_ptr<Flow> H2Work::client(const Place& place) const {
  auto session = std::move(sessions_.at(static_cast<std::size_t>(place.connection)));
  if (fresh_) session.reset();
  return std::make_unique<H2Client>(*asking_, settings_, place, fresh_, std::move(session));
}

std::unique_ptr<Flow> H2Work::server(std::size_t buffer, Traffic& traffic) const {
  return std::make_unique<H2Server>(*answering_, settings_, buffer, traffic);
}

std::unique_ptr<Work::Verification> H2Work::verification(std::int64_t connection) const {
  return std::make_unique<h2::Verification>(*asking_, settings_, connection, in_flight_,
                                            sessions_.at(static_cast<std::size_t>(connection)));
}

contract::Transport transport(const std::string& name, const std::string& doc) {
  contract::Transport transport;
  transport.name = name;
  transport.doc = doc;
  transport.wire = kH2C;
  transport.roles = {Role::server, Role::client};
  transport.delivery = "chunks";
  transport.options = tls::with_trust(http1::options());
  for (contract::Option& option : setting_options()) transport.options.push_back(std::move(option));
  transport.features = tls::with_tls({"fresh"});
  return transport;
}

std::unique_ptr<const Work> work_of(const contract::Setup& setup) {
  std::unique_ptr<const Asking> asking;
  std::unique_ptr<const Answering> answering;
  if (setup.role == Role::server) {
    answering = std::make_unique<HttpAnswering>(setup);
  } else {
    asking = std::make_unique<HttpAsking>(setup);
  }
  return tls::over(setup, kAlpn, std::make_unique<H2Work>(setup, std::move(asking), std::move(answering)));
}

}  // namespace netdyno::h2
