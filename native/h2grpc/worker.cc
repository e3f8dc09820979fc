// netdyno-worker-grpc-nghttp2: transport grpc-nghttp2, which is wire grpc:netdyno.v1 by
// nghttp2 on the rings of the uring worker.
#include <google/protobuf/stubs/common.h>

#include "h2/session.h"
#include "h2grpc/ends.h"
#include "tls/work.h"

namespace netdyno::h2grpc {
namespace {

class GrpcNghttp2 : public Transport {
 public:
  contract::Transport describe() const override { return transport(); }
  std::unique_ptr<Server> server(const contract::Setup& setup) override { return make_server(setup); }
  std::unique_ptr<Client> client(const contract::Setup& setup, Load& load) override {
    return make_client(setup, load);
  }
};

}  // namespace

int run() {
  GrpcNghttp2 transport;
  const auto protobuf = google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION);
  return run_worker(
      {"netdyno-worker-grpc-nghttp2", NETDYNO_VERSION,
       tls::with_library(
           {{"liburing", LIBURING_VERSION}, {"nghttp2", h2::library_version()}, {"protobuf", protobuf}})},
      {&transport});
}

}  // namespace netdyno::h2grpc

int main() { return netdyno::h2grpc::run(); }
