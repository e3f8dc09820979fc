#include "grpcpp/contents.h"

#include <google/protobuf/util/json_util.h>

#include "exchange.pb.h"
#include "kit/random_content.h"

namespace netdyno::grpc_worker {
namespace {

using contract::ErrorKind;
using contract::Failure;
using google::protobuf::Message;

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

}  // namespace netdyno::grpc_worker
