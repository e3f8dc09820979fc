#include <google/protobuf/util/message_differencer.h>

#include "brpc/brpc_server.h"
#include "exchange.pb.h"

namespace netdyno::brpc_worker {

using contract::ErrorKind;
using contract::Failure;
using google::protobuf::Message;

namespace {

/// Refuses streams, which Contents does not check, and returns the exchange.
const contract::Exchange& checked(const contract::Setup& setup) {
  if (setup.exchange.stream != contract::Stream::none) {
    throw Failure(ErrorKind::unsupported, "exchange.stream is " + std::string(name(setup.exchange.stream)) +
                                              ": an exchange over baidu_std is one message each way");
  }
  return setup.exchange;
}

const char* method_of(const contract::Exchange& exchange) {
  if (!exchange.message) return "Unary";
  return exchange.message->name == "simple" ? "Simple" : "Complex";
}

/// The content of a received message, contiguous: the block's, or a copy of the attachment
/// in whole.
std::string_view contiguous(const Message& in, const butil::IOBuf& attachment, bool attached,
                            std::string& whole) {
  if (!attached) return static_cast<const v1::Block&>(in).content();
  attachment.copy_to(&whole);
  return whole;
}

}  // namespace

const google::protobuf::ServiceDescriptor* exchange_service() {
  return v1::Block::descriptor()->file()->FindServiceByName("Exchange");
}

std::unique_ptr<Message> empty(const google::protobuf::Descriptor* type) {
  auto* factory = google::protobuf::MessageFactory::generated_factory();
  return std::unique_ptr<Message>(factory->GetPrototype(type)->New());
}

Content::Content(const contract::Setup& setup)
    : contents_(checked(setup)),
      at_server_(setup.role == contract::Role::server),
      attached_(setup.options.at("payload") == "attachment"),
      method_(exchange_service()->FindMethodByName(method_of(setup.exchange))) {
  if (structured()) {
    if (attached_) {
      throw Failure(ErrorKind::unsupported, "option payload is attachment and exchange.codec is " +
                                                setup.exchange.codec +
                                                ": attachments carry codec bytes alone");
    }
    auto copy = empty(going().message->GetDescriptor());
    copy->CopyFrom(*going().message);
    out_ = std::move(copy);
    return;
  }
  auto block = std::make_unique<v1::Block>();
  if (!attached_) block->set_content(going().bytes);
  out_ = std::move(block);
}

void Content::attach(butil::IOBuf& to) const {
  const std::string& bytes = going().bytes;
  if (!attached_ || bytes.empty()) return;
  // brpc only reads the bytes, and this object lives until the worker exits.
  to.append_user_data(const_cast<char*>(bytes.data()), bytes.size(), [](void*) {});
}

Content::Taken Content::take(const Message& in, const butil::IOBuf& attachment) const {
  if (structured()) return {static_cast<std::int64_t>(in.ByteSizeLong()), ""};
  const bool inside = !static_cast<const v1::Block&>(in).content().empty();
  if (attached_ ? inside : !attachment.empty()) {
    return {0, attached_
                   ? "the content came in the message, expected it as attachment; give both ends the same "
                     "option payload"
                   : "the content came as attachment, expected it in the message; give both ends the "
                     "same option payload"};
  }
  std::string whole;
  const auto size = static_cast<std::int64_t>(contiguous(in, attachment, attached_, whole).size());
  if (size != coming().size) {
    return {0,
            "the message has " + std::to_string(size) + " bytes, expected " + std::to_string(coming().size)};
  }
  return {size, ""};
}

bool Content::same(const Message& in, const butil::IOBuf& attachment) const {
  if (structured()) return google::protobuf::util::MessageDifferencer::Equals(in, *coming().message);
  std::string whole;
  return contiguous(in, attachment, attached_, whole) == coming().bytes;
}

}  // namespace netdyno::brpc_worker
