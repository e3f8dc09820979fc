// One end of a connection of HTTP/2 by nghttp2's session: frames, HPACK, flow control and
// what the standard forbids; the fields and settings that it sends; its memory.
//
// Layer: bottom of h2.
#pragma once

#include <nghttp2/nghttp2.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kit/contract.h"
#include "kit/flow.h"
#include "kit/system.h"

namespace netdyno::h2 {

/// A list of header fields that is sent many times. Immutable once it is filled: any thread may
/// read it.
class Fields : Pinned {
 public:
  /// Adds a field. name is in lower case. nghttp2 copies neither, so the list outlives the
  /// streams on which it is sent.
  void add(std::string name, std::string value) {
    const std::string& n = texts_.emplace_back(std::move(name));
    const std::string& v = texts_.emplace_back(std::move(value));
    // The library's functions take fields that they do not change by pointers to what may.
    list_.push_back({reinterpret_cast<std::uint8_t*>(const_cast<char*>(n.data())),
                     reinterpret_cast<std::uint8_t*>(const_cast<char*>(v.data())), n.size(), v.size(),
                     NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE});
  }
  void clear() {
    list_.clear();
    texts_.clear();
  }
  /// Becomes those of another, which outlives them, with this value in one place.
  void become(const Fields& other, std::size_t at, std::string value) {
    clear();
    list_ = other.list_;
    std::string& own = texts_.emplace_back(std::move(value));
    list_[at].value = reinterpret_cast<std::uint8_t*>(own.data());
    list_[at].valuelen = own.size();
  }

  const nghttp2_nv* data() const { return list_.data(); }
  std::size_t size() const { return list_.size(); }

 private:
  std::deque<std::string> texts_;
  std::vector<nghttp2_nv> list_;
};

/// What an end tells its peer when a connection begins (RFC 9113, section 6.5.2): the options
/// of go-http2 of the same names, with this library's defaults.
std::vector<contract::Option> setting_options();

struct Settings {
  std::uint32_t max_frame = 0;
  std::int32_t connection_window = 0;
  std::int32_t stream_window = 0;
  std::uint32_t max_streams = 0;  // of a server

  /// options are complete.
  static Settings of(const contract::Setup& setup);
};

/// Memory of one session of nghttp2. The library asks for a few pieces for each stream and gives them back
/// at its end; the C library's allocator keeps seven of a size for a thread, and a session has more streams
/// than that. Here a piece that is given back is kept for the next that asks for its size, up to a bound.
///
/// Only who uses the session uses it; it never moves.
class Memory : Pinned {
 public:
  ~Memory();

  /// What the library asks by. This outlives whoever was given it.
  nghttp2_mem asked_by();

  /// As malloc and free, realloc and calloc.
  void* take(std::size_t size);
  void give_back(void* bytes);
  void* resize(void* bytes, std::size_t size);
  void* take_zeroed(std::size_t count, std::size_t size);

  /// Bytes that were given back and are kept.
  std::size_t kept() const { return kept_; }

 private:
  /// Sizes are rounded up to a multiple of this.
  static constexpr std::size_t kStep = 64;
  /// Larger pieces are not kept.
  static constexpr std::size_t kLargest = 1 << 10;
  /// The most that is kept, in bytes.
#ifdef NETDYNO_SANITIZED
  static constexpr std::size_t kMostKept = 0;  // so that a use after the end shows
#else
  static constexpr std::size_t kMostKept = 64 << 10;
#endif

  /// What stands before a piece while it is taken, and in it while it is kept.
  union alignas(std::max_align_t) Head {
    std::size_t size;  // of the piece, rounded
    Head* next;
  };

  std::array<Head*, kLargest / kStep + 1> free_{};  // by size in steps
  std::size_t kept_ = 0;
};

// One end of a connection of HTTP/2 by nghttp2's session: frames, HPACK, flow control and what the standard
// forbids. It moves no bytes itself.
//
// What is to be sent is gathered in two buffers in turn: while the kernel takes one, the other is filled.
// So bytes that were handed out stay as they are until more are asked for.
//
// Memory does not grow with what a peer sends: fields are looked at and kept nowhere, a body is handed on
// where it was read, and the library bounds what it owes a peer that does not read (acknowledgements,
// resets, streams).
//
// Only one thread uses a session at a time; it never moves.

/// What one stream still has to send, and how far the peer has come on it. Whoever uses the
/// session owns it, and derives from it what it needs to know.
struct Stream {
  std::int32_t id = 0;               // 0 for none
  std::string_view body;             // what is still to be sent; the bytes stay until it was
  bool more = false;                 // Events::more is asked for what follows the body
  const Fields* trailers = nullptr;  // what follows the body
  bool sent = false;                 // this end has said all
  bool ended = false;                // the peer has
  bool reset = false;                // by the peer
  bool given_up = false;             // by this end, because of what came
  std::size_t taken = 0;             // bytes of its body that the library was not told of
  std::size_t head = 0;              // bytes of header fields that came (RFC 9113, section 6.5.2)
};

/// What a session tells about its streams. It is called inside receive and pump.
class Events {
 public:
  virtual ~Events() = default;

