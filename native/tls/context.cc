#include "tls/context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <cstddef>
#include <limits>
#include <new>
#include <utility>

#include "kit/address.h"
#include "kit/options.h"

namespace netdyno::tls {

using contract::ErrorKind;
using contract::Failure;
using contract::Option;
using contract::Role;

namespace {

/// The level of option ca for the authorities that this host trusts.
constexpr char kSystem[] = "system";
constexpr std::size_t kMostPem = 1 << 20;

}  // namespace

std::vector<Option> trust_options() {
  std::vector<Option> all = {
      text_option("ca", "",
                  "PEM file of the authorities that a client trusts; system: those of its host; unless "
                  "given, netdyno's own"),
      text_option("sni", "", "server name in TLS; the server's address unless given"),
      text_option("cert", "", "PEM file of the client's certificate"),
      text_option("key", "", "PEM file of the key of cert"),
      boolean_option("insecure", false, "accept any certificate of the server"),
  };
  for (Option& option : all) option = only(Role::client, std::move(option));
  return all;
}

Trust trust_of(const contract::Setup& setup) {
  const contract::Options& options = setup.options;
  Trust trust;
  if (!options.contains("ca")) return trust;
  trust.any = options.at("insecure").get<bool>();
  trust.name = options.at("sni").get<std::string>();
  const auto proxied = options.find("proxied");  // the server, where the peer is a proxy
  if (trust.name.empty() && proxied != options.end() && proxied->second != "") {
    trust.name = parse_address(proxied->second.get<std::string>(), "option proxied").host;
  }
  const auto ca = options.at("ca").get<std::string>();
  if (ca == kSystem) {
    trust.of_host = true;
  } else if (!ca.empty()) {
    trust.authorities = read_file("option ca", ca, kMostPem);
  }
  const auto cert = options.at("cert").get<std::string>();
  const auto key = options.at("key").get<std::string>();
  if (cert.empty() != key.empty()) {
    throw Failure(ErrorKind::setup, "options cert and key: " +
                                        std::string(key.empty() ? "cert is given and key is not"
                                                                : "key is given and cert is not") +
                                        "; expected both");
  }
  if (!cert.empty()) {
    trust.certificate = read_file("option cert", cert, kMostPem);
    trust.key = read_file("option key", key, kMostPem);
  }
  return trust;
}

namespace {

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct FreeCertificate {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Certificate = std::unique_ptr<X509, FreeCertificate>;

/// PEM text, to be read from its begin.
class Pem {
 public:
  explicit Pem(const std::string& text) {
    if (text.size() <= std::numeric_limits<int>::max()) {
      bio_.reset(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
    }
    if (!bio_) throw std::bad_alloc();
  }

  /// The next certificate; none at the end, or where there is none.
  Certificate certificate() {
    return Certificate(PEM_read_bio_X509(bio_.get(), nullptr, no_password, nullptr));
  }
  std::unique_ptr<EVP_PKEY, FreeKey> key() {
    return std::unique_ptr<EVP_PKEY, FreeKey>(
        PEM_read_bio_PrivateKey(bio_.get(), nullptr, no_password, nullptr));
  }

 private:
  /// Left to itself the library asks the terminal for a password.
  static int no_password(char*, int, int, void*) { return -1; }

  std::unique_ptr<BIO, FreeBio> bio_;
};

/// A server takes the trial's protocol if the client has it, else it refuses the client.
int choose(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
           unsigned offered_size, void* argument) {
  const auto own = static_cast<const Context*>(argument)->offer();
  unsigned char* found = nullptr;
  const int overlap = SSL_select_next_proto(&found, size, own.data(), static_cast<unsigned>(own.size()),
                                            offered, offered_size);
  *chosen = found;
  return overlap == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

/// Keeps what later connections resume a client's session by, for whom its SSL names. A copy: the
/// library takes the session itself for spoilt where its connection ends without a goodbye.
int keep(SSL* ssl, SSL_SESSION* session) {
  static_cast<Ticket*>(SSL_get_app_data(ssl))->reset(SSL_SESSION_dup(session));
  return 0;
}

}  // namespace

std::string last_words() {
  const char* const words = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return words == nullptr ? "OpenSSL gives no reason" : words;
}

Context::Context(const contract::Setup& setup, std::string_view protocol)
    : role_(setup.role), protocol_(protocol) {
  offer_ = static_cast<char>(protocol_.size()) + protocol_;
  context_.reset(SSL_CTX_new(role_ == Role::server ? TLS_server_method() : TLS_client_method()));
  if (!context_) throw Failure(ErrorKind::setup, "begin TLS: " + last_words());
  if (role_ == Role::client) {
    trust(*setup.tls, trust_of(setup));
    return;
  }
  speak();
  show(setup.tls->certificate, setup.tls->key, "read setup.tls.certificate and setup.tls.key: ");
  SSL_CTX_set_alpn_select_cb(get(), choose, this);
}

/// A server that is not netdyno's may have no TLS 1.3.
void Context::speak() {
  if (SSL_CTX_set_min_proto_version(get(), foreign_ ? TLS1_2_VERSION : TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(get(), TLS1_3_VERSION) != 1) {
    throw Failure(ErrorKind::setup, std::string("set the versions to ") + versions() + ": " + last_words());
  }
  SSL_CTX_set_options(get(), SSL_OP_NO_RENEGOTIATION);
}

void Context::trust(const contract::Tls& tls, const Trust& trust) {
  foreign_ = trust.foreign();
  speak();
  if (!trust.name.empty()) name(trust.name);
  if (!trust.authorities.empty()) {
    believe(trust.authorities, "read option ca: ");
  } else if (!trust.of_host) {
    believe(tls.authorities, "read setup.tls.authorities: ");
  } else if (SSL_CTX_set_default_verify_paths(get()) != 1) {
    throw Failure(ErrorKind::setup, "read the authorities that this host trusts: " + last_words());
  }
  SSL_CTX_set_verify(get(), trust.any ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  if (!trust.certificate.empty()) show(trust.certificate, trust.key, "read options cert and key: ");
  if (SSL_CTX_set_alpn_protos(get(), offer().data(), static_cast<unsigned>(offer().size())) != 0) {
    throw std::bad_alloc();
  }
  if (!tls.resume) return;
  SSL_CTX_set_session_cache_mode(get(), SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(get(), keep);
}

/// The server's certificate must be for that name, as Go has it: among its alternative names.
void Context::name(const std::string& server) {
  constexpr std::size_t kLongest = TLSEXT_MAXLEN_host_name;
  server_name_ = server;
  X509_VERIFY_PARAM* const wanted = SSL_CTX_get0_param(get());
  by_address_ = X509_VERIFY_PARAM_set1_ip_asc(wanted, server.c_str()) == 1;
  ERR_clear_error();
  if (by_address_) return;
  if (server.size() > kLongest) {
    throw Failure(ErrorKind::setup, "option sni: a name of " + std::to_string(server.size()) +
                                        " bytes, expected at most " + std::to_string(kLongest));
  }
  X509_VERIFY_PARAM_set_hostflags(wanted,
                                  X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (X509_VERIFY_PARAM_set1_host(wanted, server.data(), server.size()) != 1) {
    throw Failure(ErrorKind::setup, "option sni: this is no name of a server");
  }
}

/// Any certificate among the authorities is trusted, as by Go: also one that another signed.
void Context::believe(const std::string& authorities, const std::string& read) {
  X509_STORE* const store = SSL_CTX_get_cert_store(get());
  Pem pem(authorities);
  int found = 0;
  for (Certificate next = pem.certificate(); next; next = pem.certificate()) {
    if (X509_STORE_add_cert(store, next.get()) == 1) found++;
  }
  ERR_clear_error();
  if (found == 0) {
    throw Failure(ErrorKind::setup, read + "found no certificate, expected PEM text with at least one");
  }
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
}

void Context::show(const std::string& certificates, const std::string& key, const std::string& read) {
  Pem pem(certificates);
  const Certificate own = pem.certificate();
  if (!own) throw Failure(ErrorKind::setup, read + "no certificate was found: " + last_words());
  const auto secret = Pem(key).key();
  if (!secret) throw Failure(ErrorKind::setup, read + "no key was found: " + last_words());
  const auto demand = [&read](int done) {
    if (done != 1) throw Failure(ErrorKind::setup, read + last_words());
  };
  demand(SSL_CTX_use_certificate(get(), own.get()));
  demand(SSL_CTX_use_PrivateKey(get(), secret.get()));
  for (Certificate next = pem.certificate(); next; next = pem.certificate()) {
    demand(static_cast<int>(SSL_CTX_add1_chain_cert(get(), next.get())));
  }
  ERR_clear_error();
}

}  // namespace netdyno::tls
