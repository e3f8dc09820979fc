#include "baidu/server.h"

#include <string>

namespace netdyno::baidu {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// Whether a request's service is this one. Like brpc's servers, this accepts the name
/// without its package, which jprotobuf's clients send.
bool is_ours(std::string_view service) {
  return service == kService || service == kService.substr(kService.rfind('.') + 1);
}

std::string unknown() {
  return "no such method serves this trial, expected /" + std::string(kService) + "/" + std::string(kMethod);
}

}  // namespace

BaiduServer::BaiduServer(const Content& content, const Buffers& buffers, Traffic& traffic)
    : content_(content),
      traffic_(traffic),
      reader_(buffers.read, buffers.max_body),
      out_(content, buffers.write) {}

BaiduServer::~BaiduServer() {
  if (open_) traffic_.connections.add(-1);
}

void BaiduServer::begin(std::int64_t) {
  open_ = true;
  traffic_.connections.add(1);
}

void BaiduServer::received(std::size_t n, std::int64_t) {
  reader_.received(n);
  answers_.clear();
  gathered_ = 0;
  try {
    while (const auto request = reader_.next()) {
      const Answer answer = judge(*request);
      answers_.push_back(answer);
      if (answer.code == 0) {
        traffic_.received.add(answer.found);
      } else {
        traffic_.invalid.add(1);
      }
    }
  } catch (const Malformed& malformed) {
    broken_ = true;
    traffic_.invalid.add(1);
    throw Failure(ErrorKind::invalid, std::string("receive: ") + malformed.what());
  }
}

BaiduServer::Answer BaiduServer::judge(const Frame& request) const {
  const Meta& meta = request.meta;
  const std::int64_t id = meta.correlation_id;
  if (!meta.service || !is_ours(*meta.service)) return {.id = id, .code = kNoService};
  if (*meta.method != kMethod) return {.id = id, .code = kNoMethod};
  const Verdict verdict = content_.accept(request);
  const std::int32_t code = verdict.fault == Fault::none ? 0 : kBadRequest;
  return {.id = id, .code = code, .fault = verdict.fault, .found = verdict.found};
}

std::span<const char> BaiduServer::outgoing(std::int64_t) {
  if (out_.empty()) {
    out_.clear();
    while (gathered_ < answers_.size() && out_.takes()) add(answers_[gathered_++]);
  }
  return out_.rest();
}

void BaiduServer::add(const Answer& answer) {
  Meta meta;
  meta.correlation_id = answer.id;
  if (answer.code == 0) {
    // Counted before it is sent, so that a client never has an exchange that is not counted
    // here.
    traffic_.exchanges.add(1);
    traffic_.sent.add(static_cast<std::int64_t>(content_.sent().size()));
    return out_.add(meta);
  }
  const Verdict verdict{answer.fault, answer.found, {}};
  const std::string text = answer.code == kBadRequest ? content_.explain(verdict, "request") : unknown();
  meta.error_code = answer.code;
  meta.error_text = text;
  out_.add_empty(meta);
}

void BaiduServer::abandon(ErrorKind, std::int64_t) {
  // A frame was cut off. Bytes that are no frame were counted when they arrived.
  if (!broken_ && reader_.torn()) traffic_.invalid.add(1);
}

}  // namespace netdyno::baidu
