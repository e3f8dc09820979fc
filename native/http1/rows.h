// Rows of data that requests are filled with, and the templates that name their columns
// (contract/MIXES.md, section Data). Go counterpart: internal/rows.
//
// Layer: bottom of http1. Immutable after construction: any thread may use it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kit/contract.h"
#include "kit/system.h"

namespace netdyno::http1 {

/// A file of rows, mapped into memory.
class Rows : Pinned {
 public:
  /// Throws Failure{setup} that names the file where it cannot be read or is none.
  explicit Rows(const std::string& name);
  ~Rows();

  std::uint64_t columns() const { return columns_; }
  std::uint64_t rows() const { return rows_; }
  std::uint64_t salt() const { return salt_; }
  std::string_view field(std::uint64_t row, std::uint64_t column) const {
    const std::uint64_t at = row * columns_ + column;
    return text_.substr(number(index_ + at * kWord),
                        number(index_ + (at + 1) * kWord) - number(index_ + at * kWord));
  }

 private:
  static constexpr std::uint64_t kWord = 8;

  std::uint64_t number(std::uint64_t at) const;
  bool sound();

  std::string_view text_;  // the whole file
  std::uint64_t columns_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t salt_ = 0;
  std::uint64_t index_ = 0;  // where it begins
};

/// What each request is filled with.
class Source {
 public:
  struct Picks {
    std::uint64_t first;  // number of the first request
    bool random;
  };
  /// rows outlive it.
  Source(const Rows& rows, std::uint64_t seed, const Picks& picks);

  struct Row {
    std::uint64_t number;  // of the request
    std::uint64_t row;
  };
  /// What request number n, from 0, is filled with.
  Row of(std::uint64_t n) const;

 private:
  friend class Template;
  const Rows& rows_;
  Picks picks_;
  std::uint64_t picked_;  // states at which the streams begin
  std::uint64_t uuids_;
  std::uint64_t texts_;
};

/// A text with places that rows fill.
class Template {
 public:
  /// Throws Failure{setup} for one that is none, or names a column that rows do not have.
  Template(std::string_view text, std::uint64_t columns);
  /// Adds the text that a request has.
  void append(std::string& to, const Source& source, const Source::Row& row) const;

 private:
  enum class Fill { nothing, column, uuid, number, now, random };
  struct Piece {
    std::string literal;
    Fill fill = Fill::nothing;  // that follows it
    char escape = 0;            // of a column
    std::uint64_t count = 0;    // of a column its number, of a random text its length
  };
  static Piece piece_of(std::string_view name, std::uint64_t columns);

  std::vector<Piece> pieces_;
};

/// The text as a template that has nothing to fill.
std::string literal(std::string_view text);

/// The options of a client that fills its requests.
std::vector<contract::Option> fill_options();

}  // namespace netdyno::http1
