#include "http1/events.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "http1/bodies.h"
#include "http1/terms.h"
#include "kit/options.h"

namespace netdyno::http1 {

std::vector<contract::Option> event_options() {
  constexpr std::int64_t kMostEvents = 1'000'000'000;
  constexpr std::int64_t kDay = std::int64_t{24} * 3600 * 1'000'000'000;
  std::vector<contract::Option> all = {
      choice_option("events", {"sized", "sse", "chat", "lines", "chunks"},
                    "what an event of a reply is: sized, a message of the factor chunk; sse, a server-sent "
                    "event with data; chat, one with text of an OpenAI-compatible endpoint; lines; chunks, "
                    "what comes at once"),
      integer_option("most_events", {0, 0, kMostEvents},
                     "events after which the client ends a reply; 0 is without bound"),
      duration_option("events_for", {0, 0, kDay},
                      "time since the reply began after which the client ends it; 0 is without bound")};
  for (contract::Option& option : all) option = only(contract::Role::client, std::move(option));
  return all;
}

Following following_of(const contract::Setup& setup) {
  if (!setup.events) return {};
  const contract::Options& o = setup.options;
  const contract::Option kinds = event_options()[0];
  const auto level = std::find(kinds.choices.begin(), kinds.choices.end(), o.at("events").get<std::string>());
  const Following following{static_cast<EventKind>(level - kinds.choices.begin()),
                            o.at("most_events").get<std::int64_t>(), o.at("events_for").get<std::int64_t>()};
  if (!following.splits() && (following.most > 0 || following.lasts_ns > 0)) {
    throw contract::Failure(
        contract::ErrorKind::unsupported,
        "option most_events or events_for is given, and option events is sized: this client "
        "ends no replies of netdyno's own streams");
  }
  return following;
}

void EventSplitter::next() {
  line_ = 0;
  cr_ = data_ = false;
  text_.clear();
  ended_ = told_ = 0;
  wrong_.clear();
}

void EventSplitter::take(std::string_view part) {
  if (kind_ == EventKind::chunks) {
    if (!part.empty()) ended_ = 1;
    return;
  }
  if (cr_ && !part.empty()) {
    cr_ = false;
    if (part[0] == '\n') part.remove_prefix(1);
  }
  while (!part.empty() && wrong_.empty()) {
    const std::size_t feed = std::min(part.find('\n'), part.size());
    const std::size_t n = std::min(part.substr(0, feed).find('\r'), feed);
    take_line(part.substr(0, n));
    if (n == part.size()) return;
    end_line();
    const bool returned = part[n] == '\r';
    part.remove_prefix(n + 1);
    if (!returned) continue;
    cr_ = part.empty();
    if (!cr_ && part[0] == '\n') part.remove_prefix(1);
  }
}

/// Takes a part of a line.
void EventSplitter::take_line(std::string_view part) {
  constexpr std::size_t kMostChat = 1 << 20;
  const std::size_t name = line_ < named_.size() ? std::min(named_.size() - line_, part.size()) : 0;
  std::copy_n(part.begin(), name,
              named_.begin() + static_cast<std::ptrdiff_t>(std::min(line_, named_.size())));
  line_ += part.size();
  if (kind_ != EventKind::chat || line_ <= named_.size() ||
      std::string_view(named_.data(), named_.size()) != "data:")
    return;
  part.remove_prefix(name);
  if (text_.size() + part.size() > kMostChat) {
    wrong_ = "an event of more than 1 MiB";
    return;
  }
  text_.append(part);
}

void EventSplitter::end_line() {
  const std::size_t n = std::exchange(line_, 0);
  if (kind_ == EventKind::lines) {
    if (n > 0) ended_++;
    return;
  }
  if (n > 0) {
    const std::string_view field(named_.data(), std::min(n, named_.size()));
    data_ = data_ || field == "data" || field == "data:";
    return;
  }
  if (data_ && (kind_ != EventKind::chat || says())) ended_++;
  data_ = false;
  text_.clear();
}

void EventSplitter::end() {
  if (kind_ == EventKind::lines && line_ > 0) ended_++;
}

std::int64_t EventSplitter::ended(std::int64_t most) {
  std::int64_t n = std::exchange(ended_, 0);
  if (most > 0) n = std::min(n, most - told_);
  told_ += n;
  return n;
}

namespace {

using Json = nlohmann::json;

/// The member of an object; nullptr where there is none, or no object.
const Json* member(const Json& of, const char* name) {
  const auto found = of.find(name);
  return found == of.end() ? nullptr : &*found;
}

std::string text_of(const Json* value) {
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

/// Whether a member is there and holds something.
bool has(const Json& of, const char* name) {
  const Json* const value = member(of, name);
  if (value == nullptr || value->is_null()) return false;
  return value->is_string() ? !value->get_ref<const std::string&>().empty()
                            : !value->is_structured() || !value->empty();
}

/// What a server says of a chat that it cannot go on with, whose status 200 it has sent already.
std::string broken_off(const std::string& said) {
  std::string text = "the server breaks the reply off: " + beginning(said, kMostReason);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; }, '?');
  return text;
}

}  // namespace

/// Whether an event of a chat brings text of the answer. Of "[DONE]" and what else is no chunk nothing is
/// taken.
/// Source: OpenAI, API reference, "The chat completion chunk object"; vLLM and OpenRouter for reasoning and
/// errors.
bool EventSplitter::says() {
  const Json chunk = parsed(text_);
  if (const Json* const error = member(chunk, "error"); error != nullptr && !error->is_null()) {
    const std::string message = text_of(member(*error, "message"));
    wrong_ = broken_off(message.empty() ? error->dump() : message);
    return false;
  }
  if (text_of(member(chunk, "object")) == "error") {
    wrong_ = broken_off(text_of(member(chunk, "message")));
    return false;
  }
  const Json* const choices = member(chunk, "choices");
  if (choices == nullptr || !choices->is_array()) return false;
  return std::any_of(choices->begin(), choices->end(), [](const Json& choice) {
    if (has(choice, "text")) return true;
    const Json* const delta = member(choice, "delta");
    constexpr std::array kBring = {"content", "reasoning",  "reasoning_content",
                                   "refusal", "tool_calls", "function_call"};
    return delta != nullptr &&
           std::any_of(kBring.begin(), kBring.end(), [delta](const char* name) { return has(*delta, name); });
  });
}

}  // namespace netdyno::http1
