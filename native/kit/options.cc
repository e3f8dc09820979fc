#include "kit/options.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "kit/system.h"

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;
using contract::Option;
using contract::Options;
using contract::OptionType;
using contract::Value;

namespace {

/// Bytes of a text: a request's body, for instance.
constexpr std::size_t kMaxText = 64 << 10;

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out.empty() ? "none" : out;
}

std::string suggestion(const std::string& word, const std::vector<std::string>& words) {
  const std::string near = contract::nearest(word, words);
  return near.empty() ? "" : ", did you mean \"" + near + "\"?";
}

template <class T>
bool has(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

/// Refuses features and codecs that the transport does not have.
void require_features(const contract::Transport& transport, const contract::Setup& setup) {
  std::vector<std::string> asked = setup.beyond;
  const bool client = setup.role == contract::Role::client;
  if (setup.tls) asked.emplace_back("tls");
  if (setup.tls && setup.tls->resume && client) asked.emplace_back("resume");
  if (setup.load.fresh) asked.emplace_back("fresh");
  if (const auto stream = contract::name(setup.exchange.stream); !stream.empty()) {
    asked.push_back("stream-" + std::string(stream));
  }
  if (setup.exchange.every_ns > 0 || (setup.events && client)) asked.emplace_back("events");
  if (setup.stages && client) asked.emplace_back("stages");
  const contract::Load& load = setup.load;
  const auto classes = [&load](auto is) { return std::any_of(load.classes.begin(), load.classes.end(), is); };
  if (!load.turns.empty()) asked.emplace_back("turns");
  if (!load.classes.empty()) asked.emplace_back("mix");
  if (!load.classes.empty() && !load.turns.empty()) asked.emplace_back("turns-mix");
  if (classes([](const contract::Class& c) { return !c.headers.empty(); })) asked.emplace_back("headers");
  if (load.deadline_ns > 0 || load.connect_ns > 0 ||
      classes([](const contract::Class& c) { return c.deadline_ns != 0; })) {
    asked.emplace_back("deadline");
  }
  if (load.gather_ns > 0) asked.emplace_back("gather");
  if (setup.work && setup.role == contract::Role::server) {
    asked.emplace_back(setup.work->sleeps ? "work-sleep" : "work-cpu");
  }
  for (const std::string& feature : asked) {
    if (has(transport.features, feature)) continue;
    throw Failure(ErrorKind::unsupported, "transport " + transport.name + " does not have feature " +
                                              feature + "; it has " + join(transport.features));
  }
  const std::string& codec = setup.exchange.codec;
  if (codec.empty() || codec == "bytes" || has(transport.codecs, codec)) return;
  throw Failure(ErrorKind::unsupported, "transport " + transport.name + " does not have codec " + codec +
                                            "; it has bytes" +
                                            (transport.codecs.empty() ? "" : ", " + join(transport.codecs)));
}

/// The value, where the option takes it. Throws Failure{setup}.
Value checked(const Option& option, const Value& value) {
  const auto refuse = [&](const std::string& expected) {
    throw Failure(ErrorKind::setup, "read option " + option.name + ": expected " + expected + ", found " +
                                        json_of(value).substr(0, 60));
  };
  const auto* const text = value.get_if<std::string>();
  if (option.type == OptionType::choice) {
    if (text == nullptr || !has(option.choices, *text)) {
      refuse("one of " + join(option.choices) + (text == nullptr ? "" : suggestion(*text, option.choices)));
    }
    return value;
  }
  if (option.type == OptionType::text) {
    // A header or a body may be secret: no error has a part of it.
    if (text == nullptr || text->size() > kMaxText) {
      throw Failure(ErrorKind::setup, "read option " + option.name + ": expected a text of at most " +
                                          std::to_string(kMaxText) + " bytes, found " +
                                          (text == nullptr ? "a JSON " + json_type(value)
                                                           : std::to_string(text->size()) + " bytes"));
    }
    return value;
  }
  if (option.type == OptionType::boolean) {
    if (value.get_if<bool>() == nullptr) refuse("true or false");
    return value;
  }
  // Every whole number of JSON that all its readers tell apart.
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  const std::int64_t min = option.min.value_or(-kMost);
  const std::int64_t max = option.max.value_or(kMost);
  const auto* const number = value.get_if<std::int64_t>();
  if (number == nullptr || *number < min || *number > max) {
    refuse("a whole number from " + std::to_string(min) + " to " + std::to_string(max));
  }
  return value;
}

Option described(const std::string& name, OptionType type, const std::string& doc) {
  Option option;
  option.name = name;
  option.type = type;
  option.doc = doc;
  return option;
}

}  // namespace

