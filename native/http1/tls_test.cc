// Encrypted ends of wire http/1.1: how connections end, and what is read ahead.
#include <gtest/gtest.h>

#include <string>

#include "http1/test_setup.h"
#include "tls/test_peer.h"

namespace netdyno::http1::test::encrypted {
namespace {

using contract::Options;
using contract::Role;
using tls::test::converse;
using tls::test::feed;
using tls::test::Peer;
using tls::test::words;
using Fate = Flow::Fate;

const contract::Tls& own() {
  static const contract::Tls kOwn = tls::test::certificate();
  return kOwn;
}

contract::Setup setup_of_end(Role role, std::int64_t down, const Options& options = Options{}) {
  contract::Setup setup = setup_of(role, 0, down, options);
  setup.tls = own();
  return setup;
}

struct ServerRig {
  ServerRig() : work(work_of(setup_of_end(Role::server, 5))), flow(work->server(4096, traffic)) {
    flow->begin(0);
  }
  Traffic traffic;
  std::unique_ptr<const Work> work;
  std::unique_ptr<Flow> flow;
};

constexpr char kRequest[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

std::size_t replies(const std::string& heard) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = heard.find("HTTP/1.1 200", at)) != std::string::npos; at++) n++;
  return n;
}

TEST(EncryptedHttpServer, AnswersRequestsThatCameTogether) {
  for (const bool one_record : {true, false}) {
    ServerRig server;
    Peer client(nullptr, kHttp1);
    converse(*server.flow, client, true);
    std::string all;
    for (int i = 0; i < 5; i++) {
      all += kRequest;
      if (!one_record) client.say(kRequest);
    }
    if (one_record) client.say(all);
    converse(*server.flow, client, true);
    EXPECT_EQ(replies(client.heard()), 5U);
    EXPECT_EQ(server.traffic.exchanges.get(), 5);
    EXPECT_EQ(server.flow->fate(), Fate::open);
  }
}

