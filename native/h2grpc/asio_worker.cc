// netdyno-worker-grpc-nghttp2-asio: transport grpc-nghttp2-asio, which is wire grpc:netdyno.v1 by
// nghttp2 on the event loops of the asio worker.
#include "asio/loops.h"
#include "h2grpc/call.h"

int main() {
  using namespace netdyno;
  LoopTransport transport(
      h2grpc::transport("grpc-nghttp2-asio",
                        "gRPC in C++ on asio's event loops, by nghttp2 and protobuf: exchanges in flight are "
                        "streams of one connection"),
      asio_worker::engine(), h2grpc::work_of);
  return run_worker({"netdyno-worker-grpc-nghttp2-asio", NETDYNO_VERSION,
                     h2grpc::libraries({"asio", asio_worker::version()})},
                    {&transport});
}
