#include "baidu/meta.h"

namespace netdyno::baidu {
namespace {

// Numbers of the fields of RpcMeta, RpcRequestMeta and RpcResponseMeta.
constexpr std::uint64_t kRequest = 1;
constexpr std::uint64_t kResponse = 2;
constexpr std::uint64_t kCompression = 3;
constexpr std::uint64_t kCorrelationId = 4;
constexpr std::uint64_t kAttachment = 5;

constexpr std::uint64_t kServiceField = 1;
constexpr std::uint64_t kMethodField = 2;

constexpr std::uint64_t kErrorCode = 1;
constexpr std::uint64_t kErrorText = 2;

void parse_request(std::string_view encoded, Meta& meta) {
  Fields fields(encoded);
  for (Field field; fields.next(field);) {
    if (field.is(kServiceField, Kind::bytes)) meta.service = field.bytes;
    if (field.is(kMethodField, Kind::bytes)) meta.method = field.bytes;
  }
}

void parse_response(std::string_view encoded, Meta& meta) {
  Fields fields(encoded);
  for (Field field; fields.next(field);) {
    if (field.is(kErrorCode, Kind::varint)) meta.error_code = static_cast<std::int32_t>(field.varint);
    if (field.is(kErrorText, Kind::bytes)) meta.error_text = field.bytes;
  }
}

/// Bytes that a text takes with its tag and size.
std::size_t text_size(std::string_view text) { return 1 + varint_size(text.size()) + text.size(); }

void append_text(std::string& to, std::uint64_t number, std::string_view text) {
  append_bytes_head(to, number, text.size());
  to.append(text);
}

void append_response(std::string& to, const Meta& meta) {
  const auto code = static_cast<std::uint64_t>(std::int64_t{meta.error_code});
  const std::size_t text = meta.error_text.empty() ? 0 : text_size(meta.error_text);
  append_bytes_head(to, kResponse, 1 + varint_size(code) + text);
  append_integer(to, kErrorCode, meta.error_code);
  if (text > 0) append_text(to, kErrorText, meta.error_text);
}

void append_request(std::string& to, std::string_view service, std::string_view method) {
  append_bytes_head(to, kRequest, text_size(service) + text_size(method));
  append_text(to, kServiceField, service);
  append_text(to, kMethodField, method);
}

}  // namespace

Meta parse_meta(std::string_view encoded) {
  Meta meta;
  bool requested = false;
  Fields fields(encoded);
  for (Field field; fields.next(field);) {
    if (field.is(kRequest, Kind::bytes)) {
      requested = true;
      parse_request(field.bytes, meta);
    } else if (field.is(kResponse, Kind::bytes)) {
      parse_response(field.bytes, meta);
    } else if (field.is(kCompression, Kind::varint)) {
      meta.compression = static_cast<std::int32_t>(field.varint);
    } else if (field.is(kCorrelationId, Kind::varint)) {
      meta.correlation_id = static_cast<std::int64_t>(field.varint);
    } else if (field.is(kAttachment, Kind::varint)) {
      meta.attachment_bytes = static_cast<std::int32_t>(field.varint);
    }
  }
  if (requested && !(meta.service && meta.method)) {
    throw Malformed("its request names no service or no method");
  }
  return meta;
}

void append_meta(std::string& to, const Meta& meta) {
  if (meta.service) {
    append_request(to, *meta.service, meta.method.value_or(std::string_view()));
  } else {
    append_response(to, meta);
  }
  if (meta.compression != 0) append_integer(to, kCompression, meta.compression);
  append_integer(to, kCorrelationId, meta.correlation_id);
  if (meta.attachment_bytes != 0) append_integer(to, kAttachment, meta.attachment_bytes);
}

std::string_view code_name(std::int32_t code) {
  switch (code) {
    case kNoService:
      return "ENOSERVICE";
    case kNoMethod:
      return "ENOMETHOD";
    case kBadRequest:
      return "EREQUEST";
    case kTimedOut:
      return "ERPCTIMEDOUT";
    case kLostSocket:
      return "EFAILEDSOCKET";
    case kLogOff:
      return "ELOGOFF";
    default:
      return "error";
  }
}

}  // namespace netdyno::baidu
