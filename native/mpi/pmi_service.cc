#include "mpi/pmi_service.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "kit/contract.h"
#include "kit/threads.h"

namespace netdyno::mpi_worker {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// How long a rank that still finalizes may say nothing once the service is to stop.
constexpr int kFarewellMs = 300;

}  // namespace

PmiService::PmiService(std::array<Descriptor, kRanks> ranks, bool one_node)
    : ranks_(std::move(ranks)), server_(one_node), stop_event_(eventfd(0, EFD_CLOEXEC)) {
  thread_ = std::thread([this] {
    name_thread("pmi");
    try {
      serve();
    } catch (const Failure& failure) {
      std::fprintf(stderr, "%s\n", failure.what());
    }
    // A rank that waits at a barrier for one that has gone must not wait on.
    for (int rank = 0; rank < kRanks; rank++) {
      if (!server_.finished(rank)) shutdown(ranks_[static_cast<std::size_t>(rank)].get(), SHUT_RDWR);
    }
  });
}

PmiService::~PmiService() {
  const std::uint64_t one = 1;
  if (write(stop_event_.get(), &one, sizeof one) < 0) std::perror("stop the PMI thread");
  thread_.join();
}

void PmiService::serve() {
  bool stopping = false;
  while (!server_.finished(0) || !server_.finished(1)) {
    std::array<pollfd, kRanks + 1> asked{};
    asked[kRanks] = {stopping ? -1 : stop_event_.get(), POLLIN, 0};
    for (int rank = 0; rank < kRanks; rank++) {
      const auto at = static_cast<std::size_t>(rank);
      asked[at] = {server_.finished(rank) ? -1 : ranks_[at].get(), POLLIN, 0};
    }
    const int ready = poll(asked.data(), asked.size(), stopping ? kFarewellMs : -1);
    if (ready == 0 || (ready < 0 && errno != EINTR)) return;
    stopping = stopping || asked[kRanks].revents != 0;
    for (int rank = 0; rank < kRanks; rank++) {
      if (asked[static_cast<std::size_t>(rank)].revents != 0 && !hear(rank)) return;
    }
  }
}

bool PmiService::hear(int rank) {
  const auto at = static_cast<std::size_t>(rank);
  std::array<char, 4096> bytes;
  const ssize_t n = recv(ranks_[at].get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (n <= 0) return false;
  lines_[at].add({bytes.data(), static_cast<std::size_t>(n)});
  while (const auto line = lines_[at].next()) {
    for (const PmiAnswer& answer : server_.answer(rank, *line)) {
      const int to = ranks_[static_cast<std::size_t>(answer.rank)].get();
      if (send(to, answer.line.data(), answer.line.size(), MSG_NOSIGNAL) < 0) return false;
    }
  }
  return true;
}

}  // namespace netdyno::mpi_worker
