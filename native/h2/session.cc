#include "h2/session.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <stdexcept>

namespace netdyno::h2 {

using contract::Role;

namespace {

/// Streams that a client opens before the server has said how many it takes: what
/// nghttp2 and net/http assume, too.
constexpr std::uint32_t kFirstLimit = 100;
/// A stream's window before the peer has acknowledged another (RFC 9113, section 6.9.2).
constexpr std::size_t kFirstWindow = 65'535;
/// Largest frame of a body, in bytes; nghttp2 alone would send 16 KiB.
constexpr std::size_t kFrame = 64 << 10;
constexpr std::size_t kFrameHead = 9;
/// What each field counts beside its bytes (RFC 9113, section 6.5.2).
constexpr std::size_t kFieldOverhead = 32;

std::string_view text(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

/// What nghttp2 calls. None of it throws: the library is in C.
struct Callbacks {
  static Session& of(void* session) { return *static_cast<Session*>(session); }

  static int began(nghttp2_session* library, const nghttp2_frame* frame, void* user) noexcept {
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    Stream* const stream = of(user).events_->began();
    stream->id = frame->hd.stream_id;
    return nghttp2_session_set_stream_user_data(library, stream->id, stream);
  }

  static int invalid(nghttp2_session*, const nghttp2_frame* frame, int, void* user) noexcept {
    if (frame->hd.type == NGHTTP2_GOAWAY) of(user).parted_ = true;
    return 0;
  }

  static int field(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                   std::size_t name_size, const std::uint8_t* value, std::size_t value_size, std::uint8_t,
                   void* user) noexcept {
    Session& session = of(user);
    Stream* const stream = session.stream_of(frame->hd.stream_id);
    if (stream == nullptr || stream->given_up) return 0;
    stream->head += name_size + value_size + kFieldOverhead;
    if (stream->head > Session::kMostHead) {
      session.reset(*stream, NGHTTP2_ENHANCE_YOUR_CALM);
      return 0;
    }
    session.events_->field(*stream, text(name, name_size), text(value, value_size));
    return 0;
  }

  static int chunk(nghttp2_session* library, std::uint8_t, std::int32_t id, const std::uint8_t* bytes,
                   std::size_t size, void* user) noexcept {
    if (nghttp2_session_consume_connection(library, size) != 0) return NGHTTP2_ERR_CALLBACK_FAILURE;
    Session& session = of(user);
    Stream* const stream = session.stream_of(id);
    if (stream == nullptr || stream->given_up) return 0;
    stream->taken += size;
    if (stream->taken >= session.lump_) {
      const std::size_t taken = std::exchange(stream->taken, 0);
      if (nghttp2_session_consume_stream(library, id, taken) != 0) return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    session.events_->data(*stream, text(bytes, size));
    return 0;
  }

  static int received(nghttp2_session* library, const nghttp2_frame* frame, void* user) noexcept {
    Session& session = of(user);
    switch (frame->hd.type) {
      case NGHTTP2_SETTINGS:
        session.limit_ =
            nghttp2_session_get_remote_settings(library, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
        return 0;
      case NGHTTP2_GOAWAY:
        session.events_->going_away(frame->goaway.error_code);
        return 0;
      case NGHTTP2_RST_STREAM:
      case NGHTTP2_HEADERS:
      case NGHTTP2_DATA:
        break;
      default:
        return 0;
    }
    Stream* const stream = session.stream_of(frame->hd.stream_id);
    if (stream == nullptr) return 0;
    if (frame->hd.type == NGHTTP2_RST_STREAM) {
      stream->reset = true;
    } else if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0 && !stream->given_up) {
      stream->ended = true;
      session.events_->ended(*stream);
    }
    return 0;
  }

  static int closed(nghttp2_session*, std::int32_t id, std::uint32_t code, void* user) noexcept {
    Session& session = of(user);
    Stream* const stream = session.stream_of(id);
    if (stream == nullptr) return 0;
    stream->id = 0;
    session.forget();
    session.events_->closed(*stream, code);
    return 0;
  }

  /// A frame that this end says goodbye with, because of what came.
  static int sent(nghttp2_session*, const nghttp2_frame* frame, void* user) noexcept {
    if (frame->hd.type == NGHTTP2_GOAWAY && frame->goaway.error_code != NGHTTP2_NO_ERROR) {
      Session& session = of(user);
      session.broken_ = true;
      if (session.problem_.empty()) session.problem_ = nghttp2_http2_strerror(frame->goaway.error_code);
    }
    return 0;
  }

  static int not_sent(nghttp2_session*, const nghttp2_frame* frame, int, void* user) noexcept {
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
      of(user).events_->refused(frame->hd.stream_id);
    }
    return 0;
  }

  static int problem(nghttp2_session*, int, const char* said, std::size_t size, void* user) noexcept {
    constexpr std::size_t kMost = 200;
    std::string& problem = of(user).problem_;
    problem.assign(said, std::min(size, kMost));
    for (char& c : problem) {
      if (c < ' ' || c == 0x7f) c = '?';
    }
    return 0;
  }

  /// Tells how much of a body goes into the next frame. The bytes are copied once, behind the
  /// frame's head.
  static ssize_t read(nghttp2_session* library, std::int32_t id, std::uint8_t*, std::size_t size,
                      std::uint32_t* flags, nghttp2_data_source* source, void* user) noexcept {
    Stream& stream = *static_cast<Stream*>(source->ptr);
    if (stream.body.empty() && stream.more) {
      of(user).events_->more(stream);
      if (stream.body.empty() && stream.more) return NGHTTP2_ERR_DEFERRED;
    }
    const std::size_t n = std::min(size, stream.body.size());
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (n < stream.body.size() || stream.more) return static_cast<ssize_t>(n);
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    stream.sent = true;
    if (stream.trailers != nullptr) {
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      nghttp2_submit_trailer(library, id, stream.trailers->data(), stream.trailers->size());
    }
    return static_cast<ssize_t>(n);
  }

  static ssize_t frame_size(nghttp2_session*, std::uint8_t, std::int32_t, std::int32_t, std::int32_t,
                            std::uint32_t most, void*) noexcept {
    return static_cast<ssize_t>(std::min<std::size_t>(most, kFrame));
  }

  static int send(nghttp2_session*, nghttp2_frame*, const std::uint8_t* head, std::size_t size,
                  nghttp2_data_source* source, void* user) noexcept {
    DoubleBuffer& out = of(user).out_;
    if (!out.has_room()) return NGHTTP2_ERR_WOULDBLOCK;
    std::string& to = out.filling();
    Stream& stream = *static_cast<Stream*>(source->ptr);
    to.append(text(head, kFrameHead));
    to.append(stream.body.substr(0, size));
    stream.body.remove_prefix(size);
    return 0;
  }

  static const nghttp2_session_callbacks* table() {
    static const nghttp2_session_callbacks* const kTable = make();
    return kTable;
  }
  static nghttp2_session_callbacks* make() {
    nghttp2_session_callbacks* all = nullptr;
    if (nghttp2_session_callbacks_new(&all) != 0) throw std::bad_alloc();
    nghttp2_session_callbacks_set_on_begin_headers_callback(all, began);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(all, invalid);
    nghttp2_session_callbacks_set_on_header_callback(all, field);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(all, chunk);
    nghttp2_session_callbacks_set_on_frame_recv_callback(all, received);
    nghttp2_session_callbacks_set_on_stream_close_callback(all, closed);
    nghttp2_session_callbacks_set_on_frame_send_callback(all, sent);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(all, not_sent);
    nghttp2_session_callbacks_set_error_callback2(all, problem);
    nghttp2_session_callbacks_set_send_data_callback(all, send);
    nghttp2_session_callbacks_set_data_source_read_length_callback(all, frame_size);
    return all;
  }
};

Session::Session(Role role, const Settings& settings)
    : limit_(kFirstLimit),
      lump_(std::min(static_cast<std::size_t>(settings.stream_window), kFirstWindow) / 2) {
  nghttp2_option* option = nullptr;
  if (nghttp2_option_new(&option) != 0) throw std::bad_alloc();
  nghttp2_option_set_no_closed_streams(option, 1);
  // chunk says what was taken. Left to itself the library (1.52 to 1.70) resets a stream
  // whose window the settings reduce while an update of it waits to be sent.
  nghttp2_option_set_no_auto_window_update(option, 1);
  // By itself the library sends a head of at most 64 KiB, path included, and says of a larger
  // one only that the stream was refused. What is sent is bounded where options are read.
  constexpr std::size_t kMostSent = 256 << 10;
  nghttp2_option_set_max_send_header_block_length(option, kMostSent);
  nghttp2_mem memory = memory_.asked_by();
  const int made = role == Role::client
                       ? nghttp2_session_client_new3(&session_, Callbacks::table(), this, option, &memory)
                       : nghttp2_session_server_new3(&session_, Callbacks::table(), this, option, &memory);
  nghttp2_option_del(option);
  if (made != 0) throw std::bad_alloc();
  submit_settings(role, settings);
}

Session::~Session() { nghttp2_session_del(session_); }

void Session::submit_settings(Role role, const Settings& settings) {
  const std::array<nghttp2_settings_entry, 4> entries = {{
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<std::uint32_t>(settings.stream_window)},
      {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, settings.max_frame},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMostHead},
      role == Role::client
          ? nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}
          : nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, settings.max_streams},
  }};
  if (nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, entries.data(), entries.size()) != 0 ||
      nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, settings.connection_window) !=
          0) {
    throw std::logic_error("begin HTTP/2: nghttp2 refuses settings within their bounds");
  }
}

