#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>
#include <utility>

#include "kit/contract.h"
#include "verbs/channel.h"

namespace netdyno::verbs {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// Bytes that this process has registered and not given back, of all threads.
std::atomic<std::uint64_t> held{0};

Registration registered(ibv_pd& domain, void* memory, std::size_t bytes, int access, bool on_device) {
  Registration registration(ibv_reg_mr(&domain, memory, bytes, access));
  if (!registration) {
    const int code = errno;
    if (on_device) {
      throw Failure(ErrorKind::unsupported,
                    "option memory is cuda: register " + std::to_string(bytes) +
                        " bytes of the GPU's memory: " + std::generic_category().message(code) +
                        "; the card's driver reaches it by the kernel's module nvidia-peermem (modprobe "
                        "nvidia-peermem)");
    }
    rlimit limit{};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    throw Failure(ErrorKind::setup, reason_of(Refused{code, bytes, held, limit.rlim_cur}));
  }
  held += bytes;
  return registration;
}

bool holds(const ibv_mr& registration, std::uintptr_t from, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(registration.addr);
  return from >= begin && from + bytes <= begin + registration.length;
}

}  // namespace

namespace {

/// Memory where the store says, of whole pages.
char* allocated(const Store& store, std::size_t bytes) {
  if (store.on_device()) return store.cuda->allocate(bytes);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw Failure(ErrorKind::setup, failed("allocate " + std::to_string(bytes) + " bytes"));
  return static_cast<char*>(memory);
}

}  // namespace

void Pages::Release::operator()(char* memory) const {
  held -= registered;
  try {
    if (store.on_device()) return store.cuda->free(memory);
    if (store.cuda) store.cuda->unpin(memory);
  } catch (const Failure&) {  // the driver is going, and takes the memory with it
  }
  if (!store.on_device()) munmap(memory, bytes);
}

Pages::Pages(ibv_pd& domain, const Store& store, std::size_t bytes, int access)
    : memory_(allocated(store, bytes), Release{store.on_device() ? store : Store{}, bytes}) {
  if (store.place == Place::staged) {
    store.cuda->pin(memory_.get(), bytes);
    memory_.get_deleter().store = store;
  }
  registration_ = registered(domain, memory_.get(), bytes, access, store.on_device());
  memory_.get_deleter().registered = bytes;
}

std::span<const char> Shared::lying(std::span<const char> message) {
  if (!store.on_device()) return message;
  return {copies.of(message).data(), message.size()};
}

std::span<const char> Shared::readable(std::span<const char> message) {
  if (!store.on_device()) return message;
  read.resize(message.size());
  store.cuda->to_host(read, message.data());
  return read;
}

const ibv_mr& PinDownCache::of(std::span<const char> bytes) {
  const auto from = reinterpret_cast<std::uintptr_t>(bytes.data());
  if (last_ != nullptr && holds(*last_, from, bytes.size())) return *last_;
  const auto behind = by_end_.lower_bound(from + bytes.size());
  if (behind != by_end_.end() && holds(*behind->second, from, bytes.size()))
    return *(last_ = behind->second.get());
  // Whole pages, because those are what is pinned; neighbours come with them. A device has pages
  // of its own, which its driver knows.
  const auto page = on_device_ ? 1 : static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = from / page * page;
  const std::uintptr_t end = (from + bytes.size() + page - 1) / page * page;
  // The card only reads what a trial sends.
  auto made =
      registered(domain_, reinterpret_cast<void*>(begin), end - begin, IBV_ACCESS_REMOTE_READ, on_device_);
  auto& kept = by_end_[end];
  if (kept == nullptr || kept->length < made->length) std::swap(kept, made);
  return *(last_ = kept.get());
}

// How a channel's queue pair comes into being and is connected.

namespace {

/// Room is granted by a message of its own when this part of it is free.
constexpr std::uint32_t kGrantParts = 4;

/// Times of the card's own retries: 4.096 µs × 2^16 are 268 ms, seven times.
constexpr std::uint8_t kTimeout = 16;
constexpr std::uint8_t kRetries = 7;
constexpr std::uint8_t kReceiverWaits = 12;  // 0.64 ms

}  // namespace

