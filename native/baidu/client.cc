#include "baidu/client.h"

#include <string>

namespace netdyno::baidu {

using contract::ErrorKind;
using contract::Failure;

namespace {

constexpr std::int64_t kVerificationId = 1;

/// The meta of a request.
Meta asking(std::int64_t id) {
  Meta meta;
  meta.service = kService;
  meta.method = kMethod;
  meta.correlation_id = id;
  return meta;
}

/// The contract's kind of a reply's error code.
ErrorKind kind_of(std::int32_t code) {
  switch (code) {
    case kTimedOut:
      return ErrorKind::timeout;
    case kLogOff:
    case kLostSocket:
      return ErrorKind::peer;
    default:
      return ErrorKind::invalid;
  }
}

[[noreturn]] void unasked(const std::string& at, std::int64_t id) {
  throw Failure(ErrorKind::invalid, at + ": a reply to call " + std::to_string(id) + ", which nobody made");
}

/// The size of a connection's first read buffer. An idle connection needs few bytes, to
/// notice that it is lost.
std::size_t read_size(const Buffers& buffers, const Calls& calls) {
  return calls.slots() == 0 ? kHeaderSize : buffers.read;
}

}  // namespace

BaiduClient::BaiduClient(const Content& content, const Buffers& buffers, Calls calls)
    : content_(content),
      calls_(std::move(calls)),
      reader_(read_size(buffers, calls_), buffers.max_body),
      out_(content, buffers.write) {}

void BaiduClient::gather() {
  out_.clear();
  batch_.clear();
  begun_ = 0;
  while (calls_.waiting() && out_.takes()) {
    const std::uint32_t slot = calls_.take();
    batch_.push_back({slot, out_.size()});
    out_.add(asking(calls_.id(slot)));
  }
}

std::span<const char> BaiduClient::outgoing(std::int64_t now) {
  if (out_.empty()) gather();
  for (std::size_t i = begun_; i < batch_.size(); i++) calls_.sending(batch_[i].slot, now);
  return out_.rest();
}

void BaiduClient::written(std::size_t n) {
  out_.written(n);
  while (begun_ < batch_.size() && batch_[begun_].begin < out_.done()) calls_.sent(batch_[begun_++].slot);
}

void BaiduClient::received(std::size_t n, std::int64_t now) {
  reader_.received(n);
  try {
    while (const auto reply = reader_.next()) answered(*reply, now);
  } catch (const Malformed& malformed) {
    throw Failure(ErrorKind::invalid, std::string("receive: ") + malformed.what());
  }
}

void BaiduClient::answered(const Frame& reply, std::int64_t now) {
  const auto slot = calls_.find(reply.meta.correlation_id);
  if (!slot) unasked("receive", reply.meta.correlation_id);
  if (reply.meta.error_code != 0) return calls_.fail(*slot, kind_of(reply.meta.error_code), now);
  const Verdict verdict = content_.accept(reply);
  if (verdict.fault != Fault::none) return calls_.fail(*slot, ErrorKind::invalid, now);
  calls_.done(*slot, verdict.found, now);
}

void BaiduClient::abandon(ErrorKind kind, std::int64_t now) {
  calls_.abandon(kind, now);
  out_.clear();
  batch_.clear();
  begun_ = 0;
}

VerificationCall::VerificationCall(const Content& content, const Buffers& buffers, std::int64_t connection)
    : content_(content),
      connection_(connection),
      reader_(buffers.read, buffers.max_body),
      out_(content, buffers.write) {}

void VerificationCall::begin(std::int64_t) { out_.add(asking(kVerificationId)); }

void VerificationCall::received(std::size_t n, std::int64_t) {
  arrived_ += static_cast<std::int64_t>(n);
  reader_.received(n);
  const std::string at = "verify connection " + std::to_string(connection_);
  try {
    while (const auto reply = reader_.next()) {
      if (verified_ || unsent()) unasked(at, reply->meta.correlation_id);
      verify(*reply);
      verified_ = true;
    }
  } catch (const Malformed& malformed) {
    throw Failure(ErrorKind::invalid, at + ": " + malformed.what());
  }
  if (verified_ && reader_.torn()) {
    throw Failure(ErrorKind::invalid, at + ": bytes came after the reply that answer no call");
  }
}

void VerificationCall::verify(const Frame& reply) const {
  const std::string at = "verify connection " + std::to_string(connection_);
  const Meta& meta = reply.meta;
  if (meta.correlation_id != kVerificationId) unasked(at, meta.correlation_id);
  if (meta.error_code != 0) {
    throw Failure(kind_of(meta.error_code),
                  at + ": the server refused: " + std::string(code_name(meta.error_code)) + " (" +
                      std::to_string(meta.error_code) + "): " + std::string(meta.error_text.substr(0, 1000)));
  }
  content_.verify(connection_, reply);
}

}  // namespace netdyno::baidu
