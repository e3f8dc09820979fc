// Reads the bench's commands from JSON. contract.cc writes a worker's answers.
#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <utility>

#include "kit/json.h"

namespace netdyno::contract {
namespace {

/// Reads the fields of one JSON object. null and absent both mean the default.
class Fields {
 public:
  Fields(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object_.is_object()) refuse("", "an object");
  }

  void read(const char* key, std::string& into) const { read(key, into, &Json::is_string, "a string"); }
  void read(const char* key, bool& into) const { read(key, into, &Json::is_boolean, "true or false"); }
  void read(const char* key, double& into) const { read(key, into, &Json::is_number, "a number"); }
  void read(const char* key, std::uint64_t& into) const {
    read(key, into, &Json::is_number_unsigned, "an integer from 0 to 2^64-1");
  }

  void read(const char* key, std::int64_t& into) const {
    const Json* v = find(key);
    constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
    const bool beyond = v != nullptr && v->is_number_unsigned() && v->get<std::uint64_t>() > kMax;
    if (beyond) refuse(key, "an integer of 64 bits");
    read(key, into, &Json::is_number_integer, "an integer of 64 bits");
  }

  void read(const char* key, std::vector<std::string>& into) const {
    const auto is_text = [](const Json& item) { return item.is_string(); };
    const Json* v = find(key);
    if (v != nullptr && !(v->is_array() && std::all_of(v->begin(), v->end(), is_text))) {
      refuse(key, "an array of strings");
    }
    if (v != nullptr) into = v->get<std::vector<std::string>>();
  }

  /// An array of arrays of n whole numbers.
  template <std::size_t n>
  std::vector<std::array<std::int64_t, n>> tuples(const char* key) const {
    const Json* v = find(key);
    if (v == nullptr) return {};
    const auto is_tuple = [](const Json& item) {
      return item.is_array() && item.size() == n &&
             std::all_of(item.begin(), item.end(), [](const Json& each) { return each.is_number_integer(); });
    };
    if (!v->is_array() || !std::all_of(v->begin(), v->end(), is_tuple))
      refuse(key, "an array of arrays of " + std::to_string(n) + " integers");
    return v->get<std::vector<std::array<std::int64_t, n>>>();
  }

  Table table(const char* key) const {
    Table table;
    for (const auto& [end, low, high] : tuples<3>(key)) table.push_back({end, low, high});
    return table;
  }

  /// The value, or nullptr when absent or null.
  const Json* find(const char* key) const {
    const auto entry = object_.find(key);
    return entry == object_.end() || entry->is_null() ? nullptr : &*entry;
  }

  /// A wrong type makes the line bad (invalid). A value that cannot be used fails the
  /// setup.
  [[noreturn]] void refuse(const std::string& key, const std::string& expected,
                           ErrorKind kind = ErrorKind::invalid) const {
    const Json* found = key.empty() ? &object_ : find(key.c_str());
    throw Failure(kind, "read " + path_ + (key.empty() ? "" : "." + key) + ": expected " + expected +
                            ", found " + (found ? found->dump().substr(0, 60) : "nothing"));
  }

 private:
  template <class T>
  void read(const char* key, T& into, bool (Json::*is)() const noexcept, const char* expected) const {
    const Json* v = find(key);
    if (v == nullptr) return;
    if (!(v->*is)()) refuse(key, expected);
    into = v->get<T>();
  }

