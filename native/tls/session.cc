#include "tls/session.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace netdyno::tls {

using contract::Role;

namespace {

// Types of records (RFC 8446, section 5.1).
constexpr int kAlert = 0x15;
constexpr int kHandshake = 0x16;
/// An alert as every version of TLS has it: fatal, protocol_version.
constexpr std::string_view kPlainAlert("\x15\x03\x01\x00\x02\x02\x46", 7);

/// A server's certificate that is not taken, by the library's number of what is wrong.
std::string of_certificate(long verdict, const std::string& host) {
  switch (verdict) {
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_UNTRUSTED:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return std::string(
                 "the server's certificate is of no authority that this client trusts "
                 "(setup.tls.authorities, option ca): ") +
             X509_verify_cert_error_string(verdict);
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
    case X509_V_ERR_HOSTNAME_MISMATCH:
      return "the server's certificate is not for " + host;
    default:
      return std::string("the server's certificate is not taken: ") + X509_verify_cert_error_string(verdict);
  }
}

/// The alert by which the peer broke off, by an error of the library; not positive for none.
int alert_of(unsigned long error) {
  return ERR_GET_LIB(error) == ERR_LIB_SSL ? ERR_GET_REASON(error) - SSL_AD_REASON_OFFSET : 0;
}

}  // namespace

/// What OpenSSL moves bytes by. None of it throws: the library is in C.
struct Transfers {
  static Session& of(BIO* bio) { return *static_cast<Session*>(BIO_get_data(bio)); }

  static int read(BIO* bio, char* to, int size) noexcept {
    Session& session = of(bio);
    BIO_clear_retry_flags(bio);
    const std::size_t n = std::min(static_cast<std::size_t>(size), session.to_ - session.from_);
    if (n == 0) {
      BIO_set_retry_read(bio);
      return -1;
    }
    const char* const from = session.buffer_.get() + session.from_;
    if (session.first_ < 0) session.first_ = static_cast<unsigned char>(*from);
    std::memcpy(to, from, n);
    session.from_ += n;
    return static_cast<int>(n);
  }

  static int write(BIO* bio, const char* from, int size) noexcept {
    BIO_clear_retry_flags(bio);
    of(bio).out_.filling().append(from, static_cast<std::size_t>(size));
    return size;
  }

  static long control(BIO*, int command, long, void*) noexcept { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  static const BIO_METHOD* table() {
    static const BIO_METHOD* const kTable = make();
    return kTable;
  }
  static BIO_METHOD* make() {
    BIO_METHOD* const all = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "a flow's buffers");
    if (all == nullptr) throw std::bad_alloc();
    BIO_meth_set_read(all, read);
    BIO_meth_set_write(all, write);
    BIO_meth_set_ctrl(all, control);
    return all;
  }
};

Session::Session(const Context& context, Remote remote)
    : context_(context), remote_(std::move(remote)), ssl_(SSL_new(context.get())) {
  BIO* const bio = BIO_new(Transfers::table());
  if (!ssl_ || bio == nullptr) throw std::bad_alloc();
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);  // which owns it
  if (context.role() == Role::server) {
    SSL_set_accept_state(ssl_.get());
    return;
  }
  expect();
  SSL_set_connect_state(ssl_.get());
  if (remote_.newest == nullptr) return;
  SSL_set_app_data(ssl_.get(), remote_.newest);
  if (!*remote_.newest) return;
  // A copy, as the library spoils what it is given; a server may give no other after it.
  const Ticket once(SSL_SESSION_dup(remote_.newest->get()));
  SSL_set_session(ssl_.get(), once.get());
}

/// Sets whom the server's certificate must be for. The context knows a name; an address is
/// not sent ahead as one (RFC 6066, section 3).
void Session::expect() {
  if (context_.server_name().empty()) {
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_.get()), remote_.host.c_str()) != 1)
      throw std::bad_alloc();
  } else if (!context_.by_address() &&
             SSL_set_tlsext_host_name(ssl_.get(), context_.server_name().c_str()) != 1) {
    throw std::bad_alloc();
  }
}

