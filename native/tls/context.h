// What the connections of one end have in common: protocol, certificates, and how a client trusts
// a server that is not netdyno's. The Go clients have the same options:
// internal/work/wire/trust.go.
//
// Layer: bottom of tls. Immutable after construction: any thread may use it.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kit/contract.h"
#include "kit/system.h"

namespace netdyno::tls {

std::vector<contract::Option> trust_options();

/// What the options say. Texts in PEM; empty for none.
struct Trust {
  bool of_host = false;     // trusts the authorities that this host does
  std::string authorities;  // trusted; empty: those of the trial, unless of_host
  std::string name;         // the server's, in its certificate; empty: its IP address
  std::string certificate;  // the client's, and what it is signed by
  std::string key;
  bool any = false;  // any certificate of the server will do

  /// Whether the server may be one that is not netdyno's.
  bool foreign() const { return any || of_host || !authorities.empty(); }
};

/// Reads a client's options, and the files that they name, of at most 1 MiB each. A transport
/// without these options has none. Throws Failure{setup} that names the option.
Trust trust_of(const contract::Setup& setup);

/// What a later connection resumes a session by.
struct FreeTicket {
  void operator()(SSL_SESSION* ticket) const { SSL_SESSION_free(ticket); }
};
using Ticket = std::unique_ptr<SSL_SESSION, FreeTicket>;

/// What all connections of one end of a trial have in common: whom a client trusts, what a server shows, and
/// the protocol that both agree on.
///
/// Immutable after construction: any thread may use it.
class Context : Pinned {
 public:
  /// The end of an encrypted trial. protocol is its name in ALPN (RFC 7301). Throws
  /// Failure{setup} that names the field of setup.tls, or the option, that cannot be used.
  Context(const contract::Setup& setup, std::string_view protocol);

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
