// What is expected of bodies, by contract/vectors/bodies.json, and what clients make of it. Layer: test.
#include "http1/bodies.h"

#include <gtest/gtest.h>

#include <string>

#include "http1/test_setup.h"
#include "test/vectors.h"

namespace netdyno::http1::test {

using contract::ErrorKind;
using contract::Failure;

namespace {

contract::Setup expects(const std::string& verify, const std::string& expected) {
  return setup_of(contract::Role::client, 0, 0, {{"verify", verify}, {"expected", expected}});
}

std::unique_ptr<const Bodies> bodies_of(const std::string& verify, const std::string& expected) {
  return http1::bodies_of(ask_of(expects(verify, expected)));
}

/// The kind of failure that what is expected brings.
ErrorKind refused(const std::string& verify, const std::string& expected) {
  try {
    bodies_of(verify, expected);
  } catch (const Failure& failure) {
    return failure.kind();
  }
  ADD_FAILURE() << verify << " " << expected << " is taken";
  return ErrorKind::bug;
}

TEST(Bodies, AreAsTheVectorsSay) {
  const bool patterns = matching("a", false) != nullptr;
  for (const auto& v : netdyno::test::vectors("bodies.json")) {
    const std::string verify = v.at("verify");
    const std::string expected = v.at("expected");
    const bool foreign = v.value("beyond", false) || (verify.ends_with("regexp") && !patterns);
    if (v.value("refused", false) || foreign) {
      const ErrorKind kind = refused(verify, expected);
      EXPECT_TRUE(kind == ErrorKind::unsupported || (!foreign && kind == ErrorKind::setup)) << expected;
      continue;
    }
    const auto bodies = bodies_of(verify, expected);
    ASSERT_NE(bodies, nullptr);
    EXPECT_EQ(bodies->reason(), v.at("reason"));
    for (const std::string body : v.at("right")) {
      EXPECT_TRUE(bodies->takes(body)) << expected << " of " << body;
      EXPECT_TRUE(bodies->takes(body)) << expected << " of " << body << " once more";
    }
    for (const auto& [body, says] : v.at("wrong").items()) {
      EXPECT_FALSE(bodies->takes(body)) << expected << " of " << body;
      EXPECT_EQ(bodies->explain(body).substr(0, says.get<std::string>().size()), says);
    }
  }
}

TEST(Bodies, AreBounded) {
  const auto condition = bodies_of("json", "$.n");
  const std::string deep(1 << 20, '[');
  EXPECT_FALSE(condition->takes(deep));
  EXPECT_FALSE(condition->takes(deep + std::string(1 << 20, ']')));
  EXPECT_EQ(condition->explain(deep), "the body of 1048576 bytes is no JSON");
  const std::string long_one(17 << 20, ' ');
  EXPECT_FALSE(condition->takes(long_one));
  EXPECT_NE(condition->explain(long_one).find("at most 16777216"), std::string::npos);
  if (const auto late = matching("late", false)) {
    EXPECT_TRUE(late->takes(std::string((1 << 20) - 4, 'x') + "late"));
    EXPECT_FALSE(late->takes(std::string(1 << 20, 'x') + "late"));
  }
}

std::string reply(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n" + body.substr(0, 1) + "\r\n" +
         std::to_string(body.size() - 1) + "\r\n" + body.substr(1) + "\r\n0\r\n\r\n";
}

/// A body that is wrong fails its exchange alone, wherever its bytes are cut.
TEST(Bodies, AreComparedByClients) {
  const std::string right = reply("{\"a\":1}");
  const std::string wrong = reply("{\"a\":2}");
  for (std::size_t cut = 0; cut <= right.size(); cut++) {
    ClientRig rig(expects("json", "$.a == 1"));
    for (const auto& bytes : {right, wrong, right}) {
      sent(*rig.flow);
      give(*rig.flow, std::string_view(bytes).substr(0, cut));
      give(*rig.flow, std::string_view(bytes).substr(cut));
    }
    EXPECT_EQ(rig.counts().exchanges, 2);
    EXPECT_EQ(rig.counts().received_bytes, 14);
    EXPECT_EQ(rig.errors(ErrorKind::invalid), 1);
    EXPECT_EQ(rig.load.result(kForEver).reasons.at(0).text, "not $.a == 1");
    EXPECT_EQ(rig.flow->fate(), Flow::Fate::open);
  }
}

TEST(Bodies, AreComparedInAFirstReply) {
  const auto work = work_of(expects("body", ""));
  const auto first = [&](const std::string& body) {
    const auto verification = work->verification(0);
    verification->begin(0);
    sent(*verification);
    give(*verification, reply(body));
    return verification->verified();
  };
  EXPECT_TRUE(first("hello"));
  EXPECT_TRUE(first("hello"));
  try {
    first("hallo");
    FAIL() << "another body is taken";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.kind(), ErrorKind::invalid);
    EXPECT_STREQ(failure.what(), "the body of 5 bytes differs from the first reply's");
  }
}

}  // namespace

}  // namespace netdyno::http1::test
