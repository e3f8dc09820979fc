#include "mpi/transfers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kit/contract.h"

namespace netdyno::mpi_worker {

using contract::ErrorKind;
using contract::Failure;

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int size = 0;
  MPI_Error_string(code, text.data(), &size);
  throw Failure(ErrorKind::peer,
                std::string(call) + ": " + std::string(text.data(), static_cast<std::size_t>(size)));
}

void Sends::send(int tag, std::span<const char> bytes) {
  const auto size = static_cast<int>(bytes.size());
  if (blocking_)
    return check_mpi(MPI_Send(sources_.of(bytes), size, MPI_BYTE, other_, tag, MPI_COMM_WORLD), "MPI_Send");
  MPI_Request& request = requests_[(oldest_ + count_) % kOutstanding];
  check_mpi(MPI_Isend(sources_.of(bytes), size, MPI_BYTE, other_, tag, MPI_COMM_WORLD, &request),
            "MPI_Isend");
  count_++;
}

bool Sends::reap() {
  bool gone = false;
  while (count_ > 0) {
    int done = 0;
    check_mpi(MPI_Test(&requests_[oldest_], &done, MPI_STATUS_IGNORE), "MPI_Test of a send");
    if (done == 0) break;
    oldest_ = (oldest_ + 1) % kOutstanding;
    count_--;
    gone = true;
  }
  return gone;
}

Receives::Receives(int other, std::size_t max_message, bool blocking, Device device)
    : other_(other), blocking_(blocking), buffer_(std::move(device), max_message) {
  post();
}

void Receives::post() {
  while (!blocking_ && count_ < wanted()) {
    MPI_Request& request = requests_[(oldest_ + count_) % kOutstanding];
    check_mpi(MPI_Irecv(buffer_.data(), static_cast<int>(buffer_.size()), MPI_BYTE, other_, MPI_ANY_TAG,
                        MPI_COMM_WORLD, &request),
              "MPI_Irecv");
    count_++;
  }
}

void Receives::withdraw() {
  while (count_ > 0) {
    MPI_Request& request = requests_[(oldest_ + count_ - 1) % kOutstanding];
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    count_--;
  }
}

std::optional<Receives::Message> Receives::take() {
  int done = 0;
  MPI_Status status;
  if (blocking_) {
    // A wait in MPI_Recv could not see that the other end is gone.
    check_mpi(MPI_Iprobe(other_, MPI_ANY_TAG, MPI_COMM_WORLD, &done, &status), "MPI_Iprobe");
    if (done == 0) return std::nullopt;
    check_mpi(MPI_Recv(buffer_.data(), static_cast<int>(buffer_.size()), MPI_BYTE, other_, status.MPI_TAG,
                       MPI_COMM_WORLD, &status),
              "MPI_Recv");
  } else {
    check_mpi(MPI_Test(&requests_[oldest_], &done, &status), "MPI_Test of a receive");
    if (done == 0) return std::nullopt;
    oldest_ = (oldest_ + 1) % kOutstanding;
    count_--;
  }
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  const auto n = static_cast<std::size_t>(std::max(size, 0));
  return Message{status.MPI_TAG, comparing_ ? buffer_.read(n) : std::span<const char>(buffer_.data(), n)};
}

void Receives::release() { post(); }

void Receives::compare(bool yes) {
  if (comparing_ == yes) return;
  comparing_ = yes;
  if (yes) withdraw();  // nothing is under way: a connection is opened before there is load
  post();
}

}  // namespace netdyno::mpi_worker
