// Encrypted flows of wire echo, held to each other and to what peers do wrong.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "kit/options.h"
#include "kit/work.h"
#include "test/flow_rig.h"
#include "tls/context.h"
#include "tls/test_peer.h"
#include "tls/work.h"

namespace netdyno::tls::test {

using contract::ErrorKind;
using contract::Failure;
using contract::Role;

namespace {

using Fate = Flow::Fate;

constexpr char kProtocol[] = "h2";

const contract::Tls& own() {
  static const contract::Tls kOwn = certificate();
  return kOwn;
}

contract::Setup setup_of(Role role, std::int64_t bytes, const contract::Tls& tls = own()) {
  contract::Setup setup;
  setup.role = role;
  setup.exchange.up_bytes = setup.exchange.down_bytes = bytes;
  setup.peers = {"127.0.0.1:8080"};
  setup.load.connections = 1;
  setup.tls = tls;
  return setup;
}

std::unique_ptr<const Work> work_of(const contract::Setup& setup, std::string_view protocol = kProtocol) {
  return over(setup, protocol, Work::of(setup));
}

/// A server's flow, with what it needs.
struct ServerRig {
  explicit ServerRig(std::int64_t bytes, std::string_view protocol = kProtocol)
      : ServerRig(work_of(setup_of(Role::server, bytes), protocol)) {}
  explicit ServerRig(std::shared_ptr<const Work> of)
      : work(std::move(of)), flow(work->server(4096, traffic)) {
    flow->begin(0);
  }
  Traffic traffic;
  std::shared_ptr<const Work> work;
  std::unique_ptr<Flow> flow;
};

/// Carries bytes between two flows. at is where the first read of each direction ends that
/// reaches it, so that it ends there whatever is read together else.
class Link {
 public:
  Link(Flow& client, Flow& server, std::size_t piece = SIZE_MAX, std::size_t at = SIZE_MAX)
      : ends_{&server, &client}, piece_(piece), at_(at) {}

  /// Until both are silent. Returns how many bytes came to the client.
  std::size_t run() {
    while (step()) {
    }
    return came_[1];
  }

 private:
  bool step() {
    bool moved = false;
    for (const int to : {0, 1}) {
      const std::string said = words(*ends_[1 - to], to == 1);
      under_way_[to] += said;
      const std::size_t before = under_way_[to].size();
      while (!under_way_[to].empty()) {
        std::size_t n = std::min(piece_, under_way_[to].size());
        if (came_[to] < at_) n = std::min(n, at_ - came_[to]);
        std::string next = under_way_[to].substr(0, n);
        feed(*ends_[to], next, SIZE_MAX);
        const std::size_t taken = n - next.size();
        under_way_[to].erase(0, taken);
        came_[to] += taken;
        if (taken == 0) break;
      }
      moved = moved || !said.empty() || under_way_[to].size() != before;
    }
    return moved;
  }

