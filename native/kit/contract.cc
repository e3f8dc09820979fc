#include "kit/contract.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "kit/json.h"

namespace netdyno::contract {
namespace {

std::string printed(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string_view name(OptionType type) {
  constexpr std::array<std::string_view, 6> kNames = {"int", "bytes", "duration", "bool", "choice", "text"};
  return kNames[static_cast<std::size_t>(type)];
}

Json names(const std::vector<Role>& roles) {
  Json list = Json::array();
  for (const Role role : roles) list.push_back(name(role));
  return list;
}

Json value_of(const Value& value) {
  if (const auto* truth = value.get_if<bool>()) return *truth;
  if (const auto* number = value.get_if<std::int64_t>()) return *number;
  return *value.get_if<std::string>();
}

Value value_of(const std::string& name, const Json& given) {
  if (given.is_boolean()) return given.get<bool>();
  if (given.is_string()) return given.get<std::string>();
  // JSON has one number type: 65536.0 is a whole number too.
  const double number = given.is_number() ? given.get<double>() : std::nan("");
  if (std::abs(number) < 0x1p63 && number == std::trunc(number)) return given.get<std::int64_t>();
  // Its value may be secret.
  throw Failure(ErrorKind::setup, "read option " + name +
                                      ": expected true or false, a whole number or a text, found a JSON " +
                                      given.type_name());
}

Json to_wire(const Option& option) {
  Json out = {{"name", option.name},
              {"type", name(option.type)},
              {"default", value_of(option.fallback)},
              {"doc", option.doc}};
  if (!option.unit.empty()) out["unit"] = option.unit;
  if (option.min) out["min"] = *option.min;
  if (option.max) out["max"] = *option.max;
  if (!option.choices.empty()) out["choices"] = option.choices;
  if (!option.roles.empty()) out["roles"] = names(option.roles);
  if (!option.grid.empty()) out["grid"] = option.grid;
  if (option.file_max > 0) out["file_max"] = option.file_max;
  for (const auto& [role, text] : option.as) out["as"][std::string(name(role))] = text;
  return out;
}

Json to_wire(const Transport& transport) {
  Json out = {{"name", transport.name},
              {"doc", transport.doc},
              {"wire", transport.wire},
              {"roles", names(transport.roles)},
              {"delivery", transport.delivery}};
  if (!transport.codecs.empty()) out["codecs"] = transport.codecs;
  if (!transport.features.empty()) out["features"] = transport.features;
  for (const Option& option : transport.options) out["options"].push_back(to_wire(option));
  return out;
}

Json to_wire(const Counts& counts) {
  Json out = {{"exchanges", counts.exchanges},
              {"sent_bytes", counts.sent_bytes},
              {"received_bytes", counts.received_bytes},
              {"connections", counts.connections}};
  if (counts.redialled > 0) out["redialled"] = counts.redialled;
  for (std::size_t kind = 0; kind < kErrorKinds; kind++) {
    if (counts.errors[kind] > 0) out["errors"][std::string(name(ErrorKind(kind)))] = counts.errors[kind];
  }
  if (counts.strangers > 0) {
    out["strangers"] = {{"connections", counts.strangers}, {"first", counts.first_stranger}};
  }
  return out;
}

Json to_wire(const Sent& sent) {
  Json out = Json::object();
  const auto number = [&out](const char* key, std::int64_t value) {
    if (value != 0) out[key] = value;
  };
  number("verify", sent.verify);
  number("before", sent.before);
  number("window", sent.window);
  number("drain", sent.drain);
  number("again", sent.again);
  return out;
}

}  // namespace

std::string_view name(Role role) {
  constexpr std::array<std::string_view, 3> kNames = {"server", "client", "pair"};
  return kNames[static_cast<std::size_t>(role)];
}

std::string_view name(ErrorKind kind) {
  constexpr std::array<std::string_view, kErrorKinds> kNames = {"unsupported", "setup",   "peer",
                                                                "timeout",     "invalid", "bug"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name(Stream stream) {
  constexpr std::array<std::string_view, 4> kNames = {"", "up", "down", "both"};
  return kNames[static_cast<std::size_t>(stream)];
}

std::int64_t Load::shortest_limit() const {
  std::int64_t least = kNoLimit;
  for (const std::int64_t ns : {deadline_ns, connect_ns}) least = ns > 0 ? std::min(least, ns) : least;
  for (const Class& of : classes) least = of.deadline_ns > 0 ? std::min(least, of.deadline_ns) : least;
  return least;
}

std::int64_t Counts::error_sum() const {
  return std::accumulate(errors.begin(), errors.end(), std::int64_t{0});
}

std::string json_of(const Value& value) { return printed(value_of(value)); }
std::string json_type(const Value& value) { return value_of(value).type_name(); }

Options options_of(const Json& given) {
  Options options;
  for (const auto& [name, value] : given.items()) options[name] = value_of(name, value);
  return options;
}

Json json_of(const Options& options) {
  Json all = Json::object();
  for (const auto& [name, value] : options) all[name] = value_of(value);
  return all;
}

Json message(const Hello& hello) {
  Json body = {{"contract", kVersion}, {"worker", hello.worker}, {"version", hello.version}};
  for (const Library& library : hello.libraries) {
    body["libraries"].push_back({{"name", library.name}, {"version", library.version}});
  }
  body["transports"] = Json::array();
  for (const Transport& transport : hello.transports) body["transports"].push_back(to_wire(transport));
  return {{"hello", body}};
}

Json message(const Ready& ready) {
  Json body = {{"threads", ready.threads}};
  if (!ready.addresses.empty()) body["addresses"] = ready.addresses;
  if (ready.connections > 0) body["connections"] = ready.connections;
  if (ready.verified > 0) body["verified"] = ready.verified;
  if (ready.repeated > 0) body["repeated"] = ready.repeated;
  if (!ready.options.empty()) body["options"] = json_of(ready.options);
  if (!ready.delivery.empty()) body["delivery"] = ready.delivery;
  if (ready.up_bytes > 0) body["up_bytes"] = ready.up_bytes;
  if (ready.down_bytes > 0) body["down_bytes"] = ready.down_bytes;
  if (ready.path) {
    Json& path = body["path"] = Json::object();
    if (!ready.path->over.empty()) path["over"] = ready.path->over;
    if (!ready.path->by.empty()) path["by"] = ready.path->by;
  }
  if (ready.polls) body["polls"] = true;
  if (!ready.nodes.empty()) body["nodes"] = ready.nodes;
  return {{"ready", body}};
}

Json message(const Mark& mark, const Reading& reading) {
  Json body = {{"id", mark.id},
               {"reading",
                {{"at_ns", reading.at_ns}, {"cpu_ns", reading.cpu_ns}, {"counts", to_wire(reading.counts)}}}};
  if (mark.reset) body["reset"] = true;
  if (mark.keep) body["keep"] = true;
  if (mark.part) body["part"] = true;
  return {{"mark", body}};
}

namespace {

Json to_wire(const ClassResult& of) {
  Json body = {{"name", of.name},
               {"exchanges", of.exchanges},
               {"sent_bytes", of.sent_bytes},
               {"received_bytes", of.received_bytes}};
  for (const auto& [key, value] : {std::pair{"errors", of.errors},
                                   {"late", of.late},
                                   {"drained", of.drained},
                                   {"unfinished", of.unfinished}}) {
    if (value != 0) body[key] = value;
  }
  if (!of.service.empty()) body["service"] = of.service;
  if (!of.response.empty()) body["response"] = of.response;
  return body;
}

/// Adds those that are not empty.
void add_texts(Json& to, std::initializer_list<std::pair<const char*, std::string_view>> texts) {
  for (const auto& [key, value] : texts) {
    if (!value.empty()) to[key] = value;
  }
}

Json to_wire(const Result& result) {
  Json body = {{"from_ns", result.from_ns}, {"to_ns", result.to_ns}, {"counts", to_wire(result.counts)}};
  const auto number = [&body](const char* key, std::int64_t value) {
    if (value != 0) body[key] = value;
  };
  number("drained", result.drained);
  number("unfinished", result.unfinished);
  number("over_max", result.over_max);
  add_texts(body, {{"ages", result.ages},
                   {"service", result.service},
                   {"response", result.response},
                   {"lag", result.lag},
                   {"late", result.late},
                   {"lengths", result.lengths}});
  for (const Reason& reason : result.reasons) {
    Json each = {{"text", reason.text}, {"count", reason.count}};
    if (reason.kind) each["kind"] = name(*reason.kind);
    body["reasons"].push_back(std::move(each));
  }
  for (const ClassResult& of : result.classes) body["classes"].push_back(to_wire(of));
  for (const ClassResult& of : result.paths) body["paths"].push_back(to_wire(of));
  if (result.arrivals) {
    body["arrivals"] = {{"gaps", result.arrivals->gaps},
                        {"sum_ns", result.arrivals->sum_ns},
                        {"sum_squares_ns2", result.arrivals->sum_squares_ns2},
                        {"stretch_ns", result.arrivals->stretch_ns}};
  }
  if (result.inside) {
    Json& inside =
        body["inside"] = {{"exchanges", result.inside->exchanges}, {"cycles", result.inside->cycles}};
    if (result.inside->idle_ns != 0) inside["idle_ns"] = result.inside->idle_ns;
    if (result.inside->due > 0) inside["due"] = result.inside->due;
  }
  if (result.sent) body["sent"] = to_wire(*result.sent);
  if (result.events) {
    body["events"] = {{"count", result.events->count}};
    add_texts(body["events"], {{"first", result.events->first},
                               {"gaps", result.events->gaps},
                               {"waiting", result.events->waiting}});
  }
  if (result.stages) {
    body["stages"] = Json::object();
    if (result.stages->resumed != 0) body["stages"]["resumed"] = result.stages->resumed;
    add_texts(body["stages"], {{"connect", result.stages->connect},
                               {"handshake", result.stages->handshake},
                               {"first_byte", result.stages->first_byte},
                               {"waiting", result.stages->waiting}});
  }
  return body;
}

}  // namespace

Json message(const Result& result) { return {{"result", to_wire(result)}}; }

Json part_message(std::int64_t id, const Result& result) {
  return {{"part", {{"id", id}, {"result", to_wire(result)}}}};
}

Json tick_message(std::int64_t at_ns, const Counts& counts, const std::optional<TickTimes>& times) {
  Json body = {{"at_ns", at_ns}, {"exchanges", counts.exchanges}, {"received_bytes", counts.received_bytes}};
  if (counts.error_sum() > 0) body["errors"] = counts.error_sum();
  if (times) {
    Json& told = body["times"] = {{"count", times->count}, {"max_ns", times->max_ns}};
    if (times->p50_ns > 0) told["p50_ns"] = times->p50_ns;
    if (times->p99_ns > 0) told["p99_ns"] = times->p99_ns;
  }
  return {{"tick", body}};
}

Json error_message(ErrorKind kind, const std::string& text, bool fatal, const std::optional<Sent>& sent) {
  Json body = {{"kind", name(kind)}, {"text", text}};
  if (fatal) body["fatal"] = true;
  if (sent) body["sent"] = to_wire(*sent);
  return {{"error", body}};
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, std::min<std::size_t>(word.size(), 64) / 2) + 1;
  if (word.size() > 64) return best;
  for (const std::string& candidate : candidates) {
    // Levenshtein distance, one row at a time.
    std::vector<std::size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 1; i <= word.size(); i++) {
      std::size_t diagonal = std::exchange(row[0], i);
      for (std::size_t j = 1; j <= candidate.size(); j++) {
        const std::size_t replace = diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replace}));
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace netdyno::contract
