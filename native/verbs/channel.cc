#include "verbs/channel.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "kit/contract.h"
#include "kit/random.h"
#include "kit/system.h"

namespace netdyno::verbs {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// A connection's receive buffers are no larger than this together, in bytes.
constexpr std::size_t kMaxRing = 64U << 20;
/// Grants that are messages of their own: four parts of the room, and one that was
/// begun.
constexpr std::uint32_t kGrantsUnderWay = 6;
/// Requests that are no messages: grants, and what is not signalled yet.
constexpr std::uint32_t kReserve = 16;
/// Messages that one announcement names.
constexpr std::size_t kAnnounced = 32;
constexpr std::size_t kNoteBytes = kAnnounced * 16;

/// In a message's immediate, above the number of slots that were freed.
constexpr std::uint32_t kOnlyCounts = 1U << 31;

/// A request's number: its kind, and the count of those posted.
constexpr unsigned kKindShift = 62;
constexpr std::uint64_t kCount = (std::uint64_t{1} << kKindShift) - 1;

std::uint32_t slots_of(const Settings& settings, std::size_t max_message) {
  const auto fit = static_cast<std::uint32_t>(std::clamp<std::size_t>(kMaxRing / max_message, 2, 1U << 16));
  return std::min(settings.window, fit);
}

}  // namespace

std::uint32_t Channel::completions_of(const Settings& settings, std::size_t max_message) {
  const std::uint32_t slots = slots_of(settings, max_message);
  return (slots + kGrantsUnderWay) + (2 * settings.window + 2 * kReserve);
}

