// netdyno-worker-grpc-nghttp2: transport grpc-nghttp2, which is wire grpc:netdyno.v1 by
// nghttp2 on the rings of the uring worker.
#include "h2grpc/call.h"
#include "uring/ends.h"

int main() {
  using namespace netdyno;
  auto all = h2grpc::transport("grpc-nghttp2",
                               "gRPC in C++ on io_uring by liburing, by nghttp2 and protobuf: exchanges in "
                               "flight are streams of one connection");
  all.options = joined(all.options, uring_worker::setting_options());
  LoopTransport transport(all, uring_worker::engine(), h2grpc::work_of);
  return run_worker(
      {"netdyno-worker-grpc-nghttp2", NETDYNO_VERSION, h2grpc::libraries({"liburing", LIBURING_VERSION})},
      {&transport});
}
