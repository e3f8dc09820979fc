#include "h2grpc/work.h"

#include <climits>
#include <string>
#include <utility>

#include "grpcpp/methods.h"
#include "h2/settings.h"
#include "h2/work.h"
#include "h2grpc/ask.h"
#include "h2grpc/call.h"
#include "kit/ends.h"
#include "kit/options.h"
#include "kit/sockets.h"
#include "tls/work.h"

namespace netdyno::h2grpc {

using contract::Option;
using contract::Role;
using contract::Setup;
using grpc_worker::Contents;

namespace {

std::shared_ptr<const Contents> contents_of(const Setup& setup) {
  auto contents = std::make_shared<const Contents>(setup.exchange);
  grpc_worker::require_agreement(setup, *contents);
  return contents;
}

/// Keeps the contents, which its ends refer to.
class GrpcWork final : public h2::H2Work {
 public:
  explicit GrpcWork(const Setup& setup) : GrpcWork(setup, contents_of(setup)) {}

  std::optional<Sizes> encoded() const override {
    if (!contents_->structured()) return std::nullopt;
    return Sizes{contents_->up().size, contents_->down().size};
  }

 private:
  GrpcWork(const Setup& setup, std::shared_ptr<const Contents> contents)
      : H2Work(setup, setup.role == Role::client ? std::make_unique<GrpcAsking>(setup, *contents) : nullptr,
               setup.role == Role::server ? std::make_unique<GrpcAnswering>(setup, *contents) : nullptr),
        contents_(std::move(contents)) {}

  std::shared_ptr<const Contents> contents_;
};

}  // namespace

std::vector<Option> options() {
  std::vector<Option> all = {
      choice_option(
          "mode", {"unary", "stream"},
          "unary: an RPC for each exchange; stream: a bidirectional stream for each slot, a message each "
          "way for each exchange"),
      choice_option(
          "codec", {"proto", "raw"},
          "how codec bytes travels: proto in a protobuf Block; raw as the message itself; give both "
          "ends the same"),
      bytes_option("max_message", {0, 0, INT_MAX},
                   "largest message this end receives; 0 takes the libraries' 4 MiB, raised to what the "
                   "exchange needs, and with verify=status to 1 GiB"),
  };
  for (Option& option : ask_options()) all.push_back(std::move(option));
  for (Option& option : h2::setting_options()) all.push_back(std::move(option));
  for (Option& option : socket_options()) all.push_back(std::move(option));
  all.push_back(listener_option());
  for (Option& option : pace_options()) all.push_back(std::move(option));
  all.push_back(read_buffer_option());
  return tls::with_trust(std::move(all));
}

std::unique_ptr<const Work> work_of(const Setup& setup) {
  return tls::over(setup, h2::kAlpn, std::make_unique<GrpcWork>(setup));
}

}  // namespace netdyno::h2grpc
