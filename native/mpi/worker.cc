// netdyno-worker-mpi and netdyno-worker-mpich: transports and wires mpi and mpich, the
// same sources on Open MPI and on MPICH.
#include "kit/worker.h"

#include <unistd.h>

#include "kit/message_ends.h"
#include "mpi/engine.h"
#include "mpi/rank.h"

namespace {

using netdyno::MessageTerms;
using netdyno::contract::Setup;
using namespace netdyno::mpi_worker;

class MpiTransport : public netdyno::Transport {
 public:
  netdyno::contract::Transport describe() const override {
    auto transport = netdyno::message_transport(
        library_transport(),
        "two ranks of " + library_name() +
            ", started without mpirun, one thread each: a connection is a tag, a message "
            "is MPI_Isend and MPI_Irecv");
    transport.options = options();
    return transport;
  }

  std::unique_ptr<netdyno::Server> server(const Setup& setup) override {
    return std::make_unique<netdyno::MessageServer>(setup, &make, demands(setup));
  }

  std::unique_ptr<netdyno::Client> client(const Setup& setup, netdyno::Load& load) override {
    return std::make_unique<netdyno::MessageClient>(setup, load, &make, demands(setup));
  }

 private:
  static std::unique_ptr<netdyno::MessageEngine> make(const MessageTerms& terms) {
    return std::make_unique<Engine>(terms);
  }

  static netdyno::MessageDemands demands(const Setup& setup) {
    netdyno::MessageDemands demands;
    const Wishes wishes = wishes_of(setup);
    demands.over = demanded_path(wishes);
    if (wishes.device && demands.over != "shm") demands.unseen = "device";
    return demands;
  }
};

}  // namespace

int main() {
  MpiTransport transport;
  const int status = netdyno::run_worker(
      {"netdyno-worker-" + library_transport(), NETDYNO_VERSION, {{library_name(), library_version()}}},
      {&transport});
  if (Rank::unfinished()) _exit(status);
  return status;
}