  /// The peer begins a stream. Servers only.
  virtual Stream* began() { return nullptr; }
  virtual void field(Stream& stream, std::string_view name, std::string_view value) = 0;
  virtual void data(Stream& stream, std::string_view bytes) = 0;
  /// The peer has said all on this stream.
  virtual void ended(Stream& stream) = 0;
  /// Its body has gone and may have more: sets what follows. Where that is nothing yet, the
  /// stream waits until it is resumed.
  virtual void more(Stream& /*stream*/) {}
  /// Nothing more comes or goes on it. code is RFC 9113's, section 7.
  virtual void closed(Stream& stream, std::uint32_t code) = 0;
  /// The peer takes no more streams on this connection, and says why by a code.
  virtual void going_away(std::uint32_t /*code*/) {}
  /// A request was not sent, since the peer takes none any more. Clients only.
  virtual void refused(std::int32_t /*id*/) {}
};

class Session : Pinned {
 public:
  /// Bytes of header fields of one stream, those of replies before the one that counts and
  /// of trailers among them, beyond which it is given up.
  static constexpr std::size_t kMostHead = 64 << 10;

  Session(contract::Role role, const Settings& settings);
  ~Session();

  /// Whom to tell from now on. Before anything else; another one may follow.
  void attend(Events& events) {
    events_ = &events;
    forget();
  }

  /// Takes bytes of the peer.
  void receive(std::span<const char> bytes);
  /// Gathers what is to be sent.
  void pump();

  bool unsent() const { return out_.unsent(); }
  /// Whether all that was handed out has been taken.
  bool drained() const { return out_.drained(); }
  /// The bytes to be sent now. They stay as they are until it is called when drained.
  std::span<const char> outgoing() { return out_.outgoing(); }
  void written(std::size_t n);

  /// Whether another request may begin now, beside so many that are under way.
  bool takes_request(std::size_t under_way) const;
  /// Begins a request on a new stream, whose body is set. The fields outlive it.
  void request(Stream& stream, const Fields& fields);
  /// Goes on with a stream whose body was all sent, and has been set again or is over.
  void resume(Stream& stream);
  /// Whether the peer's windows have room for bytes of this stream now.
  bool has_room(const Stream& stream) const;
  /// Answers on a stream, whose body and trailers are set. The fields outlive it.
  void respond(Stream& stream, const Fields& fields);
  /// What is wrong with a stream whose head is longer than that.
  static std::string headless() {
    return "the reply has more than " + std::to_string(kMostHead) + " bytes of headers";
  }
  /// Ends a stream before its time, by a code of RFC 9113, section 7.
  void reset(Stream& stream, std::uint32_t code);

  /// How many streams the peer lets this end have open at once.
  std::uint32_t stream_limit() const { return limit_; }
  /// The peer broke the protocol, and nothing more can be understood of it.
  bool broken() const { return broken_; }
  /// Whether it is broken by how the peer said goodbye (GOAWAY).
  bool parted() const { return parted_; }
  /// Why, in the library's words.
  const std::string& problem() const { return problem_; }
  /// Whether nothing more is to be read or sent.
  bool over() const;

 private:
  friend struct Callbacks;

  void submit_settings(contract::Role role, const Settings& settings);
  Stream* stream_of(std::int32_t id);
  /// The last stream that was looked up may be no more.
  void forget() {
    last_id_ = 0;
    last_ = nullptr;
  }

  Memory memory_;  // of session_
  nghttp2_session* session_ = nullptr;
  Events* events_ = nullptr;
  // The stream that was looked up last, as most of what comes is of the same one again.
  std::int32_t last_id_ = 0;
  Stream* last_ = nullptr;
  DoubleBuffer out_;
  std::uint32_t limit_;
  std::size_t lump_;  // of a stream's body: half its window, when the library may give it more
  bool broken_ = false;
  bool parted_ = false;
  std::string problem_;
};

/// A code of RFC 9113, section 7, by its name: "INTERNAL_ERROR".
inline std::string code_name(std::uint32_t code) { return nghttp2_http2_strerror(code); }

/// nghttp2's version, such as "1.52.0".
std::string library_version();

}  // namespace netdyno::h2
