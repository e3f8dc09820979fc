#include "h2grpc/body.h"

#include <algorithm>
#include <utility>

namespace netdyno::h2grpc {

namespace {

/// Moves bytes behind text until it has so many. Whether it has them then.
bool fill(std::string& text, std::string_view& bytes, std::size_t size) {
  const std::size_t n = std::min(size - text.size(), bytes.size());
  text.append(bytes.substr(0, n));
  bytes.remove_prefix(n);
  return text.size() == size;
}

}  // namespace

bool refuse(h2::Incoming& in, Code code, std::string why) {
  in.fault = code;
  in.why = std::move(why);
  return false;
}

bool refuse_longer(h2::Incoming& in, const std::string& incoming, std::int64_t most) {
  return refuse(in, resource_exhausted,
                "the " + incoming + " has a message longer than option max_message, " + std::to_string(most) +
                    " bytes");
}

bool UnaryBody::data(h2::Incoming& in, std::string_view bytes) const {
  const std::int64_t most = most_ + static_cast<std::int64_t>(kPrefix);
  in.bytes += static_cast<std::int64_t>(bytes.size());
  if (in.bytes > most) return refuse_longer(in, payload_.incoming(), most_);
  in.kept.append(bytes);
  return true;
}

bool TalkBody::data(h2::Incoming& in, std::string_view bytes) const {
  while (!bytes.empty()) {
    if (one_ && in.whole > 0) {
      return refuse(in, internal, "the stream holds more than one " + payload_.incoming());
    }
    if (in.kept.size() < kPrefix && !fill(in.kept, bytes, kPrefix)) return true;
    const std::size_t size = size_behind(in.kept);
    if (static_cast<std::int64_t>(size) > most_) return refuse_longer(in, payload_.incoming(), most_);
    if (!fill(in.kept, bytes, kPrefix + size)) return true;
    Taken taken = payload_.take(in.kept);
    if (taken.code != ok) return refuse(in, taken.code, std::move(taken.why));
    in.whole++;
    in.received += taken.bytes;
    if (!one_) in.kept.clear();
  }
  return true;
}

Taken TalkBody::end(const h2::Incoming& in) const {
  if (one_ ? in.whole > 0 : in.kept.empty()) return {in.received, ok, ""};
  return {0, internal, "the stream ended before its " + payload_.incoming() + " was complete"};
}

}  // namespace netdyno::h2grpc