  Flow* ends_[2];
  std::size_t piece_;
  std::size_t at_;
  std::string under_way_[2];
  std::size_t came_[2] = {0, 0};
};

/// Two ends whose certificates were read, which takes longer than to converse.
struct Ends {
  explicit Ends(std::int64_t bytes) : setup(setup_of(Role::client, bytes)) {
    setup.load.amount = 3;
    client = work_of(setup);
    server = work_of(setup_of(Role::server, bytes));
  }
  contract::Setup setup;
  std::shared_ptr<const Work> client;
  std::shared_ptr<const Work> server;
};

/// A whole conversation: the verified exchange, and three more on its session.
std::size_t hold(const Ends& ends, std::size_t piece, std::size_t at) {
  ServerRig server(ends.server);
  std::size_t came = 0;
  {
    const auto verification = ends.client->verification(0);
    verification->begin(0);
    came = Link(*verification, *server.flow, piece, at).run();
    EXPECT_TRUE(verification->verified()) << "pieces of " << piece << ", cut at " << at;
  }
  netdyno::test::ClientRig client(ends.setup, ends.client);
  Link(*client.flow, *server.flow, piece).run();
  EXPECT_EQ(client.counts().exchanges, 3) << "pieces of " << piece << ", cut at " << at;
  EXPECT_EQ(client.counts().error_sum(), 0);
  EXPECT_EQ(server.traffic.exchanges.get(), 4);
  EXPECT_EQ(server.traffic.invalid.get(), 0);
  return came;
}

TEST(TlsFlow, ConversesWhereverItsBytesAreCut) {
  const Ends ends(10);
  const std::size_t all = hold(ends, SIZE_MAX, SIZE_MAX);
  ASSERT_GT(all, 500U);
  for (std::size_t at = 1; at <= all + 10; at++) hold(ends, SIZE_MAX, at);
}

TEST(TlsFlow, ConversesByteByByteAndInPieces) {
  const Ends ends(10);
  for (const std::size_t piece : {1U, 2U, 3U, 5U, 6U, 22U, 100U, 1000U}) hold(ends, piece, SIZE_MAX);
}

TEST(TlsFlow, CarriesMegabytes) {
  const Ends ends(1 << 20);
  for (const std::size_t piece : {std::size_t{999}, std::size_t{1} << 20}) hold(ends, piece, SIZE_MAX);
}

/// What a client's verification says of a server that does this.
std::string refusal(const contract::Setup& setup, const std::function<void(Work::Verification&)>& act,
                    ErrorKind kind = ErrorKind::setup) {
  const auto work = work_of(setup);
  const auto verification = work->verification(0);
  verification->begin(0);
  words(*verification, false);
  try {
    act(*verification);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.kind(), kind) << failure.what();
    return failure.what();
  }
  return "";
}

std::string answered(std::string bytes) {
  return refusal(setup_of(Role::client, 10), [&](Work::Verification& verification) {
    feed(verification, bytes, SIZE_MAX);
    verification.ended(0);
  });
}

/// What a client that has setup says of a server that has tls and speaks protocol.
std::string met(const contract::Setup& setup, const contract::Tls& tls, std::string_view protocol) {
  contract::Setup theirs = setup_of(Role::server, 10, tls);
  const auto work = work_of(setup);
  const auto server_work = work_of(theirs, protocol);
  Traffic traffic;
  const auto server = server_work->server(4096, traffic);
  server->begin(0);
  const auto verification = work->verification(0);
  verification->begin(0);
  try {
    Link(*verification, *server).run();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.kind(), ErrorKind::setup) << failure.what();
    return failure.what();
  }
  return "";
}

void expect_in(const std::string& text, const std::string& words) {
  EXPECT_NE(text.find(words), std::string::npos) << "\"" << text << "\" does not say \"" << words << "\"";
}

TEST(TlsVerification, SaysWhyThereIsNoEncryptedConnection) {
  const contract::Tls stranger = certificate();
  expect_in(met(setup_of(Role::client, 10), stranger, kProtocol),
            "the server's certificate is of no authority that this client trusts");
  const contract::Tls elsewhere = certificate("127.0.0.2");
  expect_in(met(setup_of(Role::client, 10, elsewhere), elsewhere, kProtocol),
            "the server's certificate is not for 127.0.0.1");
  expect_in(met(setup_of(Role::client, 10), own(), "http/1.1"), "the server does not speak h2 (ALPN)");
  expect_in(answered("HTTP/1.1 400 Bad Request\r\n\r\n"), "this client speaks TLS and the server plain text");
  expect_in(answered(std::string("\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64", 15)), "the server plain text");
  expect_in(answered(std::string("\x15\x03\x03\0\x02\x02\x28", 7)), "the server refused: handshake failure");
  expect_in(answered(std::string("\x15\x03\x03\0\x02\x02\x46", 7)), "; this client speaks TLS 1.3");
  expect_in(answered(""), "closed the connection in the handshake");
  expect_in(answered(std::string("\x16\x03\x03\0\x10", 5)), "closed the connection in the handshake");
  EXPECT_NE(answered(std::string("\x16\x03\x03\0\x04garb", 9)), "");
}

TEST(TlsVerification, RefusesAServerWithoutAlpn) {
  Peer server(&own(), "");
  const auto work = work_of(setup_of(Role::client, 10));
  const auto verification = work->verification(0);
  verification->begin(0);
  try {
    converse(*verification, server, false);
    FAIL() << "taken";
  } catch (const Failure& failure) {
    expect_in(failure.what(), "the server speaks TLS without ALPN, expected h2");
  }
}