/// Between records the library waits for a head of which nothing came.
bool Session::truncated() const {
  const std::string_view waits_for = SSL_rstate_string(ssl_.get());
  return SSL_has_pending(ssl_.get()) != 0 || waits_for == "RB";
}

void Session::read_size(std::size_t n) {
  const std::size_t rest = to_ - from_;
  capacity_ = std::max(n, rest);
  auto buffer = std::make_unique_for_overwrite<char[]>(capacity_);
  if (rest > 0) std::memcpy(buffer.get(), buffer_.get() + from_, rest);
  buffer_ = std::move(buffer);
  from_ = 0;
  to_ = rest;
}

std::span<char> Session::read_buffer() {
  if (undigested()) return {};
  from_ = to_ = 0;
  return {buffer_.get(), capacity_};
}

void Session::shake_hands() {
  const int result = SSL_do_handshake(ssl_.get());
  if (result == 1) return agree();
  judge(result);
  // The library says nothing to who does not speak TLS. Clients that expect plain text know
  // an alert when they see one.
  if (state_ == State::broken && context_.role() == Role::server && out_.empty()) {
    out_.filling() = kPlainAlert;
  }
}

/// Holds the peer to the protocol that the trial has.
void Session::agree() {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  std::string agreed(reinterpret_cast<const char*>(name), size);
  if (agreed == context_.protocol() || (agreed.empty() && context_.is_usual())) {
    state_ = State::open;
    return;
  }
  for (char& c : agreed) {
    if (c < ' ' || c > '~') c = '?';
  }
  break_off("the " + std::string(context_.role() == Role::client ? "server" : "client") + " speaks " +
            (agreed.empty() ? "TLS without ALPN" : agreed) + ", expected " + context_.protocol() +
            " to be agreed on (ALPN)");
}

std::size_t Session::decrypt(std::span<char> to) {
  std::size_t n = 0;
  if (const int result = SSL_read_ex(ssl_.get(), to.data(), to.size(), &n); result != 1) judge(result);
  return n;
}

void Session::encrypt(std::span<const char> bytes) {
  std::size_t n = 0;
  if (const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &n); result != 1) judge(result);
}

void Session::close() {
  closed_ = true;
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

/// What became of a call that did not do what it was to do.
void Session::judge(int result) {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return;
    case SSL_ERROR_ZERO_RETURN:
      state_ = State::ended;
      return;
    default:
      refused_ = alert_of(ERR_peek_error()) > 0;
      break_off(explain());
  }
}

/// A session by which no connection comes about is not resumed again.
void Session::break_off(const std::string& problem) {
  if (state_ == State::shaking && remote_.newest != nullptr) remote_.newest->reset();
  state_ = State::broken;
  problem_ = problem;
  ERR_clear_error();
}

/// The reason in plain words, as the client's user reads it.
std::string Session::explain() const {
  const bool verifies = (SSL_get_verify_mode(ssl_.get()) & SSL_VERIFY_PEER) != 0;
  if (const long verdict = SSL_get_verify_result(ssl_.get()); verifies && verdict != X509_V_OK) {
    return of_certificate(verdict, context_.server_name().empty() ? remote_.host : context_.server_name());
  }
  if (first_ >= 0 && first_ != kHandshake && first_ != kAlert) {
    return "this client speaks TLS and the server plain text; give setup.tls to both ends or to neither";
  }
  const unsigned long error = ERR_peek_error();
  const int alert = alert_of(error);
  if (alert <= 0) {
    const char* const words = ERR_reason_error_string(error);
    return words == nullptr ? "OpenSSL gives no reason" : words;
  }
  if (alert == SSL_AD_NO_APPLICATION_PROTOCOL) {
    return "the server does not speak " + context_.protocol() + " (ALPN)";
  }
  const std::string refusal = std::string("the server refused: ") + SSL_alert_desc_string_long(alert);
  if (alert == SSL_AD_PROTOCOL_VERSION) return refusal + "; this client speaks " + context_.versions();
  if (alert == SSL_AD_CERTIFICATE_REQUIRED) return refusal + "; give it one by options cert and key";
  return refusal;
}

std::string library_version() { return OpenSSL_version(OPENSSL_VERSION_STRING); }

}  // namespace netdyno::tls
