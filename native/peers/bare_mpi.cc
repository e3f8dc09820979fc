// Plain MPI between two ranks, the peer of the workers on MPI, written as OSU's osu_bw is:
// rank 1 sends windows of 64 messages, and rank 0 confirms each window by one byte.
//
//   mpirun -n 1 bare-mpi SIZE SECONDS : -n 1 bare-mpi SIZE SECONDS
//
// Rank 0 prints {"exchanges":N,"seconds":S,"cpu_s":C}; an exchange is a window.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "peers/bare.h"

namespace {

constexpr int kWindow = 64;
constexpr double kWarmUpS = 0.2;
constexpr int kMessage = 1;
constexpr int kConfirmation = 2;

using Requests = std::array<MPI_Request, kWindow>;

/// Confirms windows until the time is over; the last confirmation says so.
std::int64_t receive(std::vector<char>& buffer, double seconds) {
  Requests requests;
  std::int64_t windows = 0;
  const double end = bare::clock_s(CLOCK_MONOTONIC) + seconds;
  for (char more = 1; more == 1; windows++) {
    for (MPI_Request& request : requests) {
      MPI_Irecv(buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE, 1, kMessage, MPI_COMM_WORLD,
                &request);
    }
    MPI_Waitall(kWindow, requests.data(), MPI_STATUSES_IGNORE);
    if (bare::clock_s(CLOCK_MONOTONIC) >= end) more = 0;
    MPI_Send(&more, 1, MPI_BYTE, 1, kConfirmation, MPI_COMM_WORLD);
  }
  return windows;
}

void send(const std::vector<char>& buffer) {
  Requests requests;
  for (char more = 1; more == 1;) {
    for (MPI_Request& request : requests) {
      MPI_Isend(buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE, 0, kMessage, MPI_COMM_WORLD,
                &request);
    }
    MPI_Waitall(kWindow, requests.data(), MPI_STATUSES_IGNORE);
    MPI_Recv(&more, 1, MPI_BYTE, 0, kConfirmation, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const double seconds = argc == 3 ? std::strtod(argv[2], nullptr) : 0;
  if (ranks != 2 || seconds <= 0) {
    std::fprintf(stderr, "usage: mpirun -n 1 %s SIZE SECONDS : -n 1 %s SIZE SECONDS\n", argv[0], argv[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  std::vector<char> buffer = bare::payload(std::strtoul(argv[1], nullptr, 10));
  if (rank == 1) {
    send(buffer);
    send(buffer);
  } else {
    receive(buffer, kWarmUpS);
    const bare::Stopwatch stopwatch;
    const std::int64_t windows = receive(buffer, seconds);
    stopwatch.print(windows);
  }
  MPI_Finalize();
}
