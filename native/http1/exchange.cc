#include "http1/exchange.h"

#include <strings.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace netdyno::http1 {

using contract::ErrorKind;
using contract::Failure;

/// llhttp's callbacks, for both directions.
struct Callbacks {
  static Reader& of(llhttp_t* parser) { return *static_cast<Reader*>(parser->data); }

  static int status(llhttp_t* parser, const char* at, std::size_t size) {
    of(parser).on_status({at, size});
    return HPE_OK;
  }
  static int field(llhttp_t* parser, const char* at, std::size_t size) {
    of(parser).on_field({at, size});
    return HPE_OK;
  }
  static int field_end(llhttp_t* parser) {
    of(parser).on_field_end();
    return HPE_OK;
  }
  static int value(llhttp_t* parser, const char* at, std::size_t size) {
    of(parser).on_value({at, size});
    return HPE_OK;
  }
  static int value_end(llhttp_t* parser) {
    of(parser).on_value_end();
    return HPE_OK;
  }
  static int head(llhttp_t* parser) {
    constexpr int kNoBody = 1;
    parser->upgrade = 0;  // no other protocol is spoken here, whoever proposes it
    Reader& reader = of(parser);
    if (reader.on_head()) return kNoBody;
    const bool told = (parser->flags & F_CONTENT_LENGTH) != 0;
    if (!told || parser->content_length <= static_cast<std::uint64_t>(reader.most_)) return HPE_OK;
    reader.endless_ = true;
    return HPE_USER;
  }
  static int body(llhttp_t* parser, const char* at, std::size_t size) {
    Reader& reader = of(parser);
    reader.head_ = 0;
    reader.body_ += static_cast<std::int64_t>(size);
    reader.on_body({at, size});
    if (reader.body_ <= reader.most_) return HPE_OK;
    reader.endless_ = true;
    return HPE_USER;
  }
  static int end(llhttp_t* parser) {
    Reader& reader = of(parser);
    if (!reader.on_end()) return HPE_OK;
    reader.complete_ = true;
    reader.keeps_ = llhttp_should_keep_alive(parser) != 0;
    return HPE_PAUSED;
  }

  static llhttp_settings_t of_requests() {
    llhttp_settings_t settings;
    llhttp_settings_init(&settings);
    settings.on_header_field = field;
    settings.on_header_field_complete = field_end;
    settings.on_header_value = value;
    settings.on_header_value_complete = value_end;
    settings.on_headers_complete = head;
    settings.on_body = body;
    settings.on_message_complete = end;
    return settings;
  }
  static llhttp_settings_t of_replies() {
    llhttp_settings_t settings;
    llhttp_settings_init(&settings);
    settings.on_status = status;
    settings.on_headers_complete = head;
    settings.on_body = body;
    settings.on_message_complete = end;
    return settings;
  }
};

Reader::Reader(llhttp_type_t type, std::int64_t most) : most_(most) {
  static const llhttp_settings_t kRequests = Callbacks::of_requests();
  static const llhttp_settings_t kReplies = Callbacks::of_replies();
  llhttp_init(&parser_, type, type == HTTP_REQUEST ? &kRequests : &kReplies);
  parser_.data = this;
}

void Reader::next() {
  llhttp_reset(&parser_);
  body_ = 0;
  head_ = taken_ = 0;
  keeps_ = complete_ = endless_ = false;
}

Reader::Outcome Reader::read(std::span<const char> bytes) {
  head_ += bytes.size();
  const llhttp_errno_t result = llhttp_execute(&parser_, bytes.data(), bytes.size());
  if (complete_) {
    const char* const end = llhttp_get_error_pos(&parser_);
    taken_ = static_cast<std::size_t>(end - bytes.data());
    return Outcome::complete;
  }
  if (endless_) return Outcome::endless;
  if (result != HPE_OK) return Outcome::malformed;
  return head_ > kMostHead ? Outcome::headless : Outcome::more;
}

Reader::Outcome Reader::finish() {
  llhttp_finish(&parser_);
  keeps_ = false;
  return complete_ ? Outcome::complete : Outcome::malformed;
}

std::string Reader::problem() const {
  const char* const reason = llhttp_get_error_reason(&parser_);
  return reason == nullptr ? "" : reason;
}

/// Keeps no more of a name or a value than tells what it is.
void RequestReader::add(std::string& to, std::string_view part) {
  constexpr std::size_t kMostKept = 32;
  to.append(part.substr(0, kMostKept - std::min(kMostKept, to.size())));
}

void RequestReader::on_field(std::string_view part) { add(field_, part); }

