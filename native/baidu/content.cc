#include "baidu/content.h"

#include "kit/echo.h"
#include "kit/random_content.h"

namespace netdyno::baidu {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// Number of the field content of a netdyno.v1.Block.
constexpr std::uint64_t kContent = 1;

void check_bytes(const std::string& key, std::int64_t bytes) {
  if (bytes >= 0 && bytes <= Content::kMaxBytes) return;
  throw Failure(ErrorKind::setup, "exchange." + key + " is " + std::to_string(bytes) + ", expected 0 to " +
                                      std::to_string(Content::kMaxBytes));
}

void check(const contract::Setup& setup) {
  const contract::Exchange& exchange = setup.exchange;
  if (!exchange.codec.empty() && exchange.codec != "bytes") {
    throw Failure(ErrorKind::unsupported,
                  "exchange.codec is \"" + exchange.codec +
                      "\"; this transport carries only bytes, baidu-std also protobuf");
  }
  if (exchange.stream != contract::Stream::none) {
    throw Failure(ErrorKind::unsupported, "exchange.stream is " + std::string(name(exchange.stream)) +
                                              ": an exchange over baidu_std is one message each way");
  }
  check_bytes("up_bytes", exchange.up_bytes);
  check_bytes("down_bytes", exchange.down_bytes);
  const bool client = setup.role == contract::Role::client;
  if (client && setup.options.value("connection", "single") == "pooled" && setup.load.in_flight > 1) {
    throw Failure(ErrorKind::unsupported,
                  "load.in_flight is " + std::to_string(setup.load.in_flight) +
                      " and option connection is pooled: a pooled connection carries one call at a time; "
                      "use more connections or connection=single");
  }
  const std::int64_t incoming = client ? exchange.down_bytes : exchange.up_bytes;
  const auto max_body = setup.options.at("max_body").get<std::int64_t>();
  if (incoming <= max_body) return;
  throw Failure(ErrorKind::setup, "option max_body is " + std::to_string(max_body) + " and the exchange's " +
                                      (client ? "replies" : "requests") + " carry " +
                                      std::to_string(incoming) + " bytes: raise it (opt.max_body)");
}

std::int64_t size_of(std::string_view bytes) { return static_cast<std::int64_t>(bytes.size()); }

}  // namespace

Content::Content(const contract::Setup& setup)
    : attached_(setup.options.value("payload", "block") == "attachment"),
      by_content_(setup.options.value("verify", "content") == "content") {
  check(setup);
  const bool client = setup.role == contract::Role::client;
  const std::string up = random_content(static_cast<std::size_t>(setup.exchange.up_bytes), 'u');
  std::string down = random_content(static_cast<std::size_t>(setup.exchange.down_bytes), 'd');
  const std::string& coming = client ? down : up;
  coming_bytes_ = size_of(coming);
  coming_crc_ = crc32c(coming);
  sent_ = client ? up : down;
  // A field that is empty is left out, as protobuf's own code does.
  if (!attached_ && !sent_.empty()) append_bytes_head(message_head_, kContent, sent_.size());
}

void Content::append_head(std::string& to, Meta meta) const {
  if (attached_) {
    meta.attachment_bytes = static_cast<std::int32_t>(sent_.size());
    return baidu::append_head(to, meta, 0);
  }
  baidu::append_head(to, meta, message_head_.size() + sent_.size());
  to.append(message_head_);
}

Verdict Content::accept(const Frame& frame) const {
  if (frame.meta.compression != 0) return {Fault::compressed, frame.meta.compression, {}};
  std::string_view inside;
  try {
    Fields fields(frame.message);
    for (Field field; fields.next(field);) {
      if (field.is(kContent, Kind::bytes)) inside = field.bytes;
    }
  } catch (const Malformed&) {
    return {Fault::undecodable, size_of(frame.message), {}};
  }
  if (attached_ && !inside.empty()) return {Fault::in_message, size_of(inside), {}};
  if (!attached_ && !frame.attachment.empty()) return {Fault::in_attachment, size_of(frame.attachment), {}};
  const std::string_view content = attached_ ? frame.attachment : inside;
  const bool fits = size_of(content) == coming_bytes_;
  return {fits ? Fault::none : Fault::size, size_of(content), content};
}

std::string Content::explain(const Verdict& verdict, std::string_view what) const {
  const std::string the = "the " + std::string(what);
  const std::string found = std::to_string(verdict.found);
  switch (verdict.fault) {
    case Fault::none:
      return the + " is as expected";
    case Fault::compressed:
      return the + " is compressed by type " + found + ", expected none";
    case Fault::undecodable:
      return the + "'s message of " + found + " bytes does not decode as a netdyno.v1.Block";
    case Fault::in_message:
      return the + "'s content of " + found +
             " bytes came in the message, expected it as attachment; give both ends the same option payload";
    case Fault::in_attachment:
      return the + "'s content of " + found +
             " bytes came as attachment, expected it in the message; give both ends the same option payload";
    case Fault::size:
      return the + " has " + found + " bytes, expected " + std::to_string(coming_bytes_);
  }
  return the;
}

void Content::verify(std::int64_t connection, const Frame& reply) const {
  const std::string at = "verify connection " + std::to_string(connection) + ": ";
  const Verdict verdict = accept(reply);
  if (verdict.fault != Fault::none) throw Failure(ErrorKind::invalid, at + explain(verdict, "reply"));
  if (!by_content_) return;
  const std::uint32_t crc = crc32c(verdict.content);
  if (crc == coming_crc_) return;
  throw Failure(ErrorKind::invalid, at + "expected " + std::to_string(coming_bytes_) +
                                        " bytes with CRC-32C " + crc_text(coming_crc_) +
                                        ", received them with " + crc_text(crc));
}

}  // namespace netdyno::baidu