void Channel::make_queue_pair() {
  const Candidate& port = shared_.card.port();
  ibv_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = shared_.completions.get();
  attr.qp_type = IBV_QPT_RC;
  attr.cap = {depth_, receives_, 1, 1, inline_bytes_};
  queue_pair_.reset(ibv_create_qp(&shared_.card.domain(), &attr));
  if (!queue_pair_) {
    const std::string why = failed("make a queue pair of " + port_name(port) + " with " +
                                   std::to_string(depth_) + " requests, " + std::to_string(receives_) +
                                   " receives and " + std::to_string(inline_bytes_) + " bytes inline");
    throw Failure(ErrorKind::setup, why + "; the device takes " +
                                        std::to_string(shared_.card.limits().max_qp_wr) +
                                        " requests; try a smaller opt.window or opt.inline");
  }
  ibv_qp_attr init{};
  init.qp_state = IBV_QPS_INIT;
  init.port_num = static_cast<std::uint8_t>(port.port);
  init.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  errno = ibv_modify_qp(queue_pair_.get(), &init,
                        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  if (errno != 0) throw Failure(ErrorKind::setup, failed("prepare a queue pair of " + port_name(port)));
}

Greeting Channel::greeting() const {
  const Candidate& port = shared_.card.port();
  Greeting mine;
  mine.operation = shared_.settings.operation;
  mine.mtu_bytes = shared_.card.mtu_bytes();
  mine.lid = port.lid;
  mine.gid = port.gid;
  mine.queue_pair = queue_pair_->qp_num;
  mine.first_packet = first_packet_;
  mine.reads = static_cast<std::uint32_t>(std::clamp(shared_.card.limits().max_qp_rd_atom, 1, 255));
  mine.slots = slots_;
  mine.slot_bytes = slot_bytes_;
  mine.ring = reinterpret_cast<std::uintptr_t>(ring_.at(0));
  mine.ring_key = ring_.registration().rkey;
  return mine;
}

void Channel::connect(const Greeting& theirs) {
  const Candidate& port = shared_.card.port();
  if (theirs.operation != shared_.settings.operation) {
    throw Failure(ErrorKind::setup, "the other end has opt.operation=" + std::string(name(theirs.operation)) +
                                        ", this one " + std::string(name(shared_.settings.operation)) +
                                        "; both ends must have the same");
  }
  theirs_ = theirs;
  window_ = std::min(shared_.settings.window, theirs.slots);
  grant_ = (std::min(slots_, theirs.slots) + kGrantParts - 1) / kGrantParts;

  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = mtu_of(std::min(theirs.mtu_bytes, shared_.card.mtu_bytes()));
  attr.dest_qp_num = theirs.queue_pair;
  attr.rq_psn = theirs.first_packet;
  attr.max_dest_rd_atomic = static_cast<std::uint8_t>(greeting().reads);
  attr.min_rnr_timer = kReceiverWaits;
  attr.ah_attr.port_num = static_cast<std::uint8_t>(port.port);
  attr.ah_attr.dlid = theirs.lid;
  attr.ah_attr.is_global = 1;
  std::copy(theirs.gid.begin(), theirs.gid.end(), std::begin(attr.ah_attr.grh.dgid.raw));
  attr.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(port.gid_index);
  attr.ah_attr.grh.hop_limit = 64;
  errno = ibv_modify_qp(queue_pair_.get(), &attr,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                            IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (errno != 0) {
    throw Failure(ErrorKind::setup,
                  failed("connect " + port_name(port) + " gid " + std::to_string(port.gid_index) + " (" +
                         text(port.gid) + ") to " + text(theirs.gid)) +
                      "; each end's GID must be of one network and one kind");
  }
  const auto most = static_cast<std::uint32_t>(std::clamp(shared_.card.limits().max_qp_init_rd_atom, 1, 255));
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = kTimeout;
  attr.retry_cnt = attr.rnr_retry = kRetries - 1;  // seven would be for ever for the latter
  attr.sq_psn = first_packet_;
  attr.max_rd_atomic = static_cast<std::uint8_t>(std::min(most, theirs.reads));
  errno = ibv_modify_qp(queue_pair_.get(), &attr,
                        IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                            IBV_QP_MAX_QP_RD_ATOMIC);
  if (errno != 0) throw Failure(ErrorKind::setup, failed("open the send queue of " + port_name(port)));
}

}  // namespace netdyno::verbs
