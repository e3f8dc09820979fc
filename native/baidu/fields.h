// The fields of a protobuf message, read and written one by one: all that an
// RpcMeta and a Block need, and nothing allocated for it, unlike generated code.
//
// Layer: bottom of the baidu worker. Plain values; any thread.
// Source: protobuf.dev, Encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace netdyno::baidu {

/// Bytes that are not what they have to be: nothing that follows on the
/// connection can be understood, unless a frame around them is whole.
class Malformed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How a field is encoded.
enum class Kind : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, group = 3, group_end = 4, fixed32 = 5 };

struct Field {
  std::uint64_t number = 0;
  Kind kind = Kind::varint;
  std::uint64_t varint = 0;  // of that kind
  std::string_view bytes;    // of that kind; lies in the message

  /// Whether it has that number and kind. One of another kind is an unknown
  /// field, as in protobuf's own code.
  bool is(std::uint64_t n, Kind k) const { return number == n && kind == k; }
};

/// Walks over a message, which outlives it.
class Fields {
 public:
  explicit Fields(std::string_view message) : rest_(message) {}

  /// Takes the next field; false when there is none. Fields of other kinds than
  /// varint and bytes come without their value. Throws Malformed.
  bool next(Field& field);

 private:
  std::uint64_t take_varint();
  std::string_view take(std::uint64_t n);
  void take_tag(Field& field);
  void skip(const Field& field, int depth);

  std::string_view rest_;
};

/// Bytes that a varint of that value takes.
std::size_t varint_size(std::uint64_t value);
void append_varint(std::string& to, std::uint64_t value);
/// Appends a field of kind varint; a negative value takes ten bytes. number is below 16.
void append_integer(std::string& to, std::uint64_t number, std::int64_t value);
/// Appends tag and size of a field of kind bytes, which are to follow. number is below 16.
void append_bytes_head(std::string& to, std::uint64_t number, std::size_t size);

}  // namespace netdyno::baidu
