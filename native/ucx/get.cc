#include <utility>

#include "ucx/context.h"
#include "ucx/operations.h"
#include "ucx/words.h"

namespace netdyno::ucx {

namespace {

// Kinds of active messages.
constexpr std::uint64_t kRegion = 1;    // address, size and key of memory with messages
constexpr std::uint64_t kMessages = 2;  // the region and the size of each
constexpr std::uint64_t kGot = 3;       // how many of them the receiver has got

/// Regions of one connection: a flow has few different messages.
constexpr std::size_t kMaxRegions = 64;
constexpr std::size_t kRegionWords = 2;

}  // namespace

void GetChannel::release() {
  for (const Region& region : regions_) ucp_rkey_destroy(region.key);
  regions_.clear();
}

void GetChannel::send(std::span<const char> message) {
  require_whole();
  const Sources::Source source = engine().sources().of(message);
  while (introduced_ <= source.number) introduce(engine().sources().at(introduced_++));
  announcement_.push_back(source.number);
  announcement_.push_back(message.size());
  outstanding(1);
}

void GetChannel::introduce(const Memory& source) {
  const std::uint64_t place[kRegionWords] = {reinterpret_cast<std::uint64_t>(source.data()), source.size()};
  say(kRegion, words(place) + source.key());
}

void GetChannel::flush() {
  require_whole();
  if (announcement_.empty()) return;
  say(kMessages, words(announcement_));
  announcement_.clear();
}

ucs_status_t GetChannel::heard(std::uint64_t kind, void* bytes, std::size_t size, bool descriptor) {
  const std::string_view said(static_cast<const char*>(bytes), descriptor ? 0 : size);
  if (kind == kRegion) {
    meet(said);
  } else if (kind == kMessages) {
    announced(numbers(said));
  } else if (const auto got = numbers(said); kind == kGot && got.size() == 1) {
    outstanding(-static_cast<std::int64_t>(got[0]));
  } else {
    fail("an active message came that the other end had no reason for");
  }
  return UCS_OK;
}

void GetChannel::meet(std::string_view region) {
  constexpr std::size_t kPlace = kRegionWords * sizeof(std::uint64_t);
  if (region.size() <= kPlace || regions_.size() >= kMaxRegions) {
    fail("the other end named too many regions of memory, or one without a key");
    return;
  }
  const auto place = numbers(region.substr(0, kPlace));
  ucp_rkey_h key = nullptr;
  const ucs_status_t status = ucp_ep_rkey_unpack(endpoint(), region.data() + kPlace, &key);
  if (status != UCS_OK) {
    fail("unpack a key of memory: " + reason(status));
    return;
  }
  regions_.push_back({place[0], place[1], key});
}

void GetChannel::announced(std::span<const std::uint64_t> messages) {
  for (std::size_t i = 0; i + 1 < messages.size(); i += 2) {
    if (messages[i] >= regions_.size() || messages[i + 1] > regions_[messages[i]].size) {
      fail("the other end announced a message outside its memory");
      return;
    }
    Fetch fetch;
    fetch.region = messages[i];
    fetch.size = messages[i + 1];
    queue(std::move(fetch));
  }
}

ucs_status_ptr_t GetChannel::begin(const Fetch& fetch, char* to, UnderWay* context) {
  const Region& region = regions_[fetch.region];
  ucp_request_param_t param = parameters(context);
  param.op_attr_mask |= UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  param.memory_type = engine().memories().type();
  param.cb.send = [](void* request, ucs_status_t status, void* at) {
    fetched(request, status, static_cast<UnderWay*>(at));
  };
  return ucp_get_nbx(endpoint(), to, fetch.size, region.address, region.key, &param);
}

void GetChannel::taken() {
  if (unanswered_++ == 0) engine().settle(*this);
}

void GetChannel::settle() {
  const std::uint64_t got = std::exchange(unanswered_, 0);
  if (got > 0 && broken().empty()) say(kGot, words({&got, 1}));
}

}  // namespace netdyno::ucx
