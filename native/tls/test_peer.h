// Certificates, and another end of TLS that does what a test says. Layer: test.
#pragma once

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "kit/contract.h"
#include "kit/flow.h"
#include "test/flow_rig.h"

namespace netdyno::tls::test {

using netdyno::test::require;

inline std::string text_of(BIO* bio) {
  char* bytes = nullptr;
  const long n = BIO_get_mem_data(bio, &bytes);
  std::string text(bytes, static_cast<std::size_t>(n));
  BIO_free(bio);
  return text;
}

/// What both ends of a trial need whose server has that name in its certificate, such as "IP:::1".
inline contract::Tls certificate_of(const std::string& holder) {
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  X509* const made = X509_new();
  X509_set_version(made, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
  X509_gmtime_adj(X509_getm_notBefore(made), -3600);
  X509_gmtime_adj(X509_getm_notAfter(made), 3600);
  X509_set_pubkey(made, key);
  X509_NAME* const name = X509_get_subject_name(made);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("a trial"), -1,
                             -1, 0);
  X509_set_issuer_name(made, name);
  for (const auto& [what, value] : {std::pair{NID_basic_constraints, std::string("critical,CA:TRUE")},
                                    {NID_key_usage, std::string("critical,digitalSignature,keyCertSign")},
                                    {NID_subject_alt_name, holder}}) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, what, value.c_str());
    require(extension != nullptr);
    X509_add_ext(made, extension, -1);
    X509_EXTENSION_free(extension);
  }
  require(X509_sign(made, key, EVP_sha256()) > 0);
  BIO* const shown = BIO_new(BIO_s_mem());
  BIO* const secret = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(shown, made);
  PEM_write_bio_PKCS8PrivateKey(secret, key, nullptr, nullptr, 0, nullptr, nullptr);
  X509_free(made);
  EVP_PKEY_free(key);
  contract::Tls tls;
  tls.authorities = tls.certificate = text_of(shown);
  tls.key = text_of(secret);
  return tls;
}

/// The same of a server at that IP address.
inline contract::Tls certificate(const std::string& host = "127.0.0.1") {
  return certificate_of("IP:" + host);
}

/// A peer by OpenSSL's own buffers.
class Peer {
 public:
  /// A server that shows a certificate, or a client that takes any.
  Peer(const contract::Tls* shown, std::string_view protocol)
      : context_(SSL_CTX_new(shown != nullptr ? TLS_server_method() : TLS_client_method())) {
    if (shown != nullptr) show(*shown);
    ssl_ = SSL_new(context_);
    SSL_set_bio(ssl_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    if (shown != nullptr) {
      SSL_set_accept_state(ssl_);
      return;
    }
    const std::string offer = static_cast<char>(protocol.size()) + std::string(protocol);
    SSL_set_alpn_protos(ssl_, reinterpret_cast<const unsigned char*>(offer.data()),
                        static_cast<unsigned>(offer.size()));
    SSL_set_connect_state(ssl_);
  }
  ~Peer() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
    ERR_clear_error();
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  SSL* ssl() { return ssl_; }
  /// A server asks for a client's certificate, and takes that one alone.
  void demand(const contract::Tls& tls) {
    BIO* const text = BIO_new_mem_buf(tls.certificate.data(), static_cast<int>(tls.certificate.size()));
    X509* const shown = PEM_read_bio_X509(text, nullptr, nullptr, nullptr);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_), shown);
    X509_free(shown);
    BIO_free(text);
    SSL_set_verify(ssl_, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  /// A server's tickets are longer than its records, as others' are that hold a client's
  /// certificate.
  void fragment_tickets() {
    const auto lengthen = [](SSL* ssl, void*) {
      const std::string more(600, 't');
      return SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), more.data(), more.size());
    };
    SSL_CTX_set_session_ticket_cb(context_, lengthen, nullptr, nullptr);
    SSL_set_max_send_fragment(ssl_, 512);
  }
  /// Everything that the peer said in plain text so far, beginning or going on with the
  /// handshake. It may have been cut in any way.
  const std::string& heard() { return heard_; }
  bool said_goodbye() const { return (SSL_get_shutdown(ssl_) & SSL_RECEIVED_SHUTDOWN) != 0; }

  /// What it has to send.
  std::string outgoing() {
    if (SSL_is_init_finished(ssl_) == 0) SSL_do_handshake(ssl_);
    ERR_clear_error();
    char bytes[4096];
    std::string all;
    for (int n = 0; (n = BIO_read(SSL_get_wbio(ssl_), bytes, sizeof bytes)) > 0;) {
      all.append(bytes, static_cast<std::size_t>(n));
    }
    return all;
  }
  void take(std::string_view bytes) {
    require(BIO_write(SSL_get_rbio(ssl_), bytes.data(), static_cast<int>(bytes.size())) >= 0 ||
            bytes.empty());
    if (SSL_is_init_finished(ssl_) == 0) SSL_do_handshake(ssl_);
    char plain[4096];
    for (int n = 0; SSL_is_init_finished(ssl_) != 0 && (n = SSL_read(ssl_, plain, sizeof plain)) > 0;) {
      heard_.append(plain, static_cast<std::size_t>(n));
    }
    ERR_clear_error();
  }
  /// Unless the connection is broken.
  void say(std::string_view plain) {
    SSL_write(ssl_, plain.data(), static_cast<int>(plain.size()));
    ERR_clear_error();
  }

 private:
  void show(const contract::Tls& tls) {
    BIO* const shown = BIO_new_mem_buf(tls.certificate.data(), static_cast<int>(tls.certificate.size()));
    BIO* const secret = BIO_new_mem_buf(tls.key.data(), static_cast<int>(tls.key.size()));
    X509* const own = PEM_read_bio_X509(shown, nullptr, nullptr, nullptr);
    EVP_PKEY* const key = PEM_read_bio_PrivateKey(secret, nullptr, nullptr, nullptr);
    require(SSL_CTX_use_certificate(context_, own) == 1 && SSL_CTX_use_PrivateKey(context_, key) == 1);
    X509_free(own);
    EVP_PKEY_free(key);
    BIO_free(shown);
    BIO_free(secret);
  }

  SSL_CTX* context_;
  SSL* ssl_ = nullptr;
  std::string heard_;
};

/// What a flow says while its connection stands.
inline std::string words(Flow& flow, bool server) {
  std::string all;
  while ((server || flow.fate() == Flow::Fate::open) && flow.unsent()) {
    const auto out = flow.outgoing(2);
    all.append(out.data(), out.size());
    flow.written(out.size());
  }
  return all;
}

/// Gives bytes to a flow, as far as it takes them, and removes those from bytes.
inline void feed(Flow& flow, std::string& bytes, std::size_t piece) {
  while (!bytes.empty() && flow.fate() == Flow::Fate::open) {
    const auto buffer = flow.read_buffer();
    if (buffer.empty()) return;
    const std::size_t n = std::min({buffer.size(), bytes.size(), piece});
    std::memcpy(buffer.data(), bytes.data(), n);
    bytes.erase(0, n);
    flow.received(n, 3);
  }
}

/// Lets a flow and a peer converse until both are silent.
inline void converse(Flow& flow, Peer& peer, bool server, std::size_t piece = SIZE_MAX) {
  std::string to_flow;
  while (true) {
    const std::string from_flow = words(flow, server);
    peer.take(from_flow);
    const std::string more = peer.outgoing();
    to_flow += more;
    const std::size_t before = to_flow.size();
    feed(flow, to_flow, piece);
    if (from_flow.empty() && more.empty() && to_flow.size() == before) return;
  }
}

}  // namespace netdyno::tls::test
