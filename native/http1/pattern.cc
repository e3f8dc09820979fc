#include <re2/re2.h>

#include <algorithm>

#include "http1/bodies.h"
#include "http1/terms.h"

namespace netdyno::http1 {

namespace {

/// Each body has a match within its first MiB, or none.
class Pattern final : public Bodies {
 public:
  Pattern(const std::string& text, bool lacks) : pattern_(text, RE2::Quiet), lacks_(lacks) {
    if (pattern_.ok()) return;
    throw contract::Failure(contract::ErrorKind::setup, "option expected: the pattern " + quoted() +
                                                            " is wrong: " + pattern_.error() +
                                                            "; expected RE2's syntax");
  }

  bool takes(std::string_view body) const override {
    constexpr std::size_t kMost = 1 << 20;
    const std::size_t size = std::min(body.size(), kMost);
    return pattern_.Match({body.data(), size}, 0, size, RE2::UNANCHORED, nullptr, 0) != lacks_;
  }
  std::string explain(std::string_view body) const override {
    return "the body of " + std::to_string(body.size()) + " bytes has " + (lacks_ ? "a" : "no") +
           " match of " + quoted();
  }
  std::string reason() const override { return lacks_ ? "body has a match of " + quoted() : "body differs"; }

 private:
  std::string quoted() const { return as_json(beginning(pattern_.pattern(), 80)); }

  RE2 pattern_;
  bool lacks_;
};

}  // namespace

std::unique_ptr<const Bodies> matching(const std::string& pattern, bool lacks) {
  return std::make_unique<Pattern>(pattern, lacks);
}

}  // namespace netdyno::http1
