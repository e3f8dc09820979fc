#include "grpcpp/contents.h"

#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "kit/random.h"

namespace netdyno::grpc_worker {

using contract::ErrorKind;
using contract::Failure;
using contract::Role;
using contract::Stream;
using google::protobuf::Message;

namespace {

Content random_payload(std::int64_t size, const std::string& key, char direction) {
  if (size < 0 || size > Contents::kMaxBytes) {
    throw Failure(ErrorKind::setup, "exchange." + key + " is " + std::to_string(size) + ", expected 0 to " +
                                        std::to_string(Contents::kMaxBytes));
  }
  Content payload;
  payload.bytes = random_content(static_cast<std::size_t>(size), direction);
  payload.size = size;
  return payload;
}

/// An empty message of a type of exchange.proto. A user's own types would be dynamic
/// messages here, which work differently from the user's generated code.
std::unique_ptr<Message> built_in(const std::string& type) {
  const auto* file = netdyno::v1::Text::descriptor()->file();
  const std::string package = file->package() + ".";
  const auto* found =
      type.starts_with(package) ? file->FindMessageTypeByName(type.substr(package.size())) : nullptr;
  if (found == nullptr) {
    throw Failure(ErrorKind::unsupported,
                  "message type " + (type.empty() ? "\"\"" : type) +
                      " is not built in, expected netdyno.v1.Text or netdyno.v1.Reply; "
                      "transport go-grpc carries messages of your own");
  }
  auto* factory = google::protobuf::MessageFactory::generated_factory();
  return std::unique_ptr<Message>(factory->GetPrototype(found)->New());
}

Content filled(const contract::Content& content, const std::string& key) {
  auto message = built_in(content.type);
  const auto status = google::protobuf::util::JsonStringToMessage(content.json, message.get());
  if (!status.ok()) {
    throw Failure(ErrorKind::setup,
                  "exchange.message." + key + ": read " + content.type + ": " + status.ToString());
  }
  Content payload;
  payload.size = static_cast<std::int64_t>(message->ByteSizeLong());
  payload.message = std::move(message);
  return payload;
}

}  // namespace

Contents::Contents(const contract::Exchange& exchange) {
  if (exchange.codec.empty() || exchange.codec == "bytes") {
    up_ = random_payload(exchange.up_bytes, "up_bytes", 'u');
    down_ = random_payload(exchange.down_bytes, "down_bytes", 'd');
    return;
  }
  if (!exchange.message) {
    throw Failure(ErrorKind::setup, "exchange.codec is " + exchange.codec +
                                        " and exchange.message is absent: expected what to encode");
  }
  if (exchange.message->name != "simple" && exchange.message->name != "complex") {
    throw Failure(ErrorKind::unsupported,
                  "exchange.message is \"" + exchange.message->name +
                      "\", expected simple or complex; transport go-grpc carries messages "
                      "of your own");
  }
  up_ = filled(exchange.message->up, "up");
  down_ = filled(exchange.message->down, "down");
}

namespace {

/// The size of a chunk where the trial does not set it, in bytes.
constexpr std::int64_t kChunk = 64 << 10;

bool streams(const contract::Exchange& exchange, Stream direction) {
  return exchange.stream == direction || exchange.stream == Stream::both;
}

}  // namespace

Methods methods_of(const contract::Exchange& exchange) {
  Methods methods{"Unary", "Talk", {}};
  if (exchange.message) {
    const bool simple = exchange.message->name == "simple";
    methods.unary = simple ? "Simple" : "Complex";
    methods.stream = simple ? "TalkSimple" : "TalkComplex";
  }
  if (exchange.stream == Stream::up) methods.chunks = "Up";
  if (exchange.stream == Stream::down) methods.chunks = "Down";
  if (exchange.stream == Stream::both) methods.chunks = "Both";
  return methods;
}

std::string full_name(const std::string& method) { return "/netdyno.v1.Exchange/" + method; }

std::string refusal(const contract::Exchange& exchange, bool talks) {
  const Methods methods = methods_of(exchange);
  const std::string codec = exchange.codec.empty() ? "bytes" : exchange.codec;
  std::string served = full_name(methods.unary) + (talks ? " or " + full_name(methods.stream) : "");
  if (!methods.chunks.empty()) served = full_name(methods.chunks) + (talks ? ", " : " or ") + served;
  return " does not serve this trial of codec " + codec + "; expected " + served;
}

Cutting Cutting::of(const contract::Setup& setup) {
  const bool client = setup.role == Role::client;
  const contract::Exchange& exchange = setup.exchange;
  return {setup.options.at("codec") == "raw", streams(exchange, client ? Stream::up : Stream::down),
          streams(exchange, client ? Stream::down : Stream::up),
          exchange.chunk_bytes > 0 ? exchange.chunk_bytes : kChunk};
}

std::size_t Cutting::step(std::size_t size) const {
  return sends ? static_cast<std::size_t>(chunk) : std::max<std::size_t>(1, size);
}

std::vector<v1::Block> Cutting::blocks(const std::string& bytes) const {
  std::vector<v1::Block> all;
  std::size_t at = 0;
  do {
    all.emplace_back().set_content(bytes.substr(at, step(bytes.size())));
    at += step(bytes.size());
  } while (at < bytes.size());
  return all;
}

std::int64_t largest_message(const contract::Setup& setup, const Contents& contents) {
  std::int64_t size = (setup.role == Role::client ? contents.down() : contents.up()).size;
  if (const Cutting cutting = Cutting::of(setup); cutting.receives) size = std::min(size, cutting.chunk);
  return size + size / 1024 + 64;
}

void require_agreement(const contract::Setup& setup, const Contents& contents) {
  if (setup.exchange.stream != Stream::none && setup.options.value("mode", "unary") == "stream") {
    throw Failure(ErrorKind::unsupported,
                  "option mode is stream, one message each way, and exchange.stream is \"" +
                      std::string(contract::name(setup.exchange.stream)) + "\", chunks: set one of them");
  }
  if (contents.structured() && setup.options.at("codec") == "raw") {
    throw Failure(ErrorKind::unsupported, "option codec is raw and exchange.codec is " +
                                              setup.exchange.codec + ": raw carries codec bytes alone");
  }
}

ErrorKind kind_of(int code) {
  switch (code) {
    case Codes::unavailable:
    case Codes::cancelled:
      return ErrorKind::peer;
    case Codes::deadline_exceeded:
      return ErrorKind::timeout;
    default:
      return ErrorKind::invalid;
  }
}

std::string status_text(int code, const std::string& message) {
  constexpr std::array<std::string_view, 17> kNames = {
      "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
      "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
      "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
      "DataLoss", "Unauthenticated"};
  const auto at = static_cast<std::size_t>(code);
  const std::string name =
      at < kNames.size() ? std::string(kNames[at]) : "Code(" + std::to_string(code) + ")";
  return message.empty() ? name : name + ": " + message;
}

bool of_a_loss(int code, std::string_view message) {
  // What gRPC 1.30 to 1.70 say of a transport that closes, and what the system does.
  constexpr std::array<std::string_view, 12> kLosses = {"Socket closed",
                                                        "Endpoint closing",
                                                        "Transport closed",
                                                        "GOAWAY received",
                                                        "Stream removed",
                                                        "recvmsg",
                                                        "sendmsg",
                                                        "Delayed close",
                                                        "keepalive watch",
                                                        "Broken pipe",
                                                        "Connection reset by peer",
                                                        "Connection timed out"};
  return code == Codes::unavailable &&
         std::any_of(kLosses.begin(), kLosses.end(), [message](std::string_view text) {
           return message.find(text) != std::string_view::npos;
         });
}

Taken Judge::content(std::string_view bytes, bool compares) const {
  if (!in_.message) return sized(bytes, compares);
  const auto parse = [bytes](Message& into) {
    return into.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  };
  return decoded(bytes.size(), parse, compares);
}

Taken Judge::sized(std::string_view bytes, bool compares) const {
  const auto size = static_cast<std::int64_t>(bytes.size());
  if (!any_length_ && size != in_.size) {
    return {
        0, Code::invalid_argument,
        "the " + incoming_ + " has " + std::to_string(size) + " bytes, expected " + std::to_string(in_.size)};
  }
  if (!compares || bytes == in_.bytes) return {size, Code::ok, ""};
  return {0, Code::invalid_argument, "the " + incoming_ + " has another content than expected"};
}

Taken Judge::values(const Message& message, std::size_t size, bool compares) const {
  if (compares && !google::protobuf::util::MessageDifferencer::Equals(message, *in_.message)) {
    return {0, Code::invalid_argument, "the " + incoming_ + " has other values than expected"};
  }
  return {static_cast<std::int64_t>(size), Code::ok, ""};
}

Taken Judge::undecodable() const {
  const std::string type = in_.message ? in_.message->GetTypeName() : v1::Block().GetTypeName();
  return {0, Code::internal,
          "decode the " + incoming_ + ": expected a " + type + ", found bytes that are none"};
}

Taken Judge::undecodable_chunk() {
  return {0, Code::internal, "decode a chunk: expected a netdyno.v1.Block, found bytes that are none"};
}

Taken Judge::excess() const {
  return {0, Code::invalid_argument,
          "the stream holds more than the " + std::to_string(in_.size) + " bytes expected"};
}

}  // namespace netdyno::grpc_worker
