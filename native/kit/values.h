// The values of a transport's options, which know no JSON: what reads and writes that
// (kit/json.h) takes longer to compile than all else in a worker.
//
// Layer: lowest of the kit. Plain values that any thread may copy.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace netdyno::contract {

/// One value: true or false, a whole number, or a text.
class Value {
 public:
  Value() : Value(std::string()) {}
  Value(bool truth) : held_(truth) {}
  template <class Number>
  requires std::is_integral_v<Number> Value(Number number) : held_(static_cast<std::int64_t>(number)) {}
  Value(const char* text) : held_(std::string(text)) {}
  Value(std::string_view text) : held_(std::string(text)) {}
  Value(std::string text) : held_(std::move(text)) {}

  /// Null when it holds another type: bool, std::int64_t or std::string.
  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&held_);
  }
  /// A bool, a text, or a number as any type of numbers. Throws std::bad_variant_access.
  template <class T>
  T get() const {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
      return std::get<T>(held_);
    } else {
      return static_cast<T>(std::get<std::int64_t>(held_));
    }
  }
  bool operator==(const Value&) const = default;

 private:
  std::variant<bool, std::int64_t, std::string> held_;
};

/// The value's text in JSON, and its type's name there.
std::string json_of(const Value& value);
std::string json_type(const Value& value);

/// Values by the names of their options. at throws std::out_of_range.
class Options : public std::map<std::string, Value, std::less<>> {
 public:
  using map::map;

  /// The option's value, or fallback where there is none.
  template <class T>
  T value(std::string_view name, T fallback) const {
    const auto found = find(name);
    return found == end() ? fallback : found->second.get<T>();
  }
  std::string value(std::string_view name, const char* fallback) const {
    return value(name, std::string(fallback));
  }
};

}  // namespace netdyno::contract