void RequestReader::on_field_end() {
  expecting_ = strcasecmp(field_.c_str(), "expect") == 0;
  field_.clear();
}

void RequestReader::on_value(std::string_view part) {
  if (expecting_) add(value_, part);
}

void RequestReader::on_value_end() {
  if (expecting_) expected_ = strcasecmp(value_.c_str(), "100-continue") == 0;
  value_.clear();
}

bool RequestReader::on_head() {
  expects_ = std::exchange(expected_, false);
  return false;
}

namespace {

constexpr std::size_t kMostMessages = 1 << 20;
constexpr char kMediaType[] = "Content-Type: application/octet-stream\r\n";

/// The setup, where this wire carries its exchanges.
const contract::Setup& checked(const contract::Setup& setup) {
  check_sizes(setup);
  if (setup.role == contract::Role::client && setup.load.in_flight > 1) {
    throw Failure(ErrorKind::unsupported,
                  "load.in_flight is " + std::to_string(setup.load.in_flight) +
                      ": HTTP/1.1 carries one exchange at a time on a connection; use more connections");
  }
  return setup;
}

std::string length_of(std::size_t bytes) { return "Content-Length: " + std::to_string(bytes) + "\r\n"; }

/// A message of a body as a chunk (RFC 9112, section 7.1); the empty one ends the body.
std::string framed(std::string_view message) {
  std::array<char, 16> size{};
  const auto end = std::to_chars(size.begin(), size.end(), message.size(), 16).ptr;
  return std::string(size.begin(), end).append("\r\n").append(message).append("\r\n");
}

/// A reply of one line of text.
Message text_reply(const std::string& status, const std::string& more, const std::string& line) {
  return {"HTTP/1.1 " + status + "\r\nContent-Type: text/plain; charset=utf-8\r\n" + more +
              length_of(line.size()) + "\r\n",
          line, true};
}

/// How many connections carry load, as kit/load.h has it.
std::uint64_t active_connections(const contract::Load& load) {
  const double share = load.active_share > 0 ? load.active_share : 1;
  return static_cast<std::uint64_t>(
      std::max(1.0, std::ceil(share * static_cast<double>(load.connections) - 1e-9)));
}

}  // namespace

Asking::Asking(const contract::Setup& setup)
    : kinds_(checked(setup)),
      load_(setup.load),
      following_(following_of(setup)),
      up_bytes_(setup.exchange.up_bytes),
      connections_(static_cast<std::uint64_t>(setup.load.connections)),
      active_(active_connections(setup.load)) {
  const auto data = setup.options.at("data").get<std::string>();
  if (!data.empty()) {
    fill_with(setup, data);
    return;
  }
  for (std::size_t of = 0; of < kinds_.count(); of++) {
    std::vector<Kept>& all = requests_.emplace_back();
    for (const std::string& host : kinds_.terms(of).hosts(setup)) all.push_back(kept(of, host));
  }
}

/// Makes what is sent of a class's requests.
Asking::Kept Asking::kept(std::size_t of, const std::string& host) const {
  const Terms& terms = kinds_.terms(of);
  const std::string& content = terms.content();
  const std::string begin = head(terms, host) + (terms.sized() ? length_of(content.size()) : "") + end();
  if (!kinds_.varied(of)) return {Message(begin, content, content.size() <= Message::kGathered), "", ""};
  const std::size_t path = terms.method().size() + 1 + terms.origin().size();
  return {std::nullopt, begin.substr(0, path), begin.substr(path + terms.path().size()) + content};
}

/// Prepares requests of which each is filled with a row of a file.
void Asking::fill_with(const contract::Setup& setup, const std::string& data) {
  if (!kinds_.alike()) {
    throw Failure(ErrorKind::unsupported,
                  "option data is given beside load.classes or option paths: this client fills requests of "
                  "one kind");
  }
  rows_ = std::make_unique<Rows>(data.substr(data[0] == '@' ? 1 : 0));
  source_.emplace(
      *rows_, setup.seed,
      Source::Picks{static_cast<std::uint64_t>(setup.options.at("data_first").get<std::int64_t>()),
                    setup.options.at("pick").get<std::string>() == "random"});
  for (const std::string& host : terms().hosts(setup))
    heads_.emplace_back(head(terms(), literal(host)), rows_->columns());
  body_.emplace(terms().content(), rows_->columns());
}

