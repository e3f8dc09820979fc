// A client of wire http/1.1 whose exchanges are of several classes.
#include <gtest/gtest.h>

#include <string>

#include "http1/exchange.h"
#include "http1/test_setup.h"

namespace netdyno::http1::test {

using contract::ErrorKind;
using contract::Failure;
using contract::Options;
using contract::Role;

namespace {

/// A client of one class.
contract::Setup of(contract::Class one, const Options& options = {{"verify", "length"}}) {
  contract::Setup setup = setup_of(Role::client, one.up_bytes, one.down_bytes, options);
  one.name = "one";
  one.end = contract::kTableEnd;
  setup.load.classes = {one};
  setup.load.keys = {{contract::kTableEnd, 42, 42}};
  return setup;
}

std::string reply(int status, std::size_t length, std::string_view body) {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Length: " + std::to_string(length) +
         "\r\n\r\n" + std::string(body);
}

TEST(HttpMix, RequestsAreThoseOfTheirClass) {
  const auto head = [](const contract::Setup& setup) { return sent(*ClientRig(setup).flow); };
  EXPECT_EQ(head(of({.path = "/items/{key}?and={key}"})),
            "GET /items/42?and=42 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: netdyno\r\n\r\n");
  EXPECT_EQ(head(of({.up_bytes = 3, .path = "/orders"})).substr(0, 25), "POST /orders HTTP/1.1\r\nHo");
  EXPECT_NE(head(of({.up_bytes = 3, .method = "PUT"})).find("PUT /exchange HTTP/1.1"), std::string::npos);
  const std::string empty = head(of({.method = "POST"}));
  EXPECT_NE(empty.find("Content-Length: 0\r\n"), std::string::npos) << empty;
  EXPECT_EQ(empty.find(kDownHeader), std::string::npos) << "the server knows how long replies are";
  EXPECT_NE(head(of({}, {{"verify", "length"}, {"path", "/mine"}})).find("GET /mine "), std::string::npos);
}

TEST(HttpMix, RepliesAreThoseOfTheirClass) {
  const auto taken = [](const contract::Setup& setup, const std::string& bytes) {
    ClientRig rig(setup);
    sent(*rig.flow);
    give(*rig.flow, bytes);
    EXPECT_EQ(rig.counts().exchanges + rig.counts().error_sum(), 1) << bytes;
    return rig.counts().exchanges == 1;
  };
  EXPECT_TRUE(taken(of({.down_bytes = 2}), reply(201, 2, "hi"))) << "any 2xx will do";
  EXPECT_FALSE(taken(of({.down_bytes = 2}), reply(404, 2, "hi")));
  EXPECT_TRUE(taken(of({.down_bytes = 2, .status = 404}), reply(404, 2, "hi")));
  EXPECT_FALSE(taken(of({.down_bytes = 2, .status = 404}), reply(200, 2, "hi")));
  EXPECT_FALSE(taken(of({.down_bytes = 2}), reply(200, 3, "hey")));
  EXPECT_TRUE(taken(of({.down_bytes = 2, .method = "HEAD"}), reply(200, 2, "")))
      << "a reply to HEAD has no body";
}

TEST(HttpMix, RefusesWhatIsNoRequest) {
  for (const contract::Class& one :
       {contract::Class{.path = "items"}, contract::Class{.path = "/a b"},
        contract::Class{.path = "/a\r\nX: y"}, contract::Class{.method = "GE T"}}) {
    try {
      work_of(of(one));
      ADD_FAILURE() << one.path << one.method << ": accepted";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.kind(), ErrorKind::setup);
      EXPECT_EQ(std::string(failure.what()).substr(0, 11), "class one: ") << failure.what();
    }
  }
}

/// The connection of an exchange that is too late is of no use: its reply may still come.
TEST(HttpMix, AnExchangeThatIsLateFailsAndItsConnectionIsMadeAnew) {
  ClientRig rig(of({.down_bytes = 2, .deadline_ns = 2'000'000}));
  sent(*rig.flow);
  ASSERT_NE(rig.agenda.next_due(), Agenda::kNever);
  rig.flow->send(rig.agenda.take().slot);
  EXPECT_EQ(rig.errors(ErrorKind::timeout), 1);
  EXPECT_EQ(rig.flow->fate(), Flow::Fate::over);
  rig.flow->reopened(5);
  EXPECT_FALSE(sent(*rig.flow).empty());
  give(*rig.flow, reply(200, 2, "hi"));
  EXPECT_EQ(rig.counts().exchanges, 1);
  const contract::Result result = rig.load.result(9);
  EXPECT_EQ(result.reasons.at(0).text, "no reply within the deadline of 2.00 ms");
  EXPECT_EQ(result.classes.at(0).errors, 1);
}

TEST(HttpMix, ADeadlineThatIsKeptDoesNothing) {
  ClientRig rig(of({.down_bytes = 2, .deadline_ns = kForEver}));
  for (int i = 0; i < 3; i++) {
    sent(*rig.flow);
    give(*rig.flow, reply(200, 2, "hi"));
  }
  EXPECT_EQ(rig.counts().exchanges, 3);
  rig.flow->send(rig.agenda.take().slot);
  EXPECT_EQ(rig.counts().error_sum(), 0);
  EXPECT_EQ(rig.flow->fate(), Flow::Fate::open);
}

}  // namespace
}  // namespace netdyno::http1::test
