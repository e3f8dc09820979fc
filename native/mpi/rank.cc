#include "mpi/rank.h"

#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <system_error>
#include <thread>

#include "kit/address.h"
#include "mpi/environment.h"
#include "mpi/listening.h"

namespace netdyno::mpi_worker {

using contract::ErrorKind;
using contract::Failure;
using contract::Role;

namespace {

/// How long the ranks may take to find each other once both are initialized.
constexpr std::int64_t kMeetNs = 10'000'000'000;
/// How long a rank waits for an answer of PMI.
constexpr timeval kPmiTimeout = {10, 0};
/// How long MPI_Finalize may take. It waits for the other rank, which may just be gone.
constexpr std::chrono::milliseconds kFinalize{1000};

std::atomic<bool> started{false};

/// Removes what both ranks map, once they have mapped it or will not any more. So nothing
/// is left, however the process ends.
struct DirectoryRemoval {
  DirectoryRemoval() = default;
  ~DirectoryRemoval() { remove_directory(); }
  DirectoryRemoval(const DirectoryRemoval&) = delete;
  DirectoryRemoval& operator=(const DirectoryRemoval&) = delete;
};

/// Sets what the library reads in MPI_Init. The library does the same itself, so that
/// nobody else may read the environment meanwhile; a worker's other threads do not.
void set_environment(const Surroundings& around) {
  clear_environment();
  for (const auto& [name, value] : library_environment(around)) setenv(name.c_str(), value.c_str(), 1);
}

}  // namespace

Rank::Rank(int control, Role role, const std::string& fabric)
    : role_(role), control_(fcntl(control, F_DUPFD_CLOEXEC, 0)) {
  const Ends ends = ends_of(control);
  const bool one_node = ends.own == ends.other;
  if (fabric == "shm" && !one_node) {
    throw Failure(ErrorKind::unsupported, "option fabric is shm: the ends share no memory, this one is at " +
                                              ends.own + ", the other at " + ends.other);
  }
  const std::string interface = interface_of(ends.own);
  if (interface.empty()) {
    throw Failure(ErrorKind::setup, "find the interface of " + ends.own + ": no interface has this address");
  }
  listen_only_at(ends.own);
  const DirectoryRemoval removal;
  set_environment({fabric, interface, one_node});
  start_process_management(control, one_node);
  // Serialized would be the word for one thread at a time, the one that connects and
  // then the one that runs. From funneled on Open MPI locks what it does for each message,
  // a seventh of a server's time at 8 B; a plain program asks for a single thread and does
  // not pay for it. Neither library looks which thread calls.
  int level = MPI_THREAD_SINGLE;
  started = true;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SINGLE, &level) != MPI_SUCCESS) {
    throw Failure(ErrorKind::setup, "start " + library_name() + ": MPI_Init failed; why, it told on stderr");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  meet();
  if (role_ == Role::server) watch_client(control_.get());
}

/// Gives the library a descriptor on which PMI is spoken: the server's rank serves it,
/// the client's asks on the control socket.
void Rank::start_process_management(int control, bool one_node) {
  Descriptor asking;
  if (role_ == Role::server) {
    std::array<int, 2> pair{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) {
      throw Failure(ErrorKind::setup, "open a socket pair: " + std::generic_category().message(errno));
    }
    asking = Descriptor(pair[0]);
    service_ = std::make_unique<PmiService>(
        std::array<Descriptor, kRanks>{Descriptor(pair[1]), Descriptor(fcntl(control, F_DUPFD_CLOEXEC, 0))},
        one_node);
  } else {
    asking = Descriptor(fcntl(control, F_DUPFD_CLOEXEC, 0));
  }
  setsockopt(asking.get(), SOL_SOCKET, SO_RCVTIMEO, &kPmiTimeout, sizeof kPmiTimeout);
  setenv("PMI_RANK", role_ == Role::server ? "0" : "1", 1);
  setenv("PMI_SIZE", std::to_string(kRanks).c_str(), 1);
  // MPICH closes it in MPI_Finalize, and otherwise the process's end does.
  setenv("PMI_FD", std::to_string(asking.release()).c_str(), 1);
}

/// A message each way, so that what connects lazily is connected.
void Rank::meet() {
  char out = 0;
  char in = 0;
  std::array<MPI_Request, 2> requests{};
  constexpr int kTag = 0;
  MPI_Irecv(&in, 1, MPI_BYTE, other(), kTag, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&out, 1, MPI_BYTE, other(), kTag, MPI_COMM_WORLD, &requests[1]);
  const std::int64_t deadline = now_ns() + kMeetNs;
  for (int done = 0; done == 0;) {
    if (MPI_Testall(2, requests.data(), &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS || !other_is_there()) {
      throw Failure(ErrorKind::peer, "meet the other rank: it has gone");
    }
    if (now_ns() < deadline) continue;
    throw Failure(ErrorKind::timeout, "meet the other rank: " + library_name() + " moved no message in 10 s");
  }
}

bool Rank::other_is_there() const {
  pollfd ask{control_.get(), POLLRDHUP, 0};
  return poll(&ask, 1, 0) == 0;
}

Rank::~Rank() {
  if (!other_is_there()) return;  // MPI_Finalize would wait for it
  std::promise<void> finalized;
  std::future<void> end = finalized.get_future();
  std::thread thread([promise = std::move(finalized)]() mutable {
    MPI_Finalize();
    promise.set_value();
  });
  if (end.wait_for(kFinalize) != std::future_status::ready) {
    std::fprintf(stderr, "MPI_Finalize did not return within a second\n");
    thread.detach();
    return;
  }
  thread.join();
  started = false;
}

bool Rank::unfinished() { return started; }

}  // namespace netdyno::mpi_worker
