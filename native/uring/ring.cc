#include "uring/ring.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fstream>
#include <numeric>
#include <string>

#include "kit/options.h"
#include "kit/system.h"

namespace netdyno::uring_worker {

using contract::ErrorKind;
using contract::Failure;
using contract::Option;

Settings Settings::of(const contract::Setup& setup) {
  return {.entries = setup.options.at("entries").get<unsigned>()};
}

std::vector<Option> setting_options() {
  return {integer_option("entries", {Settings{}.entries, 8, 32'768}, "submissions that a loop's ring holds")};
}

namespace {

constexpr std::uint64_t kOpMask = 7;
/// Marks an operation without an owner.
constexpr std::uint64_t kNobody = kOpMask;
/// Files in a ring's table. Connections beyond them are used by descriptor.
constexpr unsigned kFiles = 16'384;
/// Completions that a ring holds for each submission that it holds. The kernel keeps those
/// that do not fit; with thousands of connections that costs no more than the cache that a
/// longer ring takes up.
constexpr unsigned kCompletions = 4;
/// How long cancelled operations may take before they are cancelled again, in ns.
constexpr std::int64_t kCancelRetryNs = 10'000'000;

/// Flags to set up a ring with, best first. With deferred work the kernel completes
/// operations only while this thread waits, in whole batches; Linux 6.0 has the second best, which
/// does not interrupt the thread.
constexpr std::array<unsigned, 2> kWays = {IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
                                           IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN};

/// Explains why io_uring_setup failed.
Failure refused(int error) {
  const std::string text = std::string("set up io_uring: ") + std::strerror(error);
  if (error == ENOSYS) {
    return {ErrorKind::unsupported, text + "; this kernel, or the sandbox around it, has no io_uring"};
  }
  if (error == EPERM || error == EACCES) {
    std::string disabled;
    std::ifstream("/proc/sys/kernel/io_uring_disabled") >> disabled;
    const bool by_sysctl = !disabled.empty() && disabled != "0";
    return {ErrorKind::unsupported, text + (by_sysctl ? "; sysctl kernel.io_uring_disabled is " + disabled
                                                      : "; a seccomp filter or security module forbids it")};
  }
  if (error == EINVAL)
    return {ErrorKind::unsupported, text + "; expected the io_uring of Linux 6.0 or newer"};
  return {ErrorKind::setup, text + "; see ulimit -l for memory, ulimit -n for files"};
}

/// The number by which the kernel knows an operation.
std::uint64_t name_of(const Owner& owner, Op op) {
  return reinterpret_cast<std::uintptr_t>(&owner) | static_cast<std::uint64_t>(op);
}

void check(const char* what, int result) {
  if (result < 0) {
    throw Failure(ErrorKind::bug, std::string(what) + " io_uring: " + std::strerror(-result));
  }
}

}  // namespace

Ring::Ring(const Settings& settings) {
  int error = EINVAL;
  for (const unsigned way : kWays) {
    io_uring_params params{};
    // Disabled at first: it belongs to the thread that enables it, not to this one.
    params.flags =
        way | IORING_SETUP_R_DISABLED | IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP;
    params.cq_entries = settings.entries * kCompletions;
    error = -io_uring_queue_init_params(settings.entries, &ring_, &params);
    if (error != EINVAL) break;
  }
  if (error != 0) throw refused(error);
  register_files();
}

Ring::~Ring() { io_uring_queue_exit(&ring_); }

void Ring::register_files() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const auto files = static_cast<unsigned>(std::min<rlim_t>(limit.rlim_cur, kFiles));
  const int answer = io_uring_register_files_sparse(&ring_, files);
  if (answer == -EPERM || answer == -ENOSYS)
    throw refused(-answer);  // by a filter that knows the first call only
  if (answer != 0) return;   // descriptors do as well
  free_slots_.resize(files);
  std::iota(free_slots_.rbegin(), free_slots_.rend(), 0);
}

void Ring::run(const std::function<void()>& body, const std::function<void()>& leave) {
  // liburing 2.3 declares io_uring_enable_rings, and forgot to export it.
  check("enable",
        io_uring_register(static_cast<unsigned>(ring_.ring_fd), IORING_REGISTER_ENABLE_RINGS, nullptr, 0));
  const bool named = io_uring_register_ring_fd(&ring_) == 1;  // else each call looks the ring up
  std::exception_ptr failure;
  try {
    body();
  } catch (...) {
    failure = std::current_exception();
  }
  leave();
  drain();
  io_uring_unregister_files(&ring_);  // now, not when the kernel gets to a ring that was closed
  if (named) io_uring_unregister_ring_fd(&ring_);
  if (failure) std::rethrow_exception(failure);
}

io_uring_sqe* Ring::prepare() {
  io_uring_sqe* submission = io_uring_get_sqe(&ring_);
  while (submission == nullptr) {
    reserve(1);
    submission = io_uring_get_sqe(&ring_);
  }
  return submission;
}

void Ring::reserve(unsigned n) {
  while (io_uring_sq_space_left(&ring_) < n) {
    const int result = io_uring_submit(&ring_);
    // Completions must be delivered first.
    if (result < 0 && result != -EBUSY && result != -EAGAIN && result != -EINTR) check("submit to", result);
  }
}

void Ring::submit(io_uring_sqe* submission, Owner& owner, Op op, unsigned flags) {
  submission->flags = static_cast<std::uint8_t>(submission->flags | flags);
  submission->user_data = name_of(owner, op);
  if (op != Op::linked_send) under_way_++;  // a linked receive counts for both
}

void Ring::submit(io_uring_sqe* submission, const File& file, Owner& owner, Op op, unsigned flags) {
  const bool registered = file.slot >= 0;
  submission->fd = registered ? file.slot : file.fd;
  submit(submission, owner, op, registered ? flags | IOSQE_FIXED_FILE : flags);
}

void Ring::wait() { entered(io_uring_submit_and_wait(&ring_, 1)); }

void Ring::wait(std::int64_t until_ns) {
  const std::int64_t left = until_ns - now_ns();
  if (left <= 0) return look();
  __kernel_timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
  io_uring_cqe* first = nullptr;
  entered(io_uring_submit_and_wait_timeout(&ring_, &first, 1, &timeout, nullptr));
}

void Ring::look() { entered(io_uring_submit_and_get_events(&ring_)); }

void Ring::entered(int result) {
  // EBUSY: completions wait to be delivered. EAGAIN: memory is short for now.
  if (result < 0 && result != -ETIME && result != -EINTR && result != -EBUSY && result != -EAGAIN) {
    check("wait for", result);
  }
}

bool Ring::deliver() {
  io_uring_cqe* entry = nullptr;
  const unsigned there = io_uring_cq_ready(&ring_);
  for (unsigned left = there; left > 0 && io_uring_peek_cqe(&ring_, &entry) == 0; left--) {
    const auto data = entry->user_data;
    const Completion completion{static_cast<Op>(data & kOpMask), entry->res, entry->flags};
    io_uring_cqe_seen(&ring_, entry);
    note(completion);
    if (data != kNobody) reinterpret_cast<Owner*>(data & ~kOpMask)->completed(completion);
  }
  return there > 0;
}

/// Counts pending operations.
void Ring::note(const Completion& completion) {
  if (!completion.more()) under_way_--;
}

void Ring::hasten(const Owner& owner, Op op, __kernel_timespec& at) {
  io_uring_sqe* const submission = prepare();
  io_uring_prep_timeout_update(submission, &at, name_of(owner, op), IORING_TIMEOUT_ABS);
  submission->user_data = kNobody;
  under_way_++;
}

void Ring::cancel(const Owner& owner, Op op) { cancel(name_of(owner, op), 0); }

void Ring::cancel(std::uint64_t operation, unsigned flags) {
  io_uring_sqe* const submission = prepare();
  io_uring_prep_cancel64(submission, operation, static_cast<int>(flags));
  submission->user_data = kNobody;
  under_way_++;
}

/// Cancels all pending operations, so that the memory which they use can be freed. It
/// repeats that, because the kernel overlooks an operation that is running just then.
void Ring::drain() {
  while (under_way_ > 0) {
    const std::int64_t before = under_way_;
    wait(now_ns() + kCancelRetryNs);
    io_uring_cqe* entry = nullptr;
    while (io_uring_peek_cqe(&ring_, &entry) == 0) {
      note({static_cast<Op>(entry->user_data & kOpMask), entry->res, entry->flags});
      io_uring_cqe_seen(&ring_, entry);
    }
    if (under_way_ == before) cancel(0, IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL);
  }
}

File Ring::keep(int fd) {
  if (free_slots_.empty()) return {fd, -1};
  const int slot = free_slots_.back();
  if (io_uring_register_files_update(&ring_, static_cast<unsigned>(slot), &fd, 1) != 1) return {fd, -1};
  free_slots_.pop_back();
  return {fd, slot};
}

void Ring::forget(const File& file) {
  if (file.slot < 0) return;
  int none = -1;
  io_uring_register_files_update(&ring_, static_cast<unsigned>(file.slot), &none, 1);
  free_slots_.push_back(file.slot);
}

}  // namespace netdyno::uring_worker
