#include "http1/rows.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>

#include "kit/options.h"
#include "kit/random.h"

namespace netdyno::http1 {

using contract::ErrorKind;
using contract::Failure;

namespace {

constexpr std::string_view kMagic = "NDROWS1\n";
constexpr std::uint64_t kFooter = 32;
constexpr std::uint64_t kMostColumns = 1000;
constexpr std::uint64_t kMostRandom = 1000;

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw Failure(ErrorKind::setup, "option data: " + name + ": " + why);
}

/// Output number n, from 0, of splitmix64 that begins at state.
std::uint64_t output(std::uint64_t state, std::uint64_t n) {
  return mix(state + (n + 1) * 0x9e3779b97f4a7c15);
}

}  // namespace

static_assert(std::endian::native == std::endian::little);

std::uint64_t Rows::number(std::uint64_t at) const {
  std::uint64_t n = 0;
  std::memcpy(&n, text_.data() + at, sizeof n);
  return n;
}

Rows::Rows(const std::string& name) {
  const Descriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) refuse(name, std::strerror(errno));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) refuse(name, std::strerror(errno));
  const auto size = static_cast<std::size_t>(info.st_size);
  if (!S_ISREG(info.st_mode) || size < kMagic.size() + kWord + kFooter) refuse(name, "it is no file of rows");
  void* const at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  if (at == MAP_FAILED) refuse(name, std::strerror(errno));
  text_ = {static_cast<const char*>(at), size};
  if (sound()) return;
  ::munmap(at, size);
  refuse(name, "it is no file of rows, or it is damaged");
}

Rows::~Rows() { ::munmap(const_cast<char*>(text_.data()), text_.size()); }

/// Reads the end of the file; whether every field lies in it.
bool Rows::sound() {
  const std::uint64_t end = text_.size() - kFooter;
  salt_ = number(end);
  columns_ = number(end + kWord);
  rows_ = number(end + 2 * kWord);
  index_ = number(end + 3 * kWord);
  if (text_.substr(0, kMagic.size()) != kMagic) return false;
  if (columns_ > kMostColumns || (columns_ == 0) != (rows_ == 0) || rows_ > text_.size()) return false;
  if (index_ > end || (end - index_) % kWord != 0 || (end - index_) / kWord != columns_ * rows_ + 1)
    return false;
  std::uint64_t before = kMagic.size();
  for (std::uint64_t at = index_; at < end; at += kWord) {
    const std::uint64_t begins = number(at);
    if (begins < before || begins > index_) return false;
    before = begins;
  }
  return true;
}

Source::Source(const Rows& rows, std::uint64_t seed, const Picks& picks)
    : rows_(rows),
      picks_(picks),
      picked_(output(seed, 6)),
      uuids_(output(seed ^ rows.salt(), 7)),
      texts_(output(seed ^ rows.salt(), 8)) {}

Source::Row Source::of(std::uint64_t n) const {
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t number = picks_.first + n;
  if (rows_.rows() == 0) return {number, 0};
  if (!picks_.random) return {number, number % rows_.rows()};
  return {number,
          static_cast<std::uint64_t>(static_cast<Wide>(output(picked_, number)) * rows_.rows() >> 64)};
}

Template::Piece Template::piece_of(std::string_view name, std::uint64_t columns) {
  constexpr std::string_view kRandom = "random";
  const auto wrong = [&]() -> Failure {
    return {ErrorKind::setup, "a template has {" + std::string(name.substr(0, 40)) +
                                  "}; expected the number of one of " + std::to_string(columns) +
                                  " columns, with u or j after it, or uuid, n, now or random8"};
  };
  Piece piece;
  if (name == "uuid") piece.fill = Fill::uuid;
  if (name == "n") piece.fill = Fill::number;
  if (name == "now") piece.fill = Fill::now;
  if (piece.fill != Fill::nothing) return piece;
  const bool random = name.substr(0, kRandom.size()) == kRandom;
  std::string_view digits = random ? name.substr(kRandom.size()) : name;
  piece.fill = random ? Fill::random : Fill::column;
  if (!random && !digits.empty() && (digits.back() == 'u' || digits.back() == 'j')) {
    piece.escape = digits.back();
    digits.remove_suffix(1);
  }
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, piece.count);
  if (digits.empty() || read.ec != std::errc() || read.ptr != end) throw wrong();
  if (random ? piece.count < 1 || piece.count > kMostRandom : piece.count >= columns) throw wrong();
  return piece;
}