Stream* Session::stream_of(std::int32_t id) {
  if (id != last_id_) {
    last_ = static_cast<Stream*>(nghttp2_session_get_stream_user_data(session_, id));
    last_id_ = last_ == nullptr ? 0 : id;
  }
  return last_;
}

void Session::receive(std::span<const char> bytes) {
  if (broken_) return;
  const ssize_t taken =
      nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (taken >= 0) return;
  if (taken == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
  broken_ = true;
  if (problem_.empty()) problem_ = nghttp2_strerror(static_cast<int>(taken));
}

void Session::pump() {
  while (out_.has_room()) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t n = nghttp2_session_mem_send(session_, &bytes);
    if (n == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
    if (n < 0) broken_ = true;
    if (n <= 0) return;
    out_.filling().append(text(bytes, static_cast<std::size_t>(n)));
  }
}

void Session::written(std::size_t n) {
  out_.written(n);
  if (!out_.unsent()) pump();
}

bool Session::takes_request(std::size_t under_way) const {
  return under_way < limit_ && nghttp2_session_check_request_allowed(session_) != 0;
}

void Session::request(Stream& stream, const Fields& fields) {
  stream.sent = stream.body.empty() && !stream.more;
  nghttp2_data_provider body{{.ptr = &stream}, Callbacks::read};
  stream.id = nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(),
                                     stream.sent ? nullptr : &body, &stream);
  if (stream.id == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
  if (stream.id < 0) throw std::logic_error("begin a request: nghttp2 takes none where it may");
}

void Session::resume(Stream& stream) {
  // Refused where it does not wait, as it need not be done then.
  nghttp2_session_resume_data(session_, stream.id);
}

bool Session::has_room(const Stream& stream) const {
  return nghttp2_session_get_stream_remote_window_size(session_, stream.id) > 0 &&
         nghttp2_session_get_remote_window_size(session_) > 0;
}

void Session::respond(Stream& stream, const Fields& fields) {
  stream.sent = stream.body.empty() && !stream.more;
  nghttp2_data_provider body{{.ptr = &stream}, Callbacks::read};
  nghttp2_submit_response(session_, stream.id, fields.data(), fields.size(), stream.sent ? nullptr : &body);
}

void Session::reset(Stream& stream, std::uint32_t code) {
  stream.given_up = true;
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id, code);
}

bool Session::over() const {
  return nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
}

std::string library_version() { return nghttp2_version(0)->version_str; }

}  // namespace netdyno::h2