/// A file of the test's own that holds text.
std::string file_of(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

/// A client's setup that trusts as options say.
contract::Setup trusting(const contract::Options& options) {
  contract::Setup setup = setup_of(Role::client, 10);
  contract::Transport transport;
  transport.options = trust_options();
  setup.options = complete_options(transport, Role::client, options);
  return setup;
}

/// What a client says of a peer that it is to make an exchange with; empty if it made one.
std::string said_of(Peer& server, const contract::Options& options) {
  const std::string content(10, 'x');
  try {
    const auto work = work_of(trusting(options), "http/1.1");
    const auto verification = work->verification(0);
    verification->begin(0);
    converse(*verification, server, false);
    if (server.heard().size() == content.size()) server.say(server.heard());
    converse(*verification, server, false);
    return verification->verified() ? "" : "not verified";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.kind(), ErrorKind::setup) << failure.what();
    return failure.what();
  }
}

TEST(TlsTrust, TakesAnotherServerByItsAuthorityAndName) {
  const contract::Tls foreign = certificate_of("DNS:*.trial.example");
  const std::string ca = file_of("ca.pem", "by hand\n" + foreign.certificate);
  const auto says = [&](const contract::Options& options, const std::string& words) {
    Peer server(&foreign, "");
    const std::string said = said_of(server, options);
    if (words.empty()) {
      EXPECT_EQ(said, "");
    } else {
      expect_in(said, words);
    }
  };
  says({{"ca", ca}, {"sni", "a.trial.example"}}, "");
  says({{"ca", ca}, {"sni", "trial.example"}}, "the server's certificate is not for trial.example");
  says({{"ca", ca}, {"sni", "b.a.trial.example"}}, "the server's certificate is not for b.a.trial.example");
  says({{"ca", ca}}, "the server's certificate is not for 127.0.0.1");
  says({{"sni", "a.trial.example"}}, "option ca");
  says({{"ca", "system"}, {"sni", "a.trial.example"}}, "of no authority that this client trusts");
  says({{"insecure", true}}, "");
  says({{"insecure", true}, {"sni", "nobody.example"}}, "");
}

TEST(TlsTrust, SendsANameAheadAndNoAddress) {
  for (const auto& [name, ahead] :
       {std::pair{"trial.example", "trial.example"}, {"127.0.0.9", ""}, {"", ""}}) {
    Peer server(&own(), "");
    EXPECT_EQ(said_of(server, {{"insecure", true}, {"sni", name}}), "");
    const char* const heard = SSL_get_servername(server.ssl(), TLSEXT_NAMETYPE_host_name);
    EXPECT_STREQ(heard == nullptr ? "" : heard, ahead);
  }
}

/// netdyno's own servers have 1.3; another's need not.
TEST(TlsTrust, SpeaksTls12WithAnothersServer) {
  const std::string ca = file_of("own.pem", own().certificate);
  for (const auto& [options, words] :
       {std::pair{contract::Options{{"ca", ca}}, ""},
        {contract::Options{}, "protocol version; this client speaks TLS 1.3"}}) {
    Peer server(&own(), "");
    SSL_set_max_proto_version(server.ssl(), TLS1_2_VERSION);
    const std::string said = said_of(server, options);
    EXPECT_EQ(said.empty(), *words == '\0') << said;
    expect_in(said, words);
  }
}

TEST(TlsTrust, ShowsItsCertificateToAServerThatAsks) {
  const contract::Tls client = certificate();
  const contract::Options pair = {{"cert", file_of("cert.pem", client.certificate)},
                                  {"key", file_of("key.pem", client.key)}};
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    for (const bool shows : {true, false}) {
      Peer server(&own(), "");
      server.demand(client);
      SSL_set_max_proto_version(server.ssl(), version);
      contract::Options options = shows ? pair : contract::Options{};
      options["insecure"] = true;
      const std::string said = said_of(server, options);
      EXPECT_EQ(said.empty(), shows) << said;
      if (!shows) expect_in(said, "the server refused: ");
      if (!shows && version == TLS1_3_VERSION) expect_in(said, "give it one by options cert and key");
    }
  }
}

TEST(TlsTrust, NamesTheOptionThatCannotBeUsed) {
  const std::string cert = file_of("some.pem", own().certificate);
  const std::string key = file_of("other.pem", certificate().key);
  const std::string words = file_of("words.pem", "nothing of the kind");
  const struct {
    contract::Options options;
    const char* want;
  } kWrong[] = {
      {{{"ca", "/nowhere/ca.pem"}}, "option ca: open /nowhere/ca.pem: No such file"},
      {{{"ca", "/dev"}}, "option ca: /dev is no regular file"},
      {{{"ca", words}}, "read option ca: found no certificate, expected PEM text"},
      {{{"cert", cert}}, "options cert and key: cert is given and key is not; expected both"},
      {{{"key", key}}, "key is given and cert is not"},
      {{{"cert", cert}, {"key", words}}, "read options cert and key: no key was found"},
      {{{"cert", cert}, {"key", key}}, "read options cert and key: key values mismatch"},
      {{{"ca", file_of("large.pem", std::string((1 << 20) + 1, '-'))}}, "has more than 1048576 bytes"},
      {{{"insecure", true}, {"sni", std::string(300, 'x')}}, "option sni"},
  };
  for (const auto& wrong : kWrong) {
    Peer server(&own(), "");
    expect_in(said_of(server, wrong.options), wrong.want);
  }
}