Option choice_option(const std::string& name, const std::vector<std::string>& choices,
                     const std::string& doc) {
  Option option = described(name, OptionType::choice, doc);
  option.fallback = choices.front();
  option.choices = choices;
  return option;
}

Option boolean_option(const std::string& name, bool fallback, const std::string& doc) {
  Option option = described(name, OptionType::boolean, doc);
  option.fallback = fallback;
  return option;
}

Option integer_option(const std::string& name, const Range& range, const std::string& doc) {
  Option option = described(name, OptionType::integer, doc);
  option.fallback = range.fallback;
  option.min = range.min;
  option.max = range.max;
  return option;
}

Option bytes_option(const std::string& name, const Range& range, const std::string& doc) {
  Option option = integer_option(name, range, doc);
  option.type = OptionType::bytes;
  option.unit = "B";
  return option;
}

Option duration_option(const std::string& name, const Range& range, const std::string& doc) {
  Option option = integer_option(name, range, doc);
  option.type = OptionType::duration;
  option.unit = "ns";
  return option;
}

Option text_option(const std::string& name, const std::string& fallback, const std::string& doc) {
  Option option = described(name, OptionType::text, doc);
  option.fallback = fallback;
  return option;
}

Option given_option(const std::string& name, const std::string& fallback, std::int64_t file_max,
                    const std::string& doc) {
  Option option = text_option(name, fallback, doc);
  option.file_max = file_max;
  return option;
}

std::string given_text(const Options& options, const std::string& name, std::int64_t file_max) {
  auto text = options.at(name).get<std::string>();
  if (text.empty() || text[0] != '@') return text;
  text.erase(0, 1);
  if (!text.empty() && text[0] == '@') return text;
  return read_file("option " + name, text, static_cast<std::size_t>(file_max));
}

Option raced(Option option, const std::vector<std::string>& grid,
             const std::vector<std::pair<contract::Role, std::string>>& as) {
  option.grid = grid;
  option.as = as;
  return option;
}

Option only(contract::Role role, Option option) {
  option.roles = {role};
  return option;
}

Options complete_options(const contract::Transport& transport, contract::Role role, const Options& given) {
  Options complete;
  std::vector<std::string> names;
  for (const Option& option : transport.options) {
    if (!option.roles.empty() && !has(option.roles, role)) continue;
    names.push_back(option.name);
    const auto value = given.find(option.name);
    complete[option.name] = checked(option, value == given.end() ? option.fallback : value->second);
  }
  for (const auto& [name, value] : given) {
    if (complete.contains(name)) continue;
    throw Failure(ErrorKind::setup, "read option " + name + ": " + transport.name + " as " +
                                        std::string(contract::name(role)) + " has " + join(names) +
                                        suggestion(name, names));
  }
  return complete;
}

const contract::Transport& find_transport(const std::vector<contract::Transport>& transports,
                                          const contract::Setup& setup) {
  std::vector<std::string> names;
  for (const contract::Transport& transport : transports) {
    names.push_back(transport.name);
    if (transport.name != setup.transport) continue;
    if (!has(transport.roles, setup.role)) {
      throw Failure(ErrorKind::unsupported, "transport " + transport.name + " has no role " +
                                                std::string(contract::name(setup.role)));
    }
    require_features(transport, setup);
    return transport;
  }
  throw Failure(ErrorKind::unsupported, "no transport \"" + setup.transport + "\" here, expected " +
                                            join(names) + suggestion(setup.transport, names));
}

std::string read_file(const std::string& what, const std::string& name, std::size_t most) {
  const auto refuse = [&what](const std::string& text) {
    throw contract::Failure(contract::ErrorKind::setup, what + ": " + text);
  };
  const auto reason = [] { return std::generic_category().message(errno); };
  // A pipe that nobody writes to would hold up the open.
  const Descriptor file(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0) refuse("open " + name + ": " + reason());
  if (!S_ISREG(status.st_mode)) refuse(name + " is no regular file");
  std::string text;
  std::array<char, 64 << 10> piece;
  while (text.size() <= most) {
    const ssize_t n = read(file.get(), piece.data(), piece.size());
    if (n < 0) refuse("read " + name + ": " + reason());
    if (n == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
  refuse(name + " has more than " + std::to_string(most) + " bytes, the most that are taken");
  return {};
}

}  // namespace netdyno
