#include "mpi/options.h"

#include "kit/options.h"
#include "mpi/library.h"
#include "mpi/rdma_port.h"

namespace netdyno::mpi_worker {

using contract::ErrorKind;
using contract::Failure;

std::vector<contract::Option> options() {
  return {
      choice_option(
          "fabric", {"auto", "tcp", "shm", "rdma", "ucx", "ofi"},
          "what the library is asked to move messages by: auto, its own choice; tcp, sockets on the "
          "interface of the trial's address; shm, memory that both ends share; rdma, an RDMA device; ucx "
          "and ofi, those libraries. With tcp, shm and rdma a trial whose messages take another way fails"),
      choice_option("mode", {"nonblocking", "blocking"},
                    "nonblocking: up to 64 MPI_Isend and MPI_Irecv are outstanding; blocking: MPI_Send and "
                    "MPI_Recv, one exchange in flight"),
      choice_option("memory", {"host", "cuda"}, "where the messages lie: in the host's memory or in a GPU's"),
  };
}

Wishes wishes_of(const contract::Setup& setup) {
  const Wishes wishes{setup.options.at("fabric").get<std::string>(), setup.options.at("mode") == "blocking",
                      setup.options.at("memory") == "cuda"};
  if (const std::string lack = library_lacks(wishes.fabric); !lack.empty()) {
    throw Failure(ErrorKind::unsupported, "option fabric is " + wishes.fabric + ": " + lack);
  }
  if (wishes.fabric == "rdma" && !has_rdma()) {
    throw Failure(ErrorKind::unsupported, "option fabric is rdma: this host has no RDMA device");
  }
  const std::int64_t slots = setup.load.connections * setup.load.in_flight;
  if (wishes.blocking && setup.role == contract::Role::client && slots > 1) {
    throw Failure(ErrorKind::unsupported, "option mode is blocking, which has one exchange in flight, and " +
                                              std::to_string(slots) +
                                              " are asked for (load.connections × load.in_flight)");
  }
  if (wishes.blocking && setup.exchange.stream == contract::Stream::both) {
    throw Failure(ErrorKind::unsupported,
                  "option mode is blocking and exchange.stream is both: two ends that both wait in MPI_Send "
                  "would wait for ever");
  }
  return wishes;
}

std::string demanded_path(const Wishes& wishes) {
  const bool told = wishes.fabric == "tcp" || wishes.fabric == "shm" || wishes.fabric == "rdma";
  return told ? wishes.fabric : "";
}

}  // namespace netdyno::mpi_worker
