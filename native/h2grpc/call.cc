#include "h2grpc/call.h"

#include <algorithm>
#include <charconv>

#include "kit/address.h"

namespace netdyno::h2grpc {

using contract::ErrorKind;
using grpc_worker::Contents;

namespace {

constexpr char kType[] = "application/grpc";
/// The library's receive limit in every language, in bytes.
constexpr std::int64_t kUsualMessage = 4 << 20;
/// How much of a status's text is kept, in bytes.
constexpr std::size_t kMostText = 200;
constexpr std::size_t kMinRead = 4 << 10;
constexpr std::size_t kMaxRead = 128 << 10;

bool is_raw(const contract::Setup& setup) { return setup.options.at("codec") == "raw"; }

/// Bytes that are kept of a body: a message that is too long is told by its first byte more.
void keep(std::string& kept, std::string_view bytes, std::int64_t most) {
  const auto room = static_cast<std::size_t>(most) + 1 - kept.size();
  kept.append(bytes.substr(0, room));
}

/// A status's text as a header may hold it: percent-encoded.
std::string escaped(std::string_view text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (c >= ' ' && c <= '~' && c != '%') {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

ErrorKind kind_of(int code) {
  switch (code) {
    case unavailable:
    case cancelled:
      return ErrorKind::peer;
    case deadline_exceeded:
      return ErrorKind::timeout;
    default:
      return ErrorKind::invalid;
  }
}

}  // namespace

std::string path_of(const contract::Exchange& exchange) {
  const std::string service = "/netdyno.v1.Exchange/";
  if (!exchange.message) return service + "Unary";
  return service + (exchange.message->name == "simple" ? "Simple" : "Complex");
}

std::int64_t max_message(const contract::Setup& setup, const Contents& contents) {
  const auto asked = setup.options.at("max_message").get<std::int64_t>();
  if (asked > 0) return asked;
  const bool client = setup.role == contract::Role::client;
  constexpr std::int64_t kFraming = 64;  // of a Block
  return std::max(kUsualMessage, (client ? contents.down() : contents.up()).size + kFraming);
}

GrpcAsking::GrpcAsking(const contract::Setup& setup, const Contents& contents)
    : payload_(make_payload(contents.up(), contents.down(), "reply", is_raw(setup))),
      most_(max_message(setup, contents) + static_cast<std::int64_t>(kPrefix)),
      compare_(setup.options.at("verify") == "content") {
  for (const Route& route : routes(setup)) {
    h2::Fields& fields = headers_.emplace_back();
    fields.add(":method", "POST");
    fields.add(":scheme", setup.tls ? "https" : "http");
    fields.add(":path", path_of(setup.exchange));
    fields.add(":authority", route.peer.text());
    fields.add("te", "trailers");
    fields.add("content-type", is_raw(setup) ? "application/grpc+raw" : kType);
    fields.add("user-agent", "netdyno");
  }
}

void GrpcAsking::field(h2::Reply& reply, std::string_view name, std::string_view value) const {
  if (name == ":status") std::from_chars(value.data(), value.data() + value.size(), reply.status);
  if (name == "grpc-status") std::from_chars(value.data(), value.data() + value.size(), reply.code);
  if (name != "grpc-message") return;
  reply.message = value.substr(0, kMostText);
  for (char& c : reply.message) {
    if (c < ' ' || c > '~') c = '?';
  }
}

bool GrpcAsking::data(h2::Reply& reply, std::string_view bytes) const {
  keep(reply.kept, bytes, most_);
  reply.bytes += static_cast<std::int64_t>(bytes.size());
  return reply.bytes <= most_;
}

h2::Verdict GrpcAsking::judge(const h2::Reply& reply) const {
  if (reply.status != 200) return {0, false, ErrorKind::invalid};
  if (reply.code != ok) return {0, false, kind_of(reply.code)};
  const Taken taken = payload_->take(reply.kept);
  return {taken.bytes, taken.code == ok, ErrorKind::invalid};
}

std::string GrpcAsking::explain(const h2::Reply& reply) const {
  if (reply.bytes > most_) {
    return "the reply is longer than option max_message, " +
           std::to_string(most_ - static_cast<std::int64_t>(kPrefix)) + " bytes";
  }
  if (reply.status != 200) {
    return "the reply has status " + std::to_string(reply.status) + " of HTTP, expected 200";
  }
  if (reply.code < 0) return "the reply ends without a grpc-status";
  if (reply.code != ok) {
    return "the reply has grpc-status " + std::to_string(reply.code) +
           (reply.message.empty() ? "" : " (" + reply.message + ")") + ", expected 0";
  }
  return payload_->take(reply.kept).why;
}

std::string GrpcAsking::compare(const h2::Reply& reply) const {
  const std::string wrong = compare_ ? payload_->compare(reply.kept) : "";
  if (wrong.empty()) return "";
  return wrong + " (a server that is not netdyno's sends other content: drive it with opt.verify=length)";
}

std::size_t GrpcAsking::read_size(std::size_t in_flight) const {
  constexpr std::int64_t kHead = 256;
  const std::int64_t one = payload_->most() + kHead;
  if (one > static_cast<std::int64_t>(kMaxRead)) return kMaxRead;
  return std::clamp(static_cast<std::size_t>(one) * in_flight, kMinRead, kMaxRead);
}

GrpcAnswering::GrpcAnswering(const contract::Setup& setup, const Contents& contents)
    : payload_(make_payload(contents.down(), contents.up(), "request", is_raw(setup))),
      most_(max_message(setup, contents) + static_cast<std::int64_t>(kPrefix)),
      down_bytes_(contents.down().size),
      path_(path_of(setup.exchange)) {
  headers_.add(":status", "200");
  headers_.add("content-type", kType);
  trailers_.add("grpc-status", "0");
}

void GrpcAnswering::field(h2::Request& request, std::string_view name, std::string_view value) const {
  constexpr std::size_t kMost = 256;
  if (name == ":path") request.path = value.substr(0, kMost);
}

bool GrpcAnswering::data(h2::Request& request, std::string_view bytes) const {
  keep(request.kept, bytes, most_);
  request.bytes += static_cast<std::int64_t>(bytes.size());
  return request.bytes <= most_;
}

void GrpcAnswering::answer(h2::Request& request) const {
  Taken taken;
  if (request.path != path_) {
    taken = {0, unimplemented, "this method is not served, expected " + path_};
  } else if (request.bytes > most_) {
    taken = {0, resource_exhausted, "the request is longer than option max_message"};
  } else {
    taken = payload_->take(request.kept);
  }
  if (taken.code == ok) {
    request.right = true;
    request.received = taken.bytes;
    request.fields = &headers_;
    request.body = payload_->outgoing(request.room);
    request.trailers = &trailers_;
    return;
  }
  h2::Fields& fields = request.own_fields;  // a reply without a message has trailers alone
  fields.add(":status", "200");
  fields.add("content-type", kType);
  fields.add("grpc-status", std::to_string(taken.code));
  fields.add("grpc-message", escaped(taken.why));
  request.fields = &fields;
}

}  // namespace netdyno::h2grpc