std::int64_t Asking::prepare(Request& request, const Turn& turn) const {
  request.terms_ = &kinds_.terms(turn.of);
  if (rows_ != nullptr) return fill(request.made_, turn);
  const std::vector<Kept>& by_route = requests_[turn.of];
  const Kept& kept = by_route[static_cast<std::size_t>(turn.connection) % by_route.size()];
  request.kept_ = kept.whole ? &*kept.whole : nullptr;
  if (!kept.whole) request.made_.assign(kept.before).append(kinds_.path(turn)).append(kept.after);
  return 0;
}

/// The head of a request up to what frames its body.
std::string Asking::head(const Terms& terms, const std::string& host) {
  std::string head = terms.method();
  head.append(" ")
      .append(terms.origin())
      .append(terms.path())
      .append(" HTTP/1.1\r\nHost: ")
      .append(host)
      .append("\r\n");
  for (const auto& [name, value] : terms.headers())
    head.append(name).append(": ").append(value).append("\r\n");
  return head;
}

/// How that head ends.
const char* Asking::end() const { return fresh() ? "Connection: close\r\n\r\n" : "\r\n"; }

/// Makes a request with a row of its own. Returns as prepare does.
std::int64_t Asking::fill(std::string& request, const Turn& turn) const {
  const auto place = static_cast<std::uint64_t>(turn.connection);
  const Source::Row row = source_->of(turn.k ? connections_ + place + *turn.k * active_ : place);
  request.clear();
  heads_[place % heads_.size()].append(request, *source_, row);
  if (!terms().sized()) {
    request.append(end());
    return -up_bytes_;
  }
  // The length stands before the body and is known after it.
  constexpr std::string_view kLength = "Content-Length: ";
  constexpr std::size_t kDigits = 20;
  request.append(kLength).append(kDigits, '0').append("\r\n").append(end());
  const std::size_t begins = request.size();
  const std::size_t digits = begins - std::strlen(end()) - 2 - kDigits;
  body_->append(request, *source_, row);
  const std::size_t bytes = request.size() - begins;
  request.replace(digits, kDigits, std::to_string(bytes));
  return static_cast<std::int64_t>(bytes) - up_bytes_;
}

std::size_t Asking::read_size() const {
  constexpr std::int64_t kHead = 1 << 10;
  return read_size_for(terms().down_bytes() + kHead, 1, terms().any());
}

Answering::Answering(const contract::Setup& setup)
    : up_bytes_(setup.exchange.up_bytes),
      down_bytes_(setup.exchange.down_bytes),
      every_ns_(setup.exchange.every_ns) {
  check_sizes(setup);
  content_ = content_of(down_bytes_, 'd');
  std::string head = "HTTP/1.1 200 OK\r\n" + std::string(kMediaType);
  if (setup.exchange.stream == contract::Stream::down) {
    cut(static_cast<std::size_t>(setup.exchange.event_bytes()));
    head += "Transfer-Encoding: chunked\r\n";
  } else {
    head += length_of(content_.size());
  }
  right_.emplace(head + "\r\n", content_, content_.size() <= Message::kGathered);
  last_.emplace(head + "Connection: close\r\n\r\n", content_, false);
  const std::string allow = "Allow: GET, POST\r\n";
  not_allowed_ =
      text_reply("405 Method Not Allowed", allow, "this method is not served, expected GET or POST\n");
  not_allowed_head_ = text_reply("405 Method Not Allowed", allow, "");
  proceed_.emplace("HTTP/1.1 100 Continue\r\n\r\n", "", true);
}

/// Makes the content one of messages of so many bytes.
void Answering::cut(std::size_t bytes) {
  const std::string whole = std::exchange(content_, "");
  messages_ = (whole.size() + bytes - 1) / bytes;
  if (messages_ > kMostMessages) {
    throw Failure(ErrorKind::unsupported, "exchange.chunk_bytes is " + std::to_string(bytes) +
                                              ": this server keeps replies of at most " +
                                              std::to_string(kMostMessages) + " messages");
  }
  for (std::size_t at = 0; at < whole.size(); at += bytes) {
    content_ += framed(std::string_view(whole).substr(at, bytes));
    if (at == 0) framed_ = content_.size();
  }
  content_ += framed("");
}

std::size_t Answering::part_end(const Message& right, std::size_t at) const {
  if (messages_ < 2) return right.size();
  const std::size_t head = right.size() - content_.size();
  const std::size_t part = at < head ? 0 : (at - head) / framed_;
  return part + 1 < messages_ ? head + (part + 1) * framed_ : right.size();
}

Message Answering::wrong(const std::string& why) {
  return text_reply("400 Bad Request", "Connection: close\r\n", why + "\n");
}

std::int64_t Answering::most_body() const { return up_bytes_ + kWrongRead; }

}  // namespace netdyno::http1
