// The fields of a protobuf message, read and written one by one. That is enough for an
// RpcMeta and a Block, and allocates nothing, unlike generated code.
//
// Layer: bottom of the baidu-std-asio worker. Plain values; any thread.
// Source: protobuf.dev, Encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace netdyno::baidu {

/// Bytes that do not parse. Nothing that follows on the connection can be understood,
/// unless the frame around them is intact.
class Malformed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How a field is encoded.
enum class Kind : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, group = 3, group_end = 4, fixed32 = 5 };

struct Field {
  std::uint64_t number = 0;
  Kind kind = Kind::varint;
  std::uint64_t varint = 0;  // the value, if kind is varint
  std::string_view bytes;    // the value, if kind is bytes; points into the message

  /// Whether it has that number and kind. A field of another kind is unknown, as in
  /// protobuf's own code.
  bool is(std::uint64_t n, Kind k) const { return number == n && kind == k; }
};

/// Reads a message, which outlives this object.
class Fields {
 public:
  explicit Fields(std::string_view message) : rest_(message) {}

  /// Reads the next field. False when there is none. Sets no value for kinds other than
  /// varint and bytes. Throws Malformed.
  bool next(Field& field);

 private:
  std::uint64_t take_varint();
  std::string_view take(std::uint64_t n);
  void take_tag(Field& field);
  void skip(const Field& field, int depth);

  std::string_view rest_;
};

/// The encoded size of a varint in bytes.
std::size_t varint_size(std::uint64_t value);
void append_varint(std::string& to, std::uint64_t value);
/// Appends a field of kind varint. A negative value takes ten bytes. number is below 16.
void append_integer(std::string& to, std::uint64_t number, std::int64_t value);
/// Appends tag and size of a field of kind bytes; the bytes must follow. number is below 16.
void append_bytes_head(std::string& to, std::uint64_t number, std::size_t size);

}  // namespace netdyno::baidu