TEST(TlsContext, NamesWhatCannotBeUsed) {
  contract::Tls none;
  for (const Role role : {Role::server, Role::client}) {
    try {
      work_of(setup_of(role, 10, none));
      FAIL() << "taken";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.kind(), ErrorKind::setup);
      expect_in(failure.what(), role == Role::server ? "setup.tls.key" : "setup.tls.authorities");
    }
  }
  contract::Tls mixed = own();
  mixed.key = certificate().key;
  EXPECT_THROW(work_of(setup_of(Role::server, 10, mixed)), Failure);
}

TEST(TlsServer, TellsPlainTextSo) {
  for (const std::string request :
       {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "x"}) {
    ServerRig server(10);
    std::string bytes = request + std::string(10, 'x');
    feed(*server.flow, bytes, SIZE_MAX);
    EXPECT_EQ(server.flow->fate(), Fate::over);
    EXPECT_EQ(words(*server.flow, true).substr(0, 2), "\x15\x03");
    EXPECT_FALSE(server.flow->unsent());
    EXPECT_EQ(server.traffic.invalid.get(), 1);
  }
}

/// Every byte of a conversation is changed in turn: the server drops it, and counts at most
/// that.
TEST(TlsServer, SurvivesChangedBytes) {
  const std::string content(10, 'x');
  const std::shared_ptr<const Work> work = work_of(setup_of(Role::server, 10));
  for (std::size_t at = 0; at < 400; at++) {
    ServerRig server(work);
    Peer client(nullptr, kProtocol);
    std::size_t came = 0;
    for (int turn = 0; turn < 6; turn++) {
      if (turn == 2 && SSL_is_init_finished(client.ssl()) != 0) client.say(content);
      std::string bytes = client.outgoing();
      if (at >= came && at - came < bytes.size()) bytes[at - came] ^= 1;
      came += bytes.size();
      feed(*server.flow, bytes, SIZE_MAX);
      client.take(words(*server.flow, true));
    }
    EXPECT_LE(server.traffic.invalid.get(), 1);
    EXPECT_LE(server.traffic.exchanges.get(), 1);
  }
}

TEST(TlsServer, TakesNoEarlyData) {
  ServerRig server(10);
  Peer client(nullptr, kProtocol);
  converse(*server.flow, client, true);
  EXPECT_EQ(SSL_SESSION_get_max_early_data(SSL_get_session(client.ssl())), 0U);
  EXPECT_EQ(SSL_version(client.ssl()), TLS1_3_VERSION);
}

TEST(TlsServer, RefusesOlderVersionsAndOtherProtocols) {
  ServerRig server(10);
  Peer old(nullptr, kProtocol);
  SSL_set_max_proto_version(old.ssl(), TLS1_2_VERSION);
  converse(*server.flow, old, true);
  EXPECT_EQ(server.flow->fate(), Fate::over);
  ServerRig other(10);
  Peer client(nullptr, "spdy/3");
  converse(*other.flow, client, true);
  EXPECT_EQ(other.flow->fate(), Fate::over);
  EXPECT_EQ(other.traffic.invalid.get(), 1);
}

TEST(TlsServer, AnswersAGoodbye) {
  ServerRig server(10);
  Peer client(nullptr, kProtocol);
  converse(*server.flow, client, true);
  SSL_shutdown(client.ssl());
  converse(*server.flow, client, true);
  EXPECT_EQ(server.flow->fate(), Fate::over);
  EXPECT_FALSE(server.flow->unsent());
  EXPECT_TRUE(client.said_goodbye());
  EXPECT_EQ(server.traffic.invalid.get(), 0);
}

