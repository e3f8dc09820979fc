// netdyno-worker-grpc-nghttp2: transport grpc-nghttp2, which is wire grpc:netdyno.v1 by
// nghttp2 on the rings of the uring worker.
#include <google/protobuf/stubs/common.h>

#include "h2/session.h"
#include "h2grpc/call.h"
#include "tls/work.h"
#include "uring/ends.h"

int main() {
  using namespace netdyno;
  contract::Transport all;
  all.name = "grpc-nghttp2";
  all.doc =
      "gRPC in C++ on io_uring by liburing, by nghttp2 and protobuf: exchanges in flight are streams of one "
      "connection";
  all.wire = "grpc:netdyno.v1";
  all.roles = {contract::Role::server, contract::Role::client};
  all.delivery = "message";
  all.codecs = {"bytes", "proto"};
  all.features =
      tls::with_tls({"fresh", "stream-up", "stream-down", "stream-both", "turns", "work-cpu", "work-sleep"});
  all.options = joined(h2grpc::options(), uring_worker::setting_options());
  LoopTransport transport(all, uring_worker::engine(), h2grpc::work_of);
  const auto protobuf = google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION);
  return run_worker(
      {"netdyno-worker-grpc-nghttp2", NETDYNO_VERSION,
       tls::with_library(
           {{"liburing", LIBURING_VERSION}, {"nghttp2", h2::library_version()}, {"protobuf", protobuf}})},
      {&transport});
}
