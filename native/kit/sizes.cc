#include "kit/sizes.h"

#include <numeric>
#include <utility>

namespace netdyno {

namespace {

/// What all histograms of bins, and of classes, may take of the result's line, in bytes.
constexpr std::int64_t kMostBinText = 256 << 10;
constexpr std::int64_t kMostClassText = 512 << 10;

/// Encodes a histogram while there is room.
void put(const Histogram* times, std::string& to, std::int64_t& room) {
  if (times == nullptr || times->count() == 0) return;
  std::string text = times->encode();
  room -= static_cast<std::int64_t>(text.size());
  if (room >= 0) to = std::move(text);
}

}  // namespace

Histogram* SharedTimes::made() {
  auto fresh = std::make_unique<Histogram>();
  Histogram* first = nullptr;
  if (!times_.compare_exchange_strong(first, fresh.get(), std::memory_order_acq_rel)) return first;
  return fresh.release();
}

void SizedTimes::record(const Of& of, const Waits* waits) {
  Bin& bin = bins_[static_cast<std::size_t>(of.bin)];
  const std::int64_t due = open_ ? of.due : of.sent;
  if (open_) bin.service.record(of.now - of.sent, alone_);
  const bool small = waits != nullptr && of.bin <= largest_ - kBinsApart;
  SharedTimes& to = !small ? bin.whole : waits->behind(of.bin, due, of.sent) ? bin.behind : bin.free;
  to.record(of.now - due, alone_);
  if (classes_.empty()) return;
  ClassTimes& times = classes_[static_cast<std::size_t>(of.of_class)];
  times.service.record(of.now - of.sent, alone_);
  if (open_) times.response.record(of.now - of.due, alone_);
}

std::vector<contract::SizeBin> SizedTimes::bins() const {
  std::vector<contract::SizeBin> all;
  std::int64_t room = kMostBinText;
  for (int i = 0; i < kMostBins; i++) {
    const Bin& bin = bins_[static_cast<std::size_t>(i)];
    Histogram times;
    for (const SharedTimes* part : {&bin.whole, &bin.behind, &bin.free}) {
      if (part->get() != nullptr) times.merge(*part->get());
    }
    if (times.count() == 0) continue;
    contract::SizeBin& out = all.emplace_back();
    out.from_bytes = i == 0 ? 0 : std::int64_t{64} << (2 * (i - 1));
    out.to_bytes = std::int64_t{64} << (2 * i);
    put(open_ ? bin.service.get() : &times, out.service, room);
    if (open_) put(&times, out.response, room);
    put(bin.behind.get(), out.behind, room);
    put(bin.free.get(), out.free, room);
  }
  return all;
}

/// Where not all would fit into a line, those of the rarest are left out.
void SizedTimes::add_to(std::vector<contract::ClassResult>& classes) const {
  std::vector<std::size_t> order(classes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&classes](std::size_t a, std::size_t b) {
    return classes[a].exchanges > classes[b].exchanges;
  });
  std::int64_t room = kMostClassText;
  for (const std::size_t i : order) {
    put(classes_[i].service.get(), classes[i].service, room);
    put(classes_[i].response.get(), classes[i].response, room);
  }
}

}  // namespace netdyno
