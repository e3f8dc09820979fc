#include "baidu/frame.h"

#include <cstdio>

namespace netdyno::baidu {
namespace {

constexpr std::string_view kMagic = "PRPC";

[[noreturn]] void refuse(const std::string& why) { throw Malformed("malformed baidu_std frame: " + why); }

std::string bytes_of(std::string_view what, std::size_t n) {
  return std::string(what) + " of " + std::to_string(n) + " bytes";
}

std::size_t get_size(const char* from) {
  std::size_t size = 0;
  for (int i = 0; i < 4; i++) size = size << 8 | static_cast<std::uint8_t>(from[i]);
  return size;
}

void put_size(char* to, std::size_t size) {
  for (int i = 0; i < 4; i++) to[i] = static_cast<char>(size >> (24 - 8 * i));
}

/// Bytes in hexadecimal: what begins with another magic need not be text.
std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<std::uint8_t>(c));
    out += digits;
  }
  return out;
}

}  // namespace

Header parse_header(std::span<const char, kHeaderSize> bytes, std::size_t max_body) {
  const std::string_view magic(bytes.data(), kMagic.size());
  if (magic != kMagic) refuse("it begins with " + hex(magic) + ", expected " + hex(kMagic) + " (PRPC)");
  const Header header{get_size(bytes.data() + 4), get_size(bytes.data() + 8)};
  if (header.body > max_body) {
    refuse(bytes_of("a body", header.body) + ", expected at most " + std::to_string(max_body) +
           " (option max_body)");
  }
  if (header.meta > header.body) {
    refuse(bytes_of("a meta", header.meta) + " in a body of " + std::to_string(header.body));
  }
  if (header.meta > kMaxMeta) {
    refuse(bytes_of("a meta", header.meta) + ", expected at most " + std::to_string(kMaxMeta));
  }
  return header;
}

Frame parse_body(std::string_view body, const Header& header) {
  Frame frame;
  try {
    frame.meta = parse_meta(body.substr(0, header.meta));
  } catch (const Malformed& malformed) {
    refuse(std::string("its meta does not parse: ") + malformed.what());
  }
  const std::string_view payload = body.substr(header.meta);
  const std::int32_t attached = frame.meta.attachment_bytes;
  if (attached < 0 || static_cast<std::size_t>(attached) > payload.size()) {
    refuse("an attachment of " + std::to_string(attached) + " bytes in a body that has " +
           std::to_string(payload.size()) + " after its meta");
  }
  frame.message = payload.substr(0, payload.size() - static_cast<std::size_t>(attached));
  frame.attachment = payload.substr(frame.message.size());
  return frame;
}

void append_head(std::string& to, const Meta& meta, std::size_t message_bytes) {
  const std::size_t start = to.size();
  to.append(kMagic).append(kHeaderSize - kMagic.size(), '\0');
  append_meta(to, meta);
  const std::size_t meta_bytes = to.size() - start - kHeaderSize;
  put_size(to.data() + start + 4,
           meta_bytes + message_bytes + static_cast<std::size_t>(meta.attachment_bytes));
  put_size(to.data() + start + 8, meta_bytes);
}

}  // namespace netdyno::baidu
