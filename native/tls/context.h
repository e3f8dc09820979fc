// What all connections of one end of a trial have in common: whom a client trusts, what a
// server shows, and the protocol that both agree on.
//
// Layer: bottom of tls, above kit/contract. Immutable after construction: any thread may
// use it.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "kit/contract.h"

namespace netdyno::tls {

enum class End { client, server };

class Context {
 public:
  /// The end of an encrypted trial. protocol is its name in ALPN (RFC 7301). Throws
  /// Failure{setup} that names the field of setup.tls that cannot be used.
  Context(const contract::Setup& setup, std::string_view protocol);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  SSL_CTX* get() const { return context_.get(); }
  End end() const { return end_; }
  const std::string& protocol() const { return protocol_; }
  /// Whether a peer that agrees to no protocol speaks it, as in HTTP before version 2.
  bool is_usual() const { return protocol_ == "http/1.1"; }
  /// The protocol as ALPN lists it: its length and its name.
  std::span<const unsigned char> offer() const {
    return {reinterpret_cast<const unsigned char*>(offer_.data()), offer_.size()};
  }

 private:
  void trust(const contract::Tls& tls);
  void show(const contract::Tls& tls);

  struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };

  End end_;
  std::string protocol_;
  std::string offer_;
  std::unique_ptr<SSL_CTX, Free> context_;
};

/// The last thing that the library complained of on this thread, in its words. Forgets all
/// of them.
std::string last_words();

}  // namespace netdyno::tls
