// What a user's options make of a client's calls, and what of them is refused.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "h2grpc/call.h"
#include "kit/histogram.h"
#include "kit/options.h"

namespace netdyno::h2grpc {

using contract::ErrorKind;
using contract::Failure;
using contract::Options;
using contract::Role;
using contract::Stream;

namespace {

constexpr char kBuy[] = "/shop.v1.Shop/Buy";

contract::Setup setup_of(const Options& given, std::int64_t up = 7, Stream stream = Stream::none) {
  contract::Setup setup;
  setup.role = Role::client;
  setup.exchange = {up, 4, "bytes", stream, stream == Stream::none ? 0 : 2};
  contract::Transport transport;
  transport.roles = {Role::server, Role::client};
  transport.options = options();
  setup.options = complete_options(transport, Role::client, given);
  return setup;
}

/// Options of a call with a body of 7 bytes, one of them changed.
Options asked(const std::string& name = "verify", const contract::Value& value = "length") {
  Options all = {{"codec", "raw"}, {"method", kBuy}, {"verify", "length"}, {"body", base64("1234567")}};
  all[name] = value;
  return all;
}

TEST(Ask, IsNothingUnlessGiven) {
  const Ask ask = ask_of(setup_of(Options{}));
  EXPECT_EQ(ask.method, "");
  EXPECT_EQ(ask.host, "");
  EXPECT_TRUE(ask.headers.empty());
  EXPECT_FALSE(ask.body);
  EXPECT_EQ(ask.verify, Verify::content);
  EXPECT_TRUE(ask.of_netdyno());
}

TEST(Ask, IsAsTheUserSays) {
  Options given = asked("verify", "status");
  given["host"] = "shop.example:7";
  given["headers"] = "Authorization: Bearer x: y \r\n\nTrace-Bin: AQI=\nx-key:1\nx-key: 2\nempty:";
  const Ask ask = ask_of(setup_of(given));
  EXPECT_EQ(ask.method, kBuy);
  EXPECT_EQ(ask.host, "shop.example:7");
  EXPECT_EQ(ask.body, "1234567");
  EXPECT_EQ(ask.verify, Verify::status);
  EXPECT_FALSE(ask.of_netdyno());
  const std::vector<std::pair<std::string, std::string>> want = {
      {"authorization", "Bearer x: y"}, {"trace-bin", "AQI"}, {"x-key", "1"}, {"x-key", "2"}, {"empty", ""}};
  EXPECT_EQ(ask.headers, want);
}

TEST(Ask, TakesBinaryMetadataWithoutPadding) {
  const Ask ask = ask_of(setup_of(asked("headers", "a-bin: AQ\nb-bin: AQI\nc-bin: AQID\nd-bin: AQ==")));
  const std::vector<std::pair<std::string, std::string>> want = {
      {"a-bin", "AQ"}, {"b-bin", "AQI"}, {"c-bin", "AQID"}, {"d-bin", "AQ"}};
  EXPECT_EQ(ask.headers, want);
}

TEST(Ask, MayNameAMethodOfOurService) {
  EXPECT_TRUE(ask_of(setup_of(asked("method", "/netdyno.v1.Exchange/Mine"))).of_netdyno());
  EXPECT_EQ(ask_of(setup_of(asked("method", "/netdyno.v1.Exchange/Own"))).method, "");
}

// base64(1) breaks its lines.
TEST(Ask, BodyMayBeWrapped) {
  EXPECT_EQ(ask_of(setup_of(asked("body", "MTIz\r\nNDU2\nNw==\n"))).body, "1234567");
}

TEST(Ask, MayHaveTheLargestBodyThatAnOptionHolds) {
  const std::string body(48 << 10, '\xff');
  EXPECT_EQ(ask_of(setup_of(asked("body", base64(body)), 48 << 10)).body, body);
}

// What gRPC gives values itself stays its own, and names that only look like it go out.
TEST(Ask, LeavesOutNamesThatAreGRPCs) {
  const Ask ask = ask_of(setup_of(
      asked("headers",
            "Content-Type: text/html\nUser-Agent: me\nTE: gzip\ngrpc-timeout: 1n\ngrpc-encoding: gzip\n"
            "grpc-status: 1\ngrpc-message: m\ngrpc-message-type: t\ngrpc-previous-rpc-attempts: 1")));
  ASSERT_EQ(ask.headers.size(), 1U);
  EXPECT_EQ(ask.headers[0].first, "grpc-previous-rpc-attempts");
}

std::string lines(int n, bool alike) {
  std::string all;
  for (int i = 0; i < n; i++) all += "x" + (alike ? "" : std::to_string(i)) + ": 1\n";
  return all;
}

TEST(Ask, CountsNamesAndNotLines) {
  EXPECT_EQ(ask_of(setup_of(asked("headers", lines(1000, false)))).headers.size(), 1000U);
  EXPECT_EQ(ask_of(setup_of(asked("headers", lines(1001, true)))).headers.size(), 1001U);
}

struct Refusal {
  std::string name;
  contract::Setup setup;
  ErrorKind kind;
  std::string begins;
  std::string says;
};

class Refusals : public testing::TestWithParam<Refusal> {};

TEST_P(Refusals, NameTheOptionAndCanBePrinted) {
  try {
    ask_of(GetParam().setup);
    FAIL() << "it is taken";
  } catch (const Failure& failure) {
    const std::string text = failure.what();
    EXPECT_EQ(failure.kind(), GetParam().kind) << text;
    EXPECT_TRUE(text.starts_with(GetParam().begins)) << text;
    EXPECT_NE(text.find(GetParam().says), std::string::npos) << text;
    EXPECT_EQ(text.find("secret"), std::string::npos) << text;
    EXPECT_LT(text.size(), 250U) << text;
    for (const char c : text) EXPECT_FALSE((c >= 0 && c < ' ') || c == 0x7f) << text;
  }
}

Refusal no_setup(const std::string& name, const std::string& option, const std::string& value,
                 const std::string& says) {
  return {name, setup_of(asked(option, value)), ErrorKind::setup, "option " + option, says};
}

Refusal contradiction(const std::string& name, const Options& given, Stream stream, const std::string& says) {
  return {name, setup_of(given, 7, stream), ErrorKind::unsupported, "option", says};
}

std::vector<Refusal> refusals() {
  const std::string no_method = ", expected /package.Service/Method such as /netdyno.v1.Exchange/Own";
  const std::string no_metadata = ": found a line that is no metadata, expected Name: value";
  const std::string whole = "options body and verify=status need codec=raw and no exchange.stream";
  return {
      no_setup("no_method", "method", "", " is \"\"" + no_method),
      no_setup("no_slash", "method", "shop.Shop/Buy", " is \"shop.Shop/Buy\"" + no_method),
      no_setup("no_service", "method", "//Buy", no_method),
      no_setup("no_name", "method", "/shop.Shop/", no_method),
      no_setup("one_part", "method", "/shop.Shop", no_method),
      no_setup("three_parts", "method", "/shop.Shop/Buy/It", no_method),
      no_setup("a_space", "method", "/shop.Shop/Buy It", no_method),
      no_setup("a_query", "method", "/shop.Shop/Buy?x", no_method),
      no_setup("a_line_in_a_method", "method", "/shop.Shop/Buy\r\nx", " is \"/shop.Shop/Buy??x\""),
      no_setup("a_long_method", "method", std::string(60'000, 'x'), no_method),
      no_setup("reflection", "method", "/grpc.reflection.v1.ServerReflection/X",
               "reflection has that service"),
      no_setup("no_host", "host", "a b\x01", " is \"a b?\", expected a host"),
      no_setup("a_path", "host", "a/b", ", expected a host"),
      no_setup("no_colon", "headers", "authorization secret", no_metadata),
      no_setup("no_header_name", "headers", ": secret", no_metadata),
      no_setup("a_pseudo_header", "headers", ":path: secret", no_metadata),
      no_setup("a_mark_in_a_name", "headers", "x!y: secret", no_metadata),
      no_setup("a_space_in_a_name", "headers", "x y: secret", no_metadata),
      no_setup("a_control_in_a_value", "headers", "x: secret\x01", no_metadata),
      no_setup("a_tab_in_a_value", "headers", "x: secret\ty", no_metadata),
      no_setup("no_ascii", "headers", "x: secrét", no_metadata),
      no_setup("too_many_names", "headers", lines(1001, false), ": more than 1000 names"),
      no_setup("no_file", "headers", "@/nowhere.txt", ": open /nowhere.txt: No such file"),
      no_setup("no_binary", "headers", "X-Bin: ?", ": \"x-bin\" has a value that is no base64"),
      no_setup("a_part", "headers", "x-bin: A", ": \"x-bin\" has a value that is no base64"),
      no_setup("no_base64", "body", "?", " is no base64"),
      no_setup("half_base64", "body", "MTIzNDU2Nw", " is no base64"),
      {"another_length", setup_of(asked(), 8), ErrorKind::setup,
       "option body: ", "the message has 7 bytes and the factor request says 8; expected the same"},
      contradiction("a_block", asked("codec", "proto"), Stream::none, whole),
      contradiction("any_block", {{"verify", "status"}}, Stream::none, whole),
      contradiction("chunks", {{"codec", "raw"}, {"body", base64("1234567")}}, Stream::up, whole),
      contradiction("any_chunks", {{"codec", "raw"}, {"verify", "status"}}, Stream::both, whole),
      contradiction("a_method_of_chunks", {{"method", kBuy}}, Stream::down,
                    "option method is given and exchange.stream too"),
  };
}

INSTANTIATE_TEST_SUITE_P(Every, Refusals, testing::ValuesIn(refusals()),
                         [](const auto& refusal) { return refusal.param.name; });

TEST(Base64, IsStrict) {
  for (const std::string bytes : {"", "1", "12", "123", "\xff\xfe\xfd\xfc"}) {
    EXPECT_EQ(from_base64(base64(bytes)), bytes);
  }
  for (const std::string wrong :
       {"A", "AA", "AAA", "A===", "====", "=", "AA=A", "AA==AAAA", "AA A", "AAA\n", "AA-_"}) {
    EXPECT_FALSE(from_base64(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace netdyno::h2grpc
