#include "kit/pipeline.h"

#include <algorithm>
#include <bit>
#include <string>

namespace netdyno {

Pipeline::Pipeline(std::uint32_t number, std::span<Slot> slots, const EchoPayload& payload, Agenda& agenda)
    : number_(number), slots_(slots), payload_(payload), agenda_(agenda) {}

void Pipeline::begin(std::int64_t now) {
  // Room for one message more than are written at once, so that surplus shows.
  // An idle connection keeps one byte, to notice that it is lost.
  capacity_ = slots_.empty() ? 1 : payload_.copies().size() + payload_.size();
  buffer_ = std::make_unique_for_overwrite<char[]>(capacity_);
  flights_.resize(std::bit_ceil(std::max<std::size_t>(1, slots_.size())));
  mask_ = flights_.size() - 1;
  agenda_.hold(slots_.size());
  for (std::uint32_t slot = 0; slot < slots_.size(); slot++) ask(slot, now);
}

void Pipeline::ask(std::uint32_t slot, std::int64_t now) {
  std::int64_t due = 0;
  if (!slots_[slot].next(now, due)) {
    agenda_.let_go();
  } else if (due <= now) {
    send(slot);
  } else {
    agenda_.wait({due, number_, slot});
  }
}

std::span<const char> Pipeline::outgoing(std::int64_t now) {
  const std::size_t size = payload_.size();
  const std::size_t offset = rest_ == 0 ? 0 : size - rest_;
  const std::size_t room = payload_.copies().size() - offset;
  const std::size_t bytes = std::min(room, rest_ + static_cast<std::size_t>(queued_ - begun_) * size);
  std::size_t included = bytes > rest_ ? (bytes - rest_ + size - 1) / size : 0;
  for (std::uint64_t i = begun_; included > 0; i++, included--) flights_[i & mask_].sent = now;
  return payload_.copies().subspan(offset, bytes);
}

void Pipeline::written(std::size_t n) {
  if (n < rest_) {
    rest_ -= n;
    return;
  }
  n -= rest_;
  const std::size_t size = payload_.size();
  const std::size_t messages = (n + size - 1) / size;
  begun_ += messages;
  rest_ = messages * size - n;
}

void Pipeline::received(std::size_t n, std::int64_t now) {
  const std::size_t size = payload_.size();
  filled_ += n;
  have_ += n;
  while (have_ >= size && answered_ < begun_) {
    have_ -= size;
    const Flight flight = flights_[answered_++ & mask_];
    slots_[flight.slot].done(flight.sent, now, static_cast<std::int64_t>(size));
    ask(flight.slot, now);
  }
  if (have_ == 0) filled_ = 0;
  if (have_ > 0 && answered_ == begun_) {
    throw contract::Failure(contract::ErrorKind::invalid,
                            "receive: " + std::to_string(have_) + " bytes that answer no exchange");
  }
}

void Pipeline::abandon(contract::ErrorKind kind, std::int64_t now) {
  agenda_.forget(number_);
  for (; answered_ < queued_; answered_++) {
    slots_[flights_[answered_ & mask_].slot].fail(kind, now);
    agenda_.let_go();
  }
  begun_ = queued_;
  rest_ = 0;
}

}  // namespace netdyno
