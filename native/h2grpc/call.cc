#include "h2grpc/call.h"

#include <google/protobuf/stubs/common.h>

#include <algorithm>
#include <charconv>
#include <climits>

#include "h2/session.h"
#include "h2/work.h"
#include "http1/terms.h"
#include "kit/address.h"
#include "kit/ends.h"
#include "kit/options.h"
#include "kit/reasons.h"
#include "kit/sockets.h"
#include "tls/work.h"

namespace netdyno::h2grpc {

using contract::ErrorKind;
using contract::Option;
using contract::Role;
using contract::Setup;
using grpc_worker::Contents;

namespace {

constexpr char kType[] = "application/grpc";
/// The library's receive limit in every language, in bytes.
constexpr std::int64_t kUsualMessage = 4 << 20;
/// How much of a status's text is kept, in bytes.
constexpr std::size_t kMostText = 200;

bool is_raw(const contract::Setup& setup) { return setup.options.at("codec") == "raw"; }

std::string method_of(const contract::Setup& setup) {
  const grpc_worker::Methods methods = grpc_worker::methods_of(setup.exchange);
  if (!methods.chunks.empty()) return methods.chunks;
  return setup.options.at("mode") == "stream" ? methods.stream : methods.unary;
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

/// The text of a header's, which is cut off, without bytes that would not print.
std::string unescaped(std::string_view header) {
  std::string text;
  for (std::size_t i = 0; i < header.size() && text.size() < kMostText; i++) {
    char c = header[i];
    unsigned byte = 0;
    const char* const digits = header.data() + i + 1;
    if (c == '%' && i + 2 < header.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      c = static_cast<char>(byte);
      i += 2;
    }
    text += c < ' ' || c > '~' ? '?' : c;
  }
  return text;
}

}  // namespace

std::int64_t max_message(const contract::Setup& setup, const Contents& contents) {
  const auto asked = setup.options.at("max_message").get<std::int64_t>();
  if (asked > 0) return asked;
  // Replies of any length may be longer than the exchange says, as go-grpc takes them.
  if (setup.role == contract::Role::client && setup.options.at("verify") == "status") {
    return Contents::kMaxBytes;
  }
  return std::max(kUsualMessage, grpc_worker::largest_message(setup, contents));
}

namespace {

/// Whether an exchange is a call, of one message each way.
bool of_calls(const contract::Setup& setup) {
  return setup.options.at("mode") == "unary" && setup.exchange.stream == contract::Stream::none;
}

/// A deadline as requests say it: at most eight digits and the finest unit that they can have.
std::string timeout_of(std::int64_t ns) {
  constexpr std::int64_t kMost = 100'000'000;
  std::int64_t value = ns;
  for (const auto& [unit, more] : {std::pair{'n', 1'000}, {'u', 1'000}, {'m', 1'000}, {'S', 60}, {'M', 60}}) {
    if (value < kMost) return std::to_string(value) + unit;
    value = (value + more - 1) / more;
  }
  return std::to_string(value) + "H";
}

}  // namespace

GrpcAsking::GrpcAsking(const contract::Setup& setup, const Contents& contents)
    : h2::Asking(setup), down_bytes_(contents.down().size) {
  const Ask ask = ask_of(setup);
  verify_ = ask.verify;
  const std::int64_t most = max_message(setup, contents);
  const Direction direction{contents.up(), contents.down(), "reply", verify_ == Verify::status};
  if (setup.exchange.stream != contract::Stream::none) {
    body_ = std::make_unique<ChunkedBody>(direction, Cutting::of(setup), most);
  } else {
    payload_ = is_raw(setup)
                   ? std::make_unique<Payload>(ask.body.value_or(contents.up().bytes), Judge(direction))
                   : std::make_unique<Payload>(direction, false);
    if (setup.options.at("mode") == "stream") {
      body_ = std::make_unique<TalkBody>(*payload_, most, true);
    } else {
      body_ = std::make_unique<UnaryBody>(*payload_, most);
    }
  }
  stays_ = body_->stays();
  if (setup.load.deadline_ns > 0 && !of_calls(setup)) {
    throw contract::Failure(ErrorKind::unsupported,
                            "load.deadline_ns needs mode=unary and no exchange.stream: a stream outlives its "
                            "exchanges");
  }
  for (const Route& route : routes(setup)) {
    h2::Fields& fields = fields_.emplace_back();
    fields.add(":method", "POST");
    fields.add(":scheme", setup.tls ? "https" : "http");
    fields.add(":path", ask.method.empty() ? grpc_worker::full_name(method_of(setup)) : ask.method);
    fields.add(":authority", ask.host.empty() ? route.peer.authority() : ask.host);
    fields.add("te", "trailers");
    fields.add("content-type", is_raw(setup) && ask.of_netdyno() ? "application/grpc+raw" : kType);
    fields.add("user-agent", "netdyno");
    if (setup.load.deadline_ns > 0) fields.add("grpc-timeout", timeout_of(setup.load.deadline_ns));
    for (const auto& [name, value] : ask.headers) fields.add(name, value);
  }
}

void GrpcAsking::field(h2::Reply& reply, std::string_view name, std::string_view value) const {
  if (name == ":status") std::from_chars(value.data(), value.data() + value.size(), reply.status);
  if (name == "grpc-status") std::from_chars(value.data(), value.data() + value.size(), reply.code);
  if (name == "grpc-message") reply.message = unescaped(value);
}

/// Whether a reply is complete although its stream has not ended.
bool GrpcAsking::goes_on(const h2::Reply& reply) const {
  return stays_ && reply.whole > 0 && reply.code < 0 && !reply.first;
}

h2::Verdict GrpcAsking::judge(const h2::Reply& reply) const {
  if (reply.status != 200) return {0, false, ErrorKind::invalid};
  if (reply.code != ok && !goes_on(reply)) return {0, false, grpc_worker::kind_of(reply.code)};
  const Taken taken = body_->end(reply, false);
  return {taken.bytes, taken.code == ok, ErrorKind::invalid};
}

std::string GrpcAsking::explain(const h2::Reply& reply) const {
  if (reply.fault != ok) return reply.why;
  if (reply.status != 200) {
    return "the reply has status " + std::to_string(reply.status) + " of HTTP, expected 200";
  }
  if (reply.code < 0) return "the reply ends without a grpc-status";
  if (reply.code != ok) {
    return "the reply has grpc-status " + std::to_string(reply.code) +
           (reply.message.empty() ? "" : " (" + reply.message + ")") + ", expected 0";
  }
  return body_->end(reply, false).why;
}

std::string GrpcAsking::reason(const h2::Reply& reply) const {
  if (reply.fault != ok || reply.status != 200 || reply.code <= ok) return explain(reply);
  if (load().deadline_ns > 0 && grpc_worker::kind_of(reply.code) == ErrorKind::timeout)
    return no_reply_within(load().deadline_ns);
  return grpc_worker::status_text(reply.code, reply.message);
}

void GrpcAsking::require(const h2::Reply& reply, const http1::Turn&) const {
  const h2::Verdict verdict = judge(reply);
  if (reply.fault != ok || !verdict.taken) throw contract::Failure(verdict.kind, explain(reply));
  if (verify_ != Verify::content) return;
  const Taken compared = body_->end(reply, true);
  if (compared.code == ok) return;
  throw contract::Failure(
      ErrorKind::invalid,
      compared.why +
          " (a server that is not netdyno's sends other content: drive it with opt.verify=length)");
}

std::size_t GrpcAsking::read_size(std::size_t in_flight) const {
  constexpr std::int64_t kHead = 320;  // of HTTP/2, gRPC and a Block
  return http1::read_size_for(down_bytes_ + kHead, in_flight, verify_ == Verify::status);
}

GrpcAnswering::GrpcAnswering(const contract::Setup& setup, const Contents& contents)
    : payload_(grpc_worker::serving(contents), is_raw(setup)),
      refusal_(grpc_worker::refusal(setup.exchange, true)),
      down_bytes_(contents.down().size) {
  const std::int64_t most = max_message(setup, contents);
  const grpc_worker::Methods methods = grpc_worker::methods_of(setup.exchange);
  methods_.push_back({grpc_worker::full_name(methods.unary), std::make_unique<UnaryBody>(payload_, most)});
  methods_.push_back(
      {grpc_worker::full_name(methods.stream), std::make_unique<TalkBody>(payload_, most, false)});
  if (!methods.chunks.empty()) {
    methods_.push_back(
        {grpc_worker::full_name(methods.chunks),
         std::make_unique<ChunkedBody>(grpc_worker::serving(contents), Cutting::of(setup), most)});
  }
  headers_.add(":status", "200");
  headers_.add("content-type", kType);
  trailers_.add("grpc-status", "0");
  nothing_.add(":status", "200");
  nothing_.add("content-type", kType);
  nothing_.add("grpc-status", "0");
}

void GrpcAnswering::field(h2::Request& request, std::string_view name, std::string_view value) const {
  constexpr std::size_t kMost = 256;
  if (name != ":path") return;
  for (std::size_t i = 0; i < methods_.size(); i++) {
    if (value != methods_[i].path) continue;
    request.way = static_cast<int>(i);
    return;
  }
  request.path = value.substr(0, kMost);
}

bool GrpcAnswering::data(h2::Request& request, std::string_view bytes) const {
  if (request.way < 0) return false;
  request.fields = &headers_;
  return body(request).data(request, bytes);
}

void GrpcAnswering::answer(h2::Request& request) const {
  if (request.way < 0) return refuse(request, {0, unimplemented, "method " + request.path + refusal_});
  if (request.fault != ok) return refuse(request, {0, static_cast<Code>(request.fault), request.why});
  const Taken taken = body(request).end(request, false);
  if (taken.code != ok) return refuse(request, taken);
  request.right = true;
  request.trailers = &trailers_;
  if (body(request).stays()) {
    request.fields = &nothing_;
    return;
  }
  request.fields = &headers_;
  request.whole = 1;
  request.received = taken.bytes;
}

/// A status without a message before it has trailers alone.
void GrpcAnswering::refuse(h2::Request& request, const Taken& taken) const {
  request.own_fields.add(":status", "200");
  request.own_fields.add("content-type", kType);
  for (h2::Fields* const fields : {&request.own_fields, &request.own_trailers}) {
    fields->add("grpc-status", std::to_string(taken.code));
    fields->add("grpc-message", escaped(taken.why));
  }
  request.fields = &request.own_fields;
  request.trailers = &request.own_trailers;
}

namespace {

std::shared_ptr<const Contents> contents_of(const Setup& setup) {
  auto contents = std::make_shared<const Contents>(setup.exchange);
  grpc_worker::require_agreement(setup, *contents);
  return contents;
}

/// Keeps the contents, which its ends refer to.
class GrpcWork final : public h2::H2Work {
 public:
  explicit GrpcWork(const Setup& setup) : GrpcWork(setup, contents_of(setup)) {}

  std::optional<Sizes> encoded() const override {
    if (!contents_->structured()) return std::nullopt;
    return Sizes{contents_->up().size, contents_->down().size};
  }

 private:
  GrpcWork(const Setup& setup, std::shared_ptr<const Contents> contents)
      : H2Work(setup, setup.role == Role::client ? std::make_unique<GrpcAsking>(setup, *contents) : nullptr,
               setup.role == Role::server ? std::make_unique<GrpcAnswering>(setup, *contents) : nullptr),
        contents_(std::move(contents)) {}

  std::shared_ptr<const Contents> contents_;
};

}  // namespace

std::vector<Option> options() {
  std::vector<Option> all = {
      choice_option(
          "mode", {"unary", "stream"},
          "unary: an RPC for each exchange; stream: a bidirectional stream for each slot, a message each "
          "way for each exchange"),
      choice_option(
          "codec", {"proto", "raw"},
          "how codec bytes travels: proto in a protobuf Block; raw as the message itself; give both "
          "ends the same"),
      bytes_option("max_message", {0, 0, INT_MAX},
                   "largest message this end receives; 0 takes the libraries' 4 MiB, raised to what the "
                   "exchange needs, and with verify=status to 1 GiB"),
  };
  for (Option& option : ask_options()) all.push_back(std::move(option));
  for (Option& option : h2::setting_options()) all.push_back(std::move(option));
  return tls::with_trust(joined(std::move(all), loop_options()));
}

contract::Transport transport(const std::string& name, const std::string& doc) {
  contract::Transport transport;
  transport.name = name;
  transport.doc = doc;
  transport.wire = "grpc:netdyno.v1";
  transport.roles = {Role::server, Role::client};
  transport.delivery = "message";
  transport.codecs = {"bytes", "proto"};
  transport.features = tls::with_tls({"fresh", "stream-up", "stream-down", "stream-both", "stages", "turns",
                                      "gather", "deadline", "work-cpu", "work-sleep"});
  transport.options = options();
  return transport;
}

std::vector<contract::Library> libraries(contract::Library loops) {
  const auto protobuf = google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION);
  return tls::with_library({std::move(loops), {"nghttp2", h2::library_version()}, {"protobuf", protobuf}});
}

std::unique_ptr<const Work> work_of(const Setup& setup) {
  return tls::over(setup, h2::kAlpn, std::make_unique<GrpcWork>(setup));
}

}  // namespace netdyno::h2grpc
