// What all connections of one end of a trial have in common: whom a client trusts, what a
// server shows, and the protocol that both agree on.
//
// Layer: above trust. Immutable after construction: any thread may
// use it.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "kit/contract.h"
#include "tls/trust.h"

namespace netdyno::tls {

class Context {
 public:
  /// The end of an encrypted trial. protocol is its name in ALPN (RFC 7301). Throws
  /// Failure{setup} that names the field of setup.tls, or the option, that cannot be used.
  Context(const contract::Setup& setup, std::string_view protocol);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  SSL_CTX* get() const { return context_.get(); }
  contract::Role role() const { return role_; }
  const std::string& protocol() const { return protocol_; }
  /// The server's name, which its certificate must hold; empty where that is its IP address.
  const std::string& server_name() const { return server_name_; }
  /// Whether that name is an address.
  bool by_address() const { return by_address_; }
  /// The versions of TLS that this end speaks, in words.
  const char* versions() const { return foreign_ ? "TLS 1.2 and 1.3" : "TLS 1.3"; }
  /// Whether a peer that agrees to no protocol speaks it, as in HTTP before version 2.
  bool is_usual() const { return protocol_ == "http/1.1"; }
  /// The protocol as ALPN lists it: its length and its name.
  std::span<const unsigned char> offer() const {
    return {reinterpret_cast<const unsigned char*>(offer_.data()), offer_.size()};
  }

 private:
  void speak();
  void trust(const contract::Tls& tls, const Trust& trust);
  void name(const std::string& server);
  void believe(const std::string& authorities, const std::string& read);
  void show(const std::string& certificates, const std::string& key, const std::string& read);

  struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };

  contract::Role role_;
  std::string protocol_;
  std::string offer_;
  std::string server_name_;
  bool by_address_ = false;
  bool foreign_ = false;
  std::unique_ptr<SSL_CTX, Free> context_;
};

/// The last thing that the library complained of on this thread, in its words. Forgets all
/// of them.
std::string last_words();

}  // namespace netdyno::tls