/// In the handshake nobody can be told goodbye.
TEST(TlsServer, FollowsAGoodbyeInTheHandshake) {
  ServerRig server(10);
  Peer client(nullptr, kProtocol);
  std::string bytes = client.outgoing();
  feed(*server.flow, bytes, SIZE_MAX);
  words(*server.flow, true);
  bytes = std::string("\x15\x03\x03\0\x02\x01\0", 7);
  feed(*server.flow, bytes, SIZE_MAX);
  EXPECT_EQ(server.flow->fate(), Fate::over);
  while (server.flow->unsent()) {
    const auto out = server.flow->outgoing(1);
    ASSERT_FALSE(out.empty());
    server.flow->written(out.size());
  }
  EXPECT_EQ(server.traffic.invalid.get(), 0);
}

/// Echoes of new keys, which either end may ask for at any time.
TEST(TlsServer, FollowsNewKeys) {
  ServerRig server(10);
  Peer client(nullptr, kProtocol);
  converse(*server.flow, client, true);
  const std::string content(10, 'x');
  for (int turn = 1; turn <= 4; turn++) {
    ASSERT_EQ(
        SSL_key_update(client.ssl(), turn % 2 == 0 ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED),
        1);
    client.say(content);
    converse(*server.flow, client, true, 7);
    ASSERT_EQ(client.heard().size(), content.size() * static_cast<std::size_t>(turn));
  }
  EXPECT_EQ(server.traffic.exchanges.get(), 4);
}

/// The library answers each request for new keys. A peer that does not read the answers is
/// not read any more.
TEST(TlsServer, OwesNoEndlessAnswersToRequestsForNewKeys) {
  ServerRig server(10);
  Peer client(nullptr, kProtocol);
  converse(*server.flow, client, true);
  std::string bytes;
  for (int i = 0; i < 10'000; i++) {
    SSL_key_update(client.ssl(), SSL_KEY_UPDATE_REQUESTED);
    SSL_do_handshake(client.ssl());
    bytes += client.outgoing();
    feed(*server.flow, bytes, SIZE_MAX);
  }
  EXPECT_FALSE(bytes.empty());
  EXPECT_TRUE(server.flow->read_buffer().empty());
  EXPECT_LT(words(*server.flow, true).size(), 80U << 10);
  EXPECT_FALSE(server.flow->read_buffer().empty());
}

/// What is to be sent while a ticket has come in part waits for the rest of it.
TEST(TlsClient, LosesNothingToATicketInPieces) {
  contract::Setup setup = setup_of(Role::client, 10);
  setup.load.amount = 2;
  for (std::size_t cut = 1; cut < 900; cut += 37) {
    Peer server(&own(), "");
    server.fragment_tickets();
    const std::shared_ptr<const Work> work = work_of(setup, "http/1.1");
    {
      const auto verification = work->verification(0);
      verification->begin(0);
      converse(*verification, server, false);
      server.say(server.heard());
      converse(*verification, server, false);
      ASSERT_TRUE(verification->verified());
    }
    netdyno::test::ClientRig client(setup, work);
    server.take(words(*client.flow, false));
    server.say(server.heard().substr(10));
    ASSERT_EQ(SSL_new_session_ticket(server.ssl()), 1);
    SSL_do_handshake(server.ssl());
    std::string rest = server.outgoing();
    ASSERT_GT(rest.size(), cut);
    std::string part = rest.substr(0, cut);
    rest.erase(0, cut);
    feed(*client.flow, part, SIZE_MAX);
    server.take(words(*client.flow, false));
    feed(*client.flow, rest, SIZE_MAX);
    server.take(words(*client.flow, false));
    EXPECT_EQ(server.heard().size(), 30U) << "cut at " << cut;
  }
}

/// A client's connection that a peer ends in the middle of a record is lost.
TEST(TlsClient, TellsATruncatedRecord) {
  const auto setup = setup_of(Role::client, 10);
  for (std::size_t cut = 1; cut < 31; cut++) {
    const std::shared_ptr<const Work> work = work_of(setup);
    ServerRig server(10);
    {
      const auto verification = work->verification(0);
      verification->begin(0);
      Link(*verification, *server.flow).run();
      ASSERT_TRUE(verification->verified());
    }
    netdyno::test::ClientRig client(setup, work);
    std::string request = words(*client.flow, false);
    feed(*server.flow, request, SIZE_MAX);
    std::string reply = words(*server.flow, true);
    ASSERT_EQ(reply.size(), 32U);
    reply.resize(cut);
    feed(*client.flow, reply, SIZE_MAX);
    EXPECT_FALSE(client.flow->ended(4)) << cut;
  }
}

}  // namespace
}  // namespace netdyno::tls::test
