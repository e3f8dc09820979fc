#include "grpcpp/source.h"

#include <sys/socket.h>

#include "kit/descriptor.h"

namespace netdyno::grpc_worker {

void require_own_source(const Route& route) {
  if (route.source.empty()) return;
  const Endpoint peer = endpoint(route.peer, "setup.peers");
  // Connecting a datagram socket sends nothing and chooses the address as TCP does.
  const Descriptor probe(socket(peer.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  Endpoint own;
  const bool known =
      connect(probe.get(), peer.get(), peer.size) == 0 && getsockname(probe.get(), own.get(), &own.size) == 0;
  if (!known) return;  // connecting reports the reason later
  const std::string wanted = endpoint({route.source, 0}, "setup.sources").address().host;
  const std::string chosen = own.address().host;
  if (wanted == chosen) return;
  throw contract::Failure(contract::ErrorKind::unsupported,
                          "setup.sources has " + wanted + " and gRPC connects to " + route.peer.host +
                              " from " + chosen +
                              ": the library offers no choice; use fewer connections, or transport go-grpc");
}

}  // namespace netdyno::grpc_worker