  const Json& object_;
  std::string path_;
};

constexpr std::int64_t kMaxThreads = 1'024;

/// Adds the features of keys that are given.
void add_beyond(const Fields& in, std::initializer_list<std::pair<const char*, const char*>> features,
                std::vector<std::string>& beyond) {
  for (const auto& [key, feature] : features) {
    if (const Json* given = in.find(key); given != nullptr && !given->empty()) beyond.emplace_back(feature);
  }
}

Class parse_class(const Json& body, const std::string& path, std::vector<std::string>& beyond) {
  Class of;
  const Fields in(body, path);
  in.read("name", of.name);
  in.read("end", of.end);
  in.read("up_bytes", of.up_bytes);
  in.read("down_bytes", of.down_bytes);
  in.read("method", of.method);
  in.read("path", of.path);
  in.read("headers", of.headers);
  in.read("status", of.status);
  in.read("deadline_ns", of.deadline_ns);
  std::int64_t think_ns = 0;
  in.read("think_ns", think_ns);
  if (think_ns != 0) beyond.emplace_back("think");
  if (of.method.starts_with('/')) beyond.emplace_back("methods");
  add_beyond(in, {{"up_sizes", "sizes"}, {"down_sizes", "sizes"}}, beyond);
  return of;
}

void parse_classes(const Fields& in, Load& load, std::vector<std::string>& beyond) {
  const Json* classes = in.find("classes");
  if (classes == nullptr) return;
  if (!classes->is_array()) in.refuse("classes", "an array of classes");
  if (classes->size() > static_cast<std::size_t>(kMostClasses))
    in.refuse("classes", "at most " + std::to_string(kMostClasses), ErrorKind::setup);
  for (const Json& of : *classes) {
    const std::string path = "setup.load.classes[" + std::to_string(load.classes.size()) + "]";
    load.classes.push_back(parse_class(of, path, beyond));
  }
  load.keys = in.table("keys");
}

Load parse_load(const Json& body, std::vector<std::string>& beyond) {
  Load load;
  const Fields in(body, "setup.load");
  in.read("connections", load.connections);
  in.read("in_flight", load.in_flight);
  in.read("rate", load.rate);
  in.read("think_ns", load.think_ns);
  in.read("active_share", load.active_share);
  in.read("fresh", load.fresh);
  in.read("amount", load.amount);
  in.read("drain_ns", load.drain_ns);
  in.read("max_errors", load.max_errors);
  in.read("deadline_ns", load.deadline_ns);
  in.read("connect_ns", load.connect_ns);
  in.read("gather_ns", load.gather_ns);
  std::string arrival;
  in.read("arrival", arrival);
  if (arrival == "poisson") {
    load.arrival = Arrival::poisson;
  } else if (!arrival.empty() && arrival != "constant" && arrival != "drawn" && arrival != "recorded") {
    in.refuse("arrival", "constant, poisson, drawn or recorded", ErrorKind::setup);
  }
  if (arrival == "drawn") beyond.emplace_back("arrivals");
  if (arrival == "recorded" && in.find("trace") == nullptr) beyond.emplace_back("trace");
  add_beyond(in, {{"phases", "arrivals"}, {"trace", "trace"}}, beyond);
  parse_classes(in, load, beyond);
  if (const Json* turns = in.find("turns"); turns != nullptr && turns->size() > kMostTurns)
    in.refuse("turns", "at most " + std::to_string(kMostTurns) + " turns", ErrorKind::setup);
  load.turns = in.tuples<2>("turns");
  if (load.in_flight == 0) load.in_flight = 1;
  if (load.active_share == 0) load.active_share = 1;
  if (load.drain_ns == 0) load.drain_ns = Load{}.drain_ns;
  return load;
}

Role parse_role(const Fields& in) {
  std::string role;
  in.read("role", role);
  if (role == "server") return Role::server;
  if (role == "client") return Role::client;
  if (role == "pair") return Role::pair;
  throw Failure(ErrorKind::unsupported,
                "read setup.role: expected server, client or pair, found \"" + role + "\"");
}

Content parse_content(const Json& body, const std::string& path) {
  Content content;
  const Fields in(body, path);
  in.read("type", content.type);
  in.read("json", content.json);
  return content;
}

Structure parse_structure(const Json& body) {
  Structure structure;
  const Fields in(body, "setup.exchange.message");
  in.read("name", structure.name);
  in.read("descriptors", structure.descriptors);
  if (const Json* up = in.find("up")) structure.up = parse_content(*up, "setup.exchange.message.up");
  if (const Json* down = in.find("down"))
    structure.down = parse_content(*down, "setup.exchange.message.down");
  return structure;
}

/// mixed: the sizes are those of classes.
Exchange parse_exchange(const Json& body, bool mixed, std::vector<std::string>& beyond) {
  Exchange exchange;
  const Fields in(body, "setup.exchange");
  in.read("up_bytes", exchange.up_bytes);
  in.read("down_bytes", exchange.down_bytes);
  in.read("codec", exchange.codec);
  in.read("chunk_bytes", exchange.chunk_bytes);
  in.read("every_ns", exchange.every_ns);
  std::string stream;
  in.read("stream", stream);
  for (const Stream level : {Stream::up, Stream::down, Stream::both}) {
    if (stream == name(level)) exchange.stream = level;
  }
  if (stream != name(exchange.stream)) in.refuse("stream", "up, down or both", ErrorKind::unsupported);
  if (!mixed) add_beyond(in, {{"up_sizes", "sizes"}, {"down_sizes", "sizes"}}, beyond);
  exchange.tells_down = !in.table("down_sizes").empty();
  if (const Json* message = in.find("message")) exchange.message = parse_structure(*message);
  return exchange;
}

Work parse_work(const Json& body) {
  Work work;
  const Fields in(body, "setup.work");
  work.ns = in.table("ns");
  std::string by;
  in.read("by", by);
  if (by != "cpu" && by != "sleep") in.refuse("by", "cpu or sleep", ErrorKind::setup);
  work.sleeps = by == "sleep";
  return work;
}

Tls parse_tls(const Json& body) {
  Tls tls;
  const Fields in(body, "setup.tls");
  in.read("authorities", tls.authorities);
  in.read("certificate", tls.certificate);
  in.read("key", tls.key);
  in.read("resume", tls.resume);
  return tls;
}

}  // namespace

Setup parse_setup(const Json& body) {
  Setup setup;
  const Fields in(body, "setup");
  in.read("trial", setup.trial);
  in.read("transport", setup.transport);
  setup.role = parse_role(in);
  in.read("seed", setup.seed);
  in.read("listen", setup.listen);
  in.read("listeners", setup.listeners);
  in.read("timeline", setup.timeline);
  in.read("events", setup.events);
  in.read("stages", setup.stages);
  in.read("allow", setup.allow);
  in.read("peers", setup.peers);
  in.read("sources", setup.sources);
  in.read("threads", setup.threads);
  if (setup.listeners == 0) setup.listeners = 1;
  if (const Json* tls = in.find("tls")) setup.tls = parse_tls(*tls);
  if (const Json* load = in.find("load")) setup.load = parse_load(*load, setup.beyond);
  if (const Json* exchange = in.find("exchange"))
    setup.exchange = parse_exchange(*exchange, !setup.load.classes.empty(), setup.beyond);
  if (const Json* work = in.find("work")) setup.work = parse_work(*work);
  if (const Json* options = in.find("options")) {
    if (!options->is_object()) in.refuse("options", "an object");
    setup.options = options_of(*options);
  }
  for (const auto& [key, value] : {std::pair{"listeners", setup.listeners}, {"threads", setup.threads}}) {
    if (value < 0 || value > kMaxThreads)
      in.refuse(key, "0 to " + std::to_string(kMaxThreads), ErrorKind::setup);
  }
  return setup;
}

Mark parse_mark(const Json& body) {
  Mark mark;
  const Fields in(body, "mark");
  in.read("id", mark.id);
  in.read("reset", mark.reset);
  in.read("keep", mark.keep);
  in.read("part", mark.part);
  return mark;
}

}  // namespace netdyno::contract
