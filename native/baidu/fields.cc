#include "baidu/fields.h"

#include <bit>

namespace netdyno::baidu {
namespace {

constexpr std::uint64_t kMaxNumber = (1 << 29) - 1;
/// Groups inside each other, at most: as in protobuf's C++ library.
constexpr int kMaxDepth = 100;

void append_tag(std::string& to, std::uint64_t number, Kind kind) {
  to.push_back(static_cast<char>(number << 3 | static_cast<std::uint64_t>(kind)));
}

}  // namespace

std::uint64_t Fields::take_varint() {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<std::uint8_t>(take(1).front());
    if (shift == 63 && byte > 1) throw Malformed("a varint of more than 64 bits");
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
}

std::string_view Fields::take(std::uint64_t n) {
  if (n > rest_.size()) throw Malformed("a field goes beyond its message");
  const std::string_view taken = rest_.substr(0, n);
  rest_.remove_prefix(n);
  return taken;
}

void Fields::take_tag(Field& field) {
  const std::uint64_t tag = take_varint();
  field.number = tag >> 3;
  if (field.number < 1 || field.number > kMaxNumber) throw Malformed("a field without a number");
  if ((tag & 7) > static_cast<std::uint64_t>(Kind::fixed32)) throw Malformed("a field of no known kind");
  field.kind = static_cast<Kind>(tag & 7);
}

bool Fields::next(Field& field) {
  if (rest_.empty()) return false;
  take_tag(field);
  switch (field.kind) {
    case Kind::varint:
      field.varint = take_varint();
      break;
    case Kind::bytes:
      field.bytes = take(take_varint());
      break;
    default:
      skip(field, kMaxDepth);
  }
  return true;
}

void Fields::skip(const Field& field, int depth) {
  switch (field.kind) {
    case Kind::varint:
      take_varint();
      return;
    case Kind::fixed64:
      take(8);
      return;
    case Kind::bytes:
      take(take_varint());
      return;
    case Kind::fixed32:
      take(4);
      return;
    case Kind::group_end:
      throw Malformed("the end of a group that did not begin");
    case Kind::group:
      break;
  }
  if (depth == 0) throw Malformed("groups inside each other beyond measure");
  for (Field inner;; skip(inner, depth - 1)) {
    take_tag(inner);
    if (inner.is(field.number, Kind::group_end)) return;
  }
}

std::size_t varint_size(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

void append_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<char>(value | 0x80));
  to.push_back(static_cast<char>(value));
}

void append_integer(std::string& to, std::uint64_t number, std::int64_t value) {
  append_tag(to, number, Kind::varint);
  append_varint(to, static_cast<std::uint64_t>(value));
}

void append_bytes_head(std::string& to, std::uint64_t number, std::size_t size) {
  append_tag(to, number, Kind::bytes);
  append_varint(to, size);
}

}  // namespace netdyno::baidu
