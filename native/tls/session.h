// One end of an encrypted connection by OpenSSL: the handshake, records, and what the
// standard forbids. It moves no bytes itself.
//
// What the peer sent is decrypted straight to where the caller wants it. What is to be sent
// is gathered in two buffers in turn: while the kernel takes one, the other is filled. So
// bytes that were handed out stay as they are until more are asked for.
//
// Memory does not grow with what a peer sends, as long as nothing is read while there is no
// room for what this end owes it (answers to KeyUpdate): a read is used up before the next,
// and the library keeps one record.
//
// Layer: above context. Only one thread uses a session at a time; it never moves.
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "kit/flow.h"
#include "kit/system.h"
#include "tls/context.h"

namespace netdyno::tls {

/// Whom the sessions of a client's connection are with, one after the other.
struct Remote {
  std::string host;  // the IP address, which the certificate must be for unless the context has a name
  Ticket* newest = nullptr;  // by which they resume, and which they renew; null for full handshakes
};

class Session : Pinned {
 public:
  /// The most that one record carries (RFC 8446, section 5.1).
  static constexpr std::size_t kRecord = 16 << 10;

  enum class State {
    shaking,  // hands, that is
    open,
    ended,   // the peer says no more, and said so (close_notify)
    broken,  // nothing more can be understood of it
  };

  /// Begins a connection. context outlives it, and so does the remote's ticket. A server has no remote.
  explicit Session(const Context& context, Remote remote = {});

  State state() const { return state_; }
  /// Whether the handshake resumed a session. Once it is complete.
  bool resumed() const { return SSL_session_reused(ssl_.get()) != 0; }
  /// Why it is broken, or empty.
  const std::string& problem() const { return problem_; }
  /// Whether it is broken because the peer said so (an alert).
  bool refused() const { return refused_; }
  /// Whether the last record that came is not complete.
  bool truncated() const;

  /// Reads take so many bytes at most from now on. What came and is not used up stays. Not
  /// while a read is under way.
  void read_size(std::size_t n);
  /// Where to read the peer's bytes to. Empty while those before are not used up.
  std::span<char> read_buffer();
  void received(std::size_t n) { to_ += n; }
  /// Whether bytes that came are not used up.
  bool undigested() const { return from_ < to_ || SSL_pending(ssl_.get()) > 0; }

  /// Goes on with the handshake, and is open once it is complete.
  void shake_hands();
  /// Decrypts bytes that came. 0 when more must come for that, or the state has changed.
  std::size_t decrypt(std::span<char> to);

  /// Whether this end may say something now. Not while the handshake lasts, nor while a part of
  /// a later message of its kind came, such as a ticket: the library first wants the rest.
  bool may_speak() const { return !closed_ && SSL_is_init_finished(ssl_.get()) != 0; }
  /// Encrypts bytes to be sent. Only when it may speak.
  void encrypt(std::span<const char> bytes);
  /// Whether more may be gathered.
  bool has_room() const { return out_.has_room(); }
  /// Says that this end says no more. Only when it may speak.
  void close();
  bool closed() const { return closed_; }

  bool unsent() const { return out_.unsent(); }
  /// Whether all that was handed out has been taken.
  bool drained() const { return out_.drained(); }
  /// The bytes to be sent now. They stay as they are until it is called when drained.
  std::span<const char> outgoing() { return out_.outgoing(); }
  void written(std::size_t n) { out_.written(n); }

 private:
  friend struct Transfers;

  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };

  void expect();
  void agree();
  void break_off(const std::string& problem);
  void judge(int result);
  std::string explain() const;

  const Context& context_;
  Remote remote_;
  std::unique_ptr<SSL, Free> ssl_;
  State state_ = State::shaking;
  std::string problem_;
  bool refused_ = false;
  bool closed_ = false;

  std::unique_ptr<char[]> buffer_;  // of it [from_, to_) came and is not used up
  std::size_t capacity_ = 0;
  std::size_t from_ = 0;
  std::size_t to_ = 0;
  int first_ = -1;  // the first byte that came

  DoubleBuffer out_;
};

/// OpenSSL's version, such as "3.0.19".
std::string library_version();

}  // namespace netdyno::tls