Channel::Channel(Shared& shared, std::size_t max_message)
    : shared_(shared),
      slots_(slots_of(shared.settings, max_message)),
      slot_bytes_(static_cast<std::uint32_t>((max_message + 63) / 64 * 64)),
      receives_(slots_ + kGrantsUnderWay),
      depth_(2 * shared.settings.window + 2 * kReserve),
      signal_every_(std::clamp<std::uint32_t>(shared.settings.window / 4, 1, kReserve)),
      // What goes with the request the processor copies, which cannot read the device.
      inline_bytes_(shared.store.on_device() ? 0 : shared.settings.inline_bytes) {
  const Operation operation = shared.settings.operation;
  const std::size_t buffers = operation == Operation::send ? receives_ : slots_;
  ring_ = Pages(shared.card.domain(), shared.store, buffers * slot_bytes_,
                IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  if (operation == Operation::read) {
    notes_ = Pages(shared.card.domain(), Store{}, (receives_ + shared.settings.window) * kNoteBytes,
                   IBV_ACCESS_LOCAL_WRITE);
  }
  std::uint64_t state = static_cast<std::uint64_t>(now_ns()) ^ reinterpret_cast<std::uintptr_t>(this);
  first_packet_ = static_cast<std::uint32_t>(split_mix(state)) & 0xffffff;
  make_queue_pair();
  for (std::uint32_t i = 0; i < receives_; i++) free_.push_back(i);
  post_receives();
  shared_.channels[queue_pair_->qp_num] = this;
}

Channel::~Channel() { shared_.channels.erase(queue_pair_->qp_num); }

std::uint32_t Channel::used() const { return static_cast<std::uint32_t>(posted_ - reclaimed_); }

bool Channel::full() const { return lost_ || sent_ - granted_ >= window_ || used() + kReserve >= depth_; }

/// Begins a request; the caller completes it. Bytes may be none.
Channel::Request& Channel::request(ibv_wr_opcode opcode, std::span<const char> bytes, std::uint32_t key) {
  if (pending_ == requests_.size()) submit();
  Request& next = requests_[pending_++];
  posted_++;
  next.wr = {};
  next.wr.opcode = opcode;
  next.wr.wr_id = (static_cast<std::uint64_t>(Kind::sent) << kKindShift) | posted_;
  if (!bytes.empty()) {
    next.part = {reinterpret_cast<std::uintptr_t>(bytes.data()), static_cast<std::uint32_t>(bytes.size()),
                 key};
    next.wr.sg_list = &next.part;
    next.wr.num_sge = 1;
  }
  if (opcode != IBV_WR_RDMA_READ && bytes.size() <= inline_bytes_) next.wr.send_flags |= IBV_SEND_INLINE;
  if (++unsignaled_ >= signal_every_) {
    next.wr.send_flags |= IBV_SEND_SIGNALED;
    unsignaled_ = 0;
  }
  return next;
}

/// Hands the requests to the card, all at once.
void Channel::submit() {
  if (pending_ == 0) return;
  for (std::size_t i = 0; i + 1 < pending_; i++) requests_[i].wr.next = &requests_[i + 1].wr;
  requests_[pending_ - 1].wr.next = nullptr;
  pending_ = 0;
  ibv_send_wr* refused = nullptr;
  errno = ibv_post_send(queue_pair_.get(), &requests_[0].wr, &refused);
  if (errno != 0) throw Failure(ErrorKind::peer, failed("post a request"));
}

void Channel::send(std::span<const char> message) {
  if (message.size() > theirs_.slot_bytes) {
    throw Failure(ErrorKind::setup, "send a message of " + std::to_string(message.size()) +
                                        " bytes: the other end's slots have " +
                                        std::to_string(theirs_.slot_bytes));
  }
  sent_++;
  const std::span<const char> bytes = shared_.lying(message);
  if (shared_.settings.operation == Operation::read) {
    announce(bytes);
    return;
  }
  const bool writes = shared_.settings.operation == Operation::write;
  const std::uint32_t key = bytes.size() <= inline_bytes_ ? 0 : shared_.sources.of(bytes).lkey;
  Request& next = request(writes ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_SEND_WITH_IMM, bytes, key);
  next.wr.imm_data = told();
  if (!writes) return;
  const std::uint64_t at = theirs_counts_ ? 0 : (sent_ - 1) % theirs_.slots;
  next.wr.wr.rdma.remote_addr = theirs_.ring + at * theirs_.slot_bytes;
  next.wr.wr.rdma.rkey = theirs_.ring_key;
}

void Channel::announce(std::span<const char> message) {
  const ibv_mr& source = shared_.sources.of(message);
  announcing_.push_back({reinterpret_cast<std::uintptr_t>(message.data()), source.rkey,
                         static_cast<std::uint32_t>(message.size())});
  if (announcing_.size() == kAnnounced) flush();
}

/// Numbers in an announcement are in network byte order, high half first.
void Channel::flush() {
  if (!announcing_.empty()) {
    // The note before last window's is read when the slots of its messages are free.
    char* const note = notes_.at((receives_ + notes_sent_++ % shared_.settings.window) * kNoteBytes);
    std::array<std::uint32_t, 4> words{};
    std::size_t at = 0;
    for (const Announced& each : announcing_) {
      words = {htonl(static_cast<std::uint32_t>(each.address >> 32)),
               htonl(static_cast<std::uint32_t>(each.address)), htonl(each.key), htonl(each.bytes)};
      std::memcpy(note + at, words.data(), sizeof words);
      at += sizeof words;
    }
    announcing_.clear();
    Request& next = request(IBV_WR_SEND_WITH_IMM, {note, at}, notes_.registration().lkey);
    next.wr.imm_data = told();
  }
  submit();
}

void Channel::completed(const ibv_wc& completion, MessageEngine::Arrivals& arrivals) {
  if (lost_) return;
  const std::uint64_t number = completion.wr_id & kCount;
  try {
    if (completion.status != IBV_WC_SUCCESS) throw Failure(ErrorKind::peer, reason_of(completion));
    switch (static_cast<Kind>(completion.wr_id >> kKindShift)) {
      case Kind::receive:
        received(number, completion, arrivals);
        break;
      case Kind::sent:
        reclaim(number);
        break;
      case Kind::read:
        reclaim(number & 0x3fffffff);
        for (std::uint64_t done = number >> 30; done > 0; done--) {
          const std::uint32_t bytes = pulls_.front();
          pulls_.pop_front();
          deliver(slot(arrived_, bytes), arrivals);
        }
        break;
    }
  } catch (const Failure& failure) {
    lost_ = true;
    arrivals.lost(*this, failure.what());
  }
}

/// The requests up to this number, whose low bits are given, have left the send queue:
/// they complete in order.
void Channel::reclaim(std::uint64_t posted) {
  constexpr std::uint64_t kLow = 0x3fffffff;
  reclaimed_ += (posted - reclaimed_) & kLow;
}

/// Where in the ring a message lies: all in the first slot once nobody looks, which
/// stays in the processor's cache.
std::size_t Channel::offset(std::uint64_t number) const {
  return counting_ ? 0 : static_cast<std::size_t>(number) * slot_bytes_;
}

std::span<const char> Channel::slot(std::uint64_t number, std::size_t bytes) const {
  return {ring_.at(offset(number % slots_)), bytes};
}

/// What the next message's immediate tells the other end.
std::uint32_t Channel::told() { return htonl(std::exchange(owed_, 0) | (counting_ ? kOnlyCounts : 0)); }

void Channel::deliver(std::span<const char> message, MessageEngine::Arrivals& arrivals) {
  arrived_++;
  owed_++;
  arrivals.arrived(*this, counting_ ? message : shared_.readable(message));
}

void Channel::received(std::uint64_t buffer, const ibv_wc& completion, MessageEngine::Arrivals& arrivals) {
  free_.push_back(static_cast<std::uint32_t>(buffer));
  const std::uint32_t heard = ntohl(completion.imm_data);
  theirs_counts_ = (heard & kOnlyCounts) != 0;
  granted_ += heard & ~kOnlyCounts;
  if (granted_ > sent_)
    throw Failure(ErrorKind::invalid, "the other end freed more slots than messages were sent");
  const std::size_t bytes = completion.byte_len;
  if (bytes == 0) return;
  const bool reads = shared_.settings.operation == Operation::read;
  if (bytes > (reads ? kNoteBytes : slot_bytes_)) {
    throw Failure(ErrorKind::invalid,
                  "a message of " + std::to_string(bytes) + " bytes came, which no slot holds");
  }
  if (!reads) {
    const bool sends = shared_.settings.operation == Operation::send;
    deliver(sends ? std::span<const char>(ring_.at(offset(buffer)), bytes) : slot(arrived_, bytes), arrivals);
    return;
  }
  std::array<std::uint32_t, 4> words{};
  for (std::size_t at = 0; at + sizeof words <= bytes; at += sizeof words) {
    std::memcpy(words.data(), notes_.at(buffer * kNoteBytes + at), sizeof words);
    const Announced message{(std::uint64_t{ntohl(words[0])} << 32) | ntohl(words[1]), ntohl(words[2]),
                            ntohl(words[3])};
    if (message.bytes == 0 || message.bytes > slot_bytes_ || wanted_.size() + pulls_.size() >= slots_) {
      throw Failure(ErrorKind::invalid, "a message of " + std::to_string(message.bytes) +
                                            " bytes was announced, for which no slot is free");
    }
    wanted_.push_back(message);
  }
}

/// Reads what was announced, and has the card tell when the last of it is there.
void Channel::read_announced() {
  std::uint64_t asked = 0;
  while (!wanted_.empty() && used() + kReserve < depth_) {
    const Announced message = wanted_.front();
    wanted_.pop_front();
    pulls_.push_back(message.bytes);
    Request& next = request(IBV_WR_RDMA_READ, slot(arrived_ + pulls_.size() - 1, message.bytes),
                            ring_.registration().lkey);
    next.wr.wr.rdma.remote_addr = message.address;
    next.wr.wr.rdma.rkey = message.key;
    asked++;
    // A message may be delivered while the next ones are still on their way.
    if (!wanted_.empty() && asked < signal_every_ && used() + kReserve + 1 < depth_) {
      if ((next.wr.send_flags & IBV_SEND_SIGNALED) == 0) continue;
    }
    next.wr.send_flags |= IBV_SEND_SIGNALED;
    next.wr.wr_id =
        (static_cast<std::uint64_t>(Kind::read) << kKindShift) | asked << 30 | (posted_ & 0x3fffffff);
    unsignaled_ = 0;
    asked = 0;
  }
}

void Channel::settle() {
  if (lost_) return;
  post_receives();
  read_announced();
  if (owed_ >= grant_) {
    request(IBV_WR_SEND_WITH_IMM, {}, 0).wr.imm_data = told();
  }
  submit();
}

/// Posts the receives that were used. Those of a ring that the other end writes to have
/// no buffer.
void Channel::post_receives() {
  constexpr std::size_t kBatch = 32;
  const Operation operation = shared_.settings.operation;
  while (!free_.empty()) {
    std::array<ibv_recv_wr, kBatch> requests{};
    std::array<ibv_sge, kBatch> parts{};
    std::size_t count = 0;
    for (; count < kBatch && !free_.empty(); count++) {
      const std::uint32_t buffer = free_.back();
      free_.pop_back();
      ibv_recv_wr& next = requests[count];
      next.wr_id = (static_cast<std::uint64_t>(Kind::receive) << kKindShift) | buffer;
      if (count > 0) requests[count - 1].next = &next;
      if (operation == Operation::write) continue;
      const bool notes = operation == Operation::read;
      const Pages& pages = notes ? notes_ : ring_;
      const std::size_t bytes = notes ? kNoteBytes : slot_bytes_;
      parts[count] = {reinterpret_cast<std::uintptr_t>(pages.at(notes ? buffer * bytes : offset(buffer))),
                      static_cast<std::uint32_t>(bytes), pages.registration().lkey};
      next.sg_list = &parts[count];
      next.num_sge = 1;
    }
    ibv_recv_wr* refused = nullptr;
    errno = ibv_post_recv(queue_pair_.get(), &requests[0], &refused);
    if (errno != 0) throw Failure(ErrorKind::peer, failed("post a receive"));
  }
}

}  // namespace netdyno::verbs