TEST(EncryptedHttpServer, SaysGoodbyeAfterTheLastReply) {
  ServerRig server;
  Peer client(nullptr, kHttp1);
  converse(*server.flow, client, true);
  client.say("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  converse(*server.flow, client, true);
  EXPECT_EQ(replies(client.heard()), 1U);
  EXPECT_TRUE(client.said_goodbye());
  EXPECT_EQ(server.flow->fate(), Fate::over);
  EXPECT_FALSE(server.flow->unsent());
}

TEST(EncryptedHttpServer, AnswersBeforeItFollowsAGoodbye) {
  ServerRig server;
  Peer client(nullptr, kHttp1);
  converse(*server.flow, client, true);
  client.say(kRequest);
  SSL_shutdown(client.ssl());
  converse(*server.flow, client, true);
  EXPECT_EQ(replies(client.heard()), 1U);
  EXPECT_TRUE(client.said_goodbye());
  EXPECT_EQ(server.flow->fate(), Fate::over);
}

std::string reply_of(const std::string& head) { return "HTTP/1.1 200 OK\r\n" + head + "\r\nhello"; }

/// Verifies the only connection of a client with a server that answers as that says.
void verify(const Work& work, Peer& server, const std::string& reply, Fate fate) {
  const auto verification = work.verification(0);
  verification->begin(0);
  converse(*verification, server, false);
  EXPECT_EQ(server.heard().substr(0, 4), "GET ");
  server.say(reply);
  converse(*verification, server, false);
  EXPECT_TRUE(verification->verified());
  EXPECT_EQ(verification->fate(), fate);
}

const Options kByLength = {{"verify", "length"}};
const std::string kStays = reply_of("Content-Length: 5\r\n");
const std::string kCloses = reply_of("Connection: close\r\nContent-Length: 5\r\n");

TEST(EncryptedHttpClient, SaysGoodbyeBeforeItConnectsAgain) {
  const auto setup = setup_of_end(Role::client, 5, kByLength);
  const std::shared_ptr<const Work> work = work_of(setup);
  Peer first(&own(), kHttp1);
  verify(*work, first, kStays, Fate::open);
  ClientRig rig(setup, work);
  Flow& flow = *rig.flow;
  converse(flow, first, false);
  first.say(kCloses);
  std::string bytes = first.outgoing();
  feed(flow, bytes, SIZE_MAX);
  EXPECT_EQ(rig.counts().exchanges, 1);
  EXPECT_EQ(flow.fate(), Fate::open) << "it has to say goodbye";
  EXPECT_TRUE(flow.read_buffer().empty());
  first.take(words(flow, false));
  EXPECT_TRUE(first.said_goodbye());
  EXPECT_EQ(flow.fate(), Fate::over);
  EXPECT_TRUE(flow.unsent()) << "the next request is due";

  Peer second(&own(), kHttp1);
  flow.reopened(10);
  EXPECT_EQ(flow.fate(), Fate::open);
  converse(flow, second, false);
  second.say(kStays);
  converse(flow, second, false);
  EXPECT_EQ(rig.counts().exchanges, 2);
  EXPECT_EQ(rig.counts().error_sum(), 0);
}

TEST(EncryptedHttpClient, HasNoSessionLeftOfAVerifiedConnectionThatIsOver) {
  const auto setup = setup_of_end(Role::client, 5, kByLength);
  const std::shared_ptr<const Work> work = work_of(setup);
  Peer first(&own(), kHttp1);
  verify(*work, first, kCloses, Fate::over);
  EXPECT_TRUE(first.said_goodbye());
  ClientRig rig(setup, work);
  EXPECT_TRUE(rig.flow->unsent());
  Peer second(&own(), kHttp1);
  rig.flow->reopened(10);
  converse(*rig.flow, second, false);
  second.say(kStays);
  converse(*rig.flow, second, false);
  EXPECT_EQ(rig.counts().exchanges, 1);
}

/// A reply whose end is that of the connection, by a goodbye and without one.
TEST(EncryptedHttpClient, TakesARepliesThatTheEndCompletes) {
  for (const bool goodbye : {true, false}) {
    const auto setup = setup_of_end(Role::client, 5, kByLength);
    const std::shared_ptr<const Work> work = work_of(setup);
    Peer server(&own(), kHttp1);
    verify(*work, server, kStays, Fate::open);
    ClientRig rig(setup, work);
    converse(*rig.flow, server, false);
    server.say(reply_of(""));
    if (goodbye) SSL_shutdown(server.ssl());
    std::string bytes = server.outgoing();
    feed(*rig.flow, bytes, SIZE_MAX);
    if (!goodbye) {
      EXPECT_TRUE(rig.flow->ended(4));
    }
    EXPECT_EQ(rig.counts().exchanges, 1);
    EXPECT_EQ(rig.flow->fate(), Fate::over);
  }
}

/// What breaks a connection under load costs one exchange, and the next one has another.
void goes_on(ClientRig& rig, const std::string& why) {
  EXPECT_EQ(rig.flow->fate(), Fate::over) << why;
  EXPECT_EQ(rig.errors(contract::ErrorKind::peer), 1) << why;
  EXPECT_TRUE(rig.flow->unsent()) << why;
  Peer next(&own(), kHttp1);
  rig.flow->reopened(20);
  converse(*rig.flow, next, false);
  next.say(kStays);
  converse(*rig.flow, next, false);
  EXPECT_EQ(rig.counts().exchanges, 1) << why;
  const auto reasons = rig.load.result(30).reasons;
  ASSERT_EQ(reasons.size(), 1U) << why;
  EXPECT_NE(reasons[0].text.find(why), std::string::npos) << reasons[0].text;
}

TEST(EncryptedHttpClient, ConnectsAgainWhereAHandshakeFailed) {
  const auto setup = setup_of_end(Role::client, 5, kByLength);
  for (const bool says : {true, false}) {
    const std::shared_ptr<const Work> work = work_of(setup);
    Peer first(&own(), kHttp1);
    verify(*work, first, kCloses, Fate::over);
    ClientRig rig(setup, work);
    rig.flow->reopened(10);
    words(*rig.flow, false);
    if (says) {
      std::string bytes = "HTTP/1.1 400 Bad Request\r\n\r\n";
      feed(*rig.flow, bytes, SIZE_MAX);
    } else {
      rig.flow->broke(0);
      EXPECT_TRUE(rig.flow->ended(11));
    }
    EXPECT_EQ(rig.load.sent().window, 0) << "the request did not go out";
    goes_on(rig, says ? "TLS: this client speaks TLS and the server plain text"
                      : "connection closed in the handshake of TLS before the request");
  }
}

/// Also where the reply's end would be that of the connection.
TEST(EncryptedHttpClient, ConnectsAgainWhereARecordWasCut) {
  const auto setup = setup_of_end(Role::client, 5, kByLength);
  for (const std::string& reply : {kStays, reply_of("")}) {
    const std::shared_ptr<const Work> work = work_of(setup);
    Peer server(&own(), kHttp1);
    verify(*work, server, kStays, Fate::open);
    ClientRig rig(setup, work);
    converse(*rig.flow, server, false);
    server.say(reply.substr(0, reply.size() - 2));
    server.say(reply.substr(reply.size() - 2));
    std::string bytes = server.outgoing();
    bytes.pop_back();
    feed(*rig.flow, bytes, SIZE_MAX);
    rig.flow->broke(0);
    EXPECT_TRUE(rig.flow->ended(4));
    goes_on(rig, "connection cut within a record of TLS");
  }
}

/// A client of a server of ours, whose connections have tickets of one key.
struct Resuming {
  explicit Resuming(bool resume, const Options& options = kByLength)
      : setup(setup_of_end(Role::client, 5, options)), tunnels(options.contains("proxied")) {
    setup.load.fresh = true;
    setup.stages = true;
    setup.tls->resume = resume;
    work = work_of(setup);
    const auto verification = work->verification(0);
    verification->begin(0);
    converses(*verification);
    EXPECT_TRUE(verification->verified());
  }

  /// Lets a flow converse on a connection of its own until both ends are silent.
  void converses(Flow& flow) const {
    Traffic traffic;
    const auto server = theirs->server(4096, traffic);
    server->begin(0);
    std::string up, down;
    if (tunnels) {
      EXPECT_TRUE(words(flow, false).starts_with("CONNECT "));
      std::string answer = "HTTP/1.1 200 OK\r\n\r\n";
      feed(flow, answer, SIZE_MAX);
    }
    do {
      up += words(flow, false);
      feed(*server, up, SIZE_MAX);
      down += words(*server, true);
      feed(flow, down, SIZE_MAX);
    } while (flow.fate() == Fate::open && flow.unsent());
  }
  /// Hands a server what a flow says, and the flow the answer, but for so many bytes at its end.
  static void turn(Flow& flow, Flow& server, std::size_t lost = 0) {
    std::string up = words(flow, false);
    feed(server, up, SIZE_MAX);
    std::string down = words(server, true);
    down.erase(down.size() - lost);
    feed(flow, down, SIZE_MAX);
  }
  /// Makes the connection anew.
  static void reopen(Flow& flow) {
    flow.reopened(10);
    flow.made();
  }

  contract::Setup setup;
  bool tunnels;
  std::shared_ptr<const Work> theirs = work_of(setup_of_end(Role::server, 5));
  std::shared_ptr<const Work> work;
};

TEST(EncryptedHttpClient, ResumesSessionsWhereSetupAsks) {
  for (const bool resume : {true, false}) {
    const Resuming trial(resume);
    ClientRig rig(trial.setup, trial.work);
    for (int i = 1; i <= 3; i++) {
      Resuming::reopen(*rig.flow);
      trial.converses(*rig.flow);
      ASSERT_EQ(rig.counts().exchanges, i);
    }
    const contract::Stages stages = rig.load.result(30).stages.value();
    EXPECT_EQ(stages.resumed, resume ? 3 : 0) << "the verified exchange left a session, and each other one";
    EXPECT_NE(stages.handshake, "");
    EXPECT_NE(stages.first_byte, "");
    EXPECT_EQ(stages.connect, "") << "the loop tells that";
  }
}

/// A server need not give a newer session where one is resumed.
TEST(EncryptedHttpClient, ResumesASessionAgainWithoutANewerOne) {
  const Resuming trial(true);
  ClientRig rig(trial.setup, trial.work);
  Resuming::reopen(*rig.flow);
  Traffic traffic;
  const auto server = trial.theirs->server(4096, traffic);
  server->begin(0);
  Resuming::turn(*rig.flow, *server);  // its part of the handshake, after which tickets would come
  rig.flow->broke(0);
  EXPECT_TRUE(rig.flow->ended(4));
  Resuming::reopen(*rig.flow);
  trial.converses(*rig.flow);
  EXPECT_EQ(rig.counts().exchanges, 1);
  EXPECT_EQ(rig.load.result(30).stages.value().resumed, 2);
}

/// A handshake in a tunnel begins once that is there.
TEST(EncryptedHttpClient, TellsHandshakesInTunnels) {
  const Resuming trial(false, {{"verify", "length"}, {"proxied", "127.0.0.1:81"}});
  ClientRig rig(trial.setup, trial.work);
  Resuming::reopen(*rig.flow);
  trial.converses(*rig.flow);
  EXPECT_EQ(rig.counts().exchanges, 1);
  Histogram endless;
  endless.record(Histogram::kMaxNs);
  const std::string handshake = rig.load.result(30).stages.value().handshake;
  EXPECT_NE(handshake, "");
  EXPECT_NE(handshake, endless.encode()) << "it began at some time";
}

/// A connection that broke after its handshake leaves its session, and one whose handshake failed
/// takes with it what it was to resume.
TEST(EncryptedHttpClient, ResumesNoSessionThatFailed) {
  const Resuming trial(true);
  ClientRig rig(trial.setup, trial.work);
  Resuming::reopen(*rig.flow);
  Traffic traffic;
  const auto server = trial.theirs->server(4096, traffic);
  server->begin(0);
  Resuming::turn(*rig.flow, *server);
  Resuming::turn(*rig.flow, *server, 30);  // the tickets came, and no whole reply before the goodbye
  rig.flow->broke(0);
  EXPECT_TRUE(rig.flow->ended(4));
  Resuming::reopen(*rig.flow);
  trial.converses(*rig.flow);
  EXPECT_EQ(rig.counts().exchanges, 1);

  Resuming::reopen(*rig.flow);
  words(*rig.flow, false);
  std::string alert("\x15\x03\x03\x00\x02\x02\x28", 7);  // handshake_failure
  feed(*rig.flow, alert, SIZE_MAX);
  EXPECT_EQ(rig.errors(contract::ErrorKind::peer), 2);
  Resuming::reopen(*rig.flow);
  trial.converses(*rig.flow);
  EXPECT_EQ(rig.counts().exchanges, 2);
  EXPECT_EQ(rig.load.result(30).stages.value().resumed, 2);
}

}  // namespace
}  // namespace netdyno::http1::test::encrypted
