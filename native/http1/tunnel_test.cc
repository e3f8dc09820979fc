// A client's connections through an HTTP proxy. Layer: test.
#include "http1/tunnel.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "http1/test_setup.h"

namespace netdyno::http1::test {

using contract::ErrorKind;
using contract::Failure;

namespace {

using Fate = Flow::Fate;

contract::Setup proxied(bool encrypted) {
  contract::Setup setup = setup_of(
      contract::Role::client, 0, 2,
      {{"verify", "length"}, {"proxied", "example.org:81"}, {"proxy_user", "ann:word"}, {"path", "/a"}});
  if (encrypted) setup.tls.emplace();
  return setup;
}

const std::string kAsked =
    "CONNECT example.org:81 HTTP/1.1\r\nHost: example.org:81\r\nUser-Agent: netdyno\r\n"
    "Proxy-Authorization: Basic YW5uOndvcmQ=\r\n\r\n";
const std::string kReply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

/// Plain HTTP in tunnels: what TLS would be.
std::shared_ptr<const Work> tunnels() {
  contract::Setup inner = proxied(false);
  inner.options["proxied"] = "";
  inner.options["proxy_user"] = "";
  return through(proxied(true), work_of(inner));
}

TEST(Proxy, IsAskedForTheWholeURL) {
  ClientRig rig(proxied(false));
  const std::string asked = sent(*rig.flow);
  EXPECT_EQ(asked.rfind("GET http://example.org:81/a HTTP/1.1\r\nHost: example.org:81\r\n", 0), 0U) << asked;
  EXPECT_NE(asked.find("\r\nProxy-Authorization: Basic YW5uOndvcmQ=\r\n"), std::string::npos) << asked;
}

TEST(Proxy, MakesATunnelWhereverItsAnswerIsCut) {
  const std::string answer = "HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n";
  for (std::size_t cut = 0; cut <= answer.size(); cut++) {
    const auto work = tunnels();
    const auto first = work->verification(0);
    first->begin(0);
    EXPECT_EQ(sent(*first), kAsked);
    EXPECT_FALSE(first->asked());
    give(*first, std::string_view(answer).substr(0, cut));
    give(*first, std::string_view(answer).substr(cut));
    EXPECT_EQ(sent(*first).rfind("GET /a HTTP/1.1\r\n", 0), 0U);
    give(*first, kReply);
    EXPECT_TRUE(first->verified());
  }
}

TEST(Proxy, RefusesATunnel) {
  for (const auto& [answer, says] : std::map<std::string, std::string>{
           {"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
            "the proxy answers \"HTTP/1.1 407 Proxy Authentication Required\""},
           {"HTTP/1.1 200 OK\r\n\r\nmore", "the proxy answers \"HTTP/1.1 200 OK\""},
           {std::string(64 << 10, 'x'), "the proxy answers \"xxx"},
           {"\x1b\r\n\r\n", "the proxy answers \"?\""}}) {
    const auto work = tunnels();
    const auto first = work->verification(0);
    first->begin(0);
    sent(*first);
    try {
      give(*first, answer);
      FAIL() << answer.substr(0, 80) << " makes a tunnel";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.kind(), ErrorKind::peer);
      EXPECT_EQ(std::string(failure.what()).substr(0, says.size()), says);
    }
  }
}

/// A connection that is made anew has a tunnel of its own, or its exchange fails.
TEST(Proxy, IsAskedForEachConnection) {
  ClientRig rig(proxied(true), tunnels());
  EXPECT_EQ(sent(*rig.flow).rfind("GET /a HTTP/1.1\r\n", 0), 0U) << "the first tunnel is there";
  give(*rig.flow, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi");
  ASSERT_EQ(rig.flow->fate(), Fate::over);
  ASSERT_TRUE(rig.flow->unsent()) << "the next request is due";
  rig.flow->reopened(5);
  EXPECT_EQ(sent(*rig.flow), kAsked);
  give(*rig.flow, "HTTP/1.1 502 Bad Gateway\r\n\r\n");
  EXPECT_EQ(rig.errors(ErrorKind::peer), 1);
  ASSERT_EQ(rig.flow->fate(), Fate::over);
  rig.flow->reopened(6);
  EXPECT_EQ(sent(*rig.flow), kAsked);
  rig.flow->broke(0);
  EXPECT_TRUE(rig.flow->ended(7));
  EXPECT_EQ(rig.errors(ErrorKind::peer), 2);
  rig.flow->reopened(8);
  EXPECT_EQ(sent(*rig.flow), kAsked);
  give(*rig.flow, "HTTP/1.1 200 OK\r\n\r\n");
  EXPECT_EQ(sent(*rig.flow).rfind("GET /a HTTP/1.1\r\n", 0), 0U);
  give(*rig.flow, kReply);
  EXPECT_EQ(rig.counts().exchanges, 2);
  EXPECT_EQ(rig.load.result(kForEver).reasons.at(0).kind, ErrorKind::peer);
}

}  // namespace

}  // namespace netdyno::http1::test
