// Reads a file of contract/vectors. Layer: test.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "test/executable.h"

namespace netdyno::test {

inline nlohmann::json vectors(const std::string& name) {
  std::ifstream file(beside(NETDYNO_VECTORS) + "/" + name);
  if (!file) throw std::runtime_error("open contract/vectors/" + name);
  return nlohmann::json::parse(file);
}

/// A text, or {"repeat": TEXT, "times": N}.
inline std::string expand(const nlohmann::json& text) {
  if (text.is_string()) return text;
  const std::string part = text.at("repeat");
  const int times = text.at("times");
  std::string out;
  for (int i = 0; i < times; i++) out += part;
  return out;
}

}  // namespace netdyno::test