Template::Template(std::string_view text, std::uint64_t columns) {
  std::string before;
  while (!text.empty()) {
    const std::size_t brace = std::min(text.find('{'), text.size());
    before += text.substr(0, brace);
    if (brace == text.size()) break;
    text.remove_prefix(brace + 1);
    if (!text.empty() && text[0] == '{') {
      before += '{';
      text.remove_prefix(1);
      continue;
    }
    const std::size_t end = text.find('}');
    if (end == std::string_view::npos)
      throw Failure(ErrorKind::setup, "a { of a template has no } after it; expected {{ for a brace");
    pieces_.push_back(piece_of(text.substr(0, end), columns));
    pieces_.back().literal.swap(before);
    text.remove_prefix(end + 1);
  }
  if (!before.empty()) pieces_.push_back({before});
}

namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

bool unreserved(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

void append_escaped(std::string& to, std::string_view field, char escape) {
  if (escape == 0) {
    to.append(field);
    return;
  }
  for (const char byte : field) {
    const auto c = static_cast<unsigned char>(byte);
    if (escape == 'u' && !unreserved(c)) {
      to.append({'%', kHex[c >> 4], kHex[c & 15]});
    } else if (escape == 'j' && (c == '"' || c == '\\')) {
      to.append({'\\', byte});
    } else if (escape == 'j' && c < ' ') {
      to.append("\\u00").append({kHex[c >> 4], kHex[c & 15]});
    } else {
      to.push_back(byte);
    }
  }
}

void append_number(std::string& to, std::uint64_t n) {
  std::array<char, 20> digits{};
  to.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), n).ptr);
}

/// A UUID of version 4 (RFC 9562, section 5.4).
void append_uuid(std::string& to, std::uint64_t state) {
  const std::array<std::uint64_t, 2> halves = {(output(state, 0) & ~0xf000ULL) | 0x4000ULL,
                                               (output(state, 1) & ~(3ULL << 62)) | 1ULL << 63};
  for (unsigned i = 0; i < 32; i++) {
    if (i == 8 || i == 12 || i == 16 || i == 20) to.push_back('-');
    to.push_back("0123456789abcdef"[halves[i / 16] >> (60 - 4 * (i % 16)) & 15]);
  }
}

void append_random(std::string& to, std::uint64_t state, std::uint64_t length) {
  constexpr std::uint64_t kPerDraw = 12;
  std::uint64_t bits = 0;
  for (std::uint64_t i = 0; i < length; i++, bits >>= 5) {
    if (i % kPerDraw == 0) bits = output(state, i / kPerDraw);
    to.push_back("0123456789abcdefghjkmnpqrstvwxyz"[bits & 31]);
  }
}

std::uint64_t now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

}  // namespace

void Template::append(std::string& to, const Source& source, const Source::Row& row) const {
  for (const Piece& piece : pieces_) {
    to.append(piece.literal);
    switch (piece.fill) {
      case Fill::nothing:
        break;
      case Fill::column:
        append_escaped(to, source.rows_.field(row.row, piece.count), piece.escape);
        break;
      case Fill::uuid:
        append_uuid(to, output(source.uuids_, row.number));
        break;
      case Fill::number:
        append_number(to, row.number);
        break;
      case Fill::now:
        append_number(to, now_ms());
        break;
      case Fill::random:
        append_random(to, output(source.texts_, row.number), piece.count);
        break;
    }
  }
}

std::string literal(std::string_view text) {
  std::string out;
  for (const char c : text) out.append(c == '{' ? 2 : 1, c);
  return out;
}

std::vector<contract::Option> fill_options() {
  contract::Option data =
      given_option("data", "", 1LL << 40,
                   "file of rows that requests are filled with: path, headers and body are templates then");
  contract::Option pick = choice_option("pick", {"next", "random"}, "which row a request takes");
  contract::Option first = integer_option(
      "data_first", {0, 0, INT64_MAX}, "number of the first request, for rows and what is made of numbers");
  std::vector<contract::Option> all;
  for (contract::Option* option : {&data, &pick, &first})
    all.push_back(only(contract::Role::client, std::move(*option)));
  return all;
}

}  // namespace netdyno::http1
