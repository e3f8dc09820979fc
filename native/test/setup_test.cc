// What stands between a setup message and a transport: options and addresses.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>
#include <string>

#include "kit/address.h"
#include "kit/json.h"
#include "kit/options.h"

namespace netdyno {
namespace {

using contract::ErrorKind;
using contract::Failure;
using contract::Json;
using contract::options_of;
using contract::Role;

contract::Transport transport() {
  contract::Option buffer;
  buffer.name = "buffer";
  buffer.type = contract::OptionType::bytes;
  buffer.fallback = 4096;
  buffer.min = 1;
  buffer.max = 65536;
  contract::Option mode;
  mode.name = "mode";
  mode.type = contract::OptionType::choice;
  mode.fallback = "shared";
  mode.choices = {"shared", "reuseport"};
  mode.roles = {Role::server};
  return {"x", "", "echo", {Role::server, Role::client}, "message", {buffer, mode}};
}

/// The text with which options are refused; empty when they are not.
std::string refusal(Role role, const Json& given) {
  try {
    complete_options(transport(), role, options_of(given));
    return "";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.kind(), ErrorKind::setup);
    return failure.what();
  }
}

TEST(Setup, ATextMayNameAFile) {
  const auto option = given_option("body", "", 4, "");
  contract::Transport offered = transport();
  offered.options.push_back(option);
  const Json said = message(contract::Hello{"w", "1", {}, {offered}}).at("hello").at("transports").at(0);
  EXPECT_EQ(said.at("options").back().at("file_max"), 4);
  EXPECT_FALSE(said.at("options").front().contains("file_max"));
  const std::string file = testing::TempDir() + "given";
  std::ofstream(file, std::ios::binary) << std::string("a\n\0\xff", 4);
  const auto given = [](const std::string& text, std::int64_t most = 4) {
    try {
      return given_text({{"body", text}}, "body", most);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.kind(), ErrorKind::setup);
      return std::string(failure.what());
    }
  };
  EXPECT_EQ(given(""), "");
  EXPECT_EQ(given("a@b"), "a@b");
  EXPECT_EQ(given("@@home"), "@home");
  EXPECT_EQ(given("@" + file), std::string("a\n\0\xff", 4));
  EXPECT_NE(given("@" + file, 3).find("more than 3 bytes"), std::string::npos);
  EXPECT_NE(given("@/tmp").find("option body: /tmp is no regular file"), std::string::npos);
  EXPECT_NE(given("@" + file + "x").find("No such file"), std::string::npos);
}

TEST(Setup, NoErrorHasAPartOfAText) {
  contract::Transport offered = transport();
  offered.options.push_back(given_option("headers", "", 4, ""));
  for (const Json& secret : {Json("Authorization: hunter2" + std::string(2 << 20, 'x')), Json({"hunter2"})}) {
    try {
      complete_options(offered, contract::Role::client, options_of({{"headers", secret}}));
      ADD_FAILURE() << "taken";
    } catch (const Failure& failure) {
      EXPECT_EQ(std::string(failure.what()).find("hunter2"), std::string::npos) << failure.what();
      EXPECT_NE(std::string(failure.what()).find("headers"), std::string::npos) << failure.what();
    }
  }
}

TEST(Setup, ExchangesAreReadWhole) {
  const Json body = {{"role", "client"},
                     {"exchange",
                      {{"up_bytes", 5},
                       {"down_bytes", 7},
                       {"codec", "proto"},
                       {"stream", "both"},
                       {"chunk_bytes", 9},
                       {"message",
                        {{"name", "simple"},
                         {"descriptors", "AAE="},
                         {"up", {{"type", "netdyno.v1.Text"}, {"json", "{}"}}},
                         {"down", {{"type", "netdyno.v1.Reply"}, {"json", "[]"}}}}}}}};
  const contract::Exchange exchange = contract::parse_setup(body).exchange;
  EXPECT_EQ(exchange.stream, contract::Stream::both);
  EXPECT_EQ(exchange.chunk_bytes, 9);
  ASSERT_TRUE(exchange.message);
  EXPECT_EQ(exchange.message->name, "simple");
  EXPECT_EQ(exchange.message->descriptors, "AAE=");
  EXPECT_EQ(exchange.message->up.type, "netdyno.v1.Text");
  EXPECT_EQ(exchange.message->down.json, "[]");
  EXPECT_EQ(contract::parse_setup({{"role", "client"}}).exchange.stream, contract::Stream::none);
}

TEST(Setup, WhatMakesExchangesDifferIsBeyondThisKit) {
  const auto beyond = [](const Json& exchange, const Json& load) {
    return contract::parse_setup({{"role", "client"}, {"exchange", exchange}, {"load", load}}).beyond;
  };
  using Features = std::vector<std::string>;
  const Json none = Json::object();
  const Json table = {{4294967296, 1, 2}};
  EXPECT_EQ(beyond({{"up_sizes", nullptr}}, {{"classes", Json::array()}, {"arrival", "poisson"}}),
            Features());
  EXPECT_EQ(beyond({{"up_sizes", table}}, none), Features{"sizes"});
  EXPECT_EQ(beyond({{"down_sizes", table}}, none), Features{"sizes"});
  EXPECT_EQ(beyond(none, {{"arrival", "drawn"}, {"gaps", table}}), Features{"arrivals"});
  EXPECT_EQ(beyond(none, {{"phases", {{1e9, 0, 2.5}}}}), Features{"arrivals"});
  EXPECT_EQ(beyond(none, {{"classes", {{{"name", "a"}, {"think_ns", 1}}}}}), Features{"think"});
  EXPECT_EQ(beyond(none, {{"arrival", "recorded"}, {"trace", {{"file", "x"}}}}), Features{"trace"});
}

TEST(Setup, TablesAreReadWhole) {
  const auto read = [](const Json& table) {
    return contract::parse_setup({{"role", "server"}, {"work", {{"by", "cpu"}, {"ns", table}}}}).work->ns;
  };
  EXPECT_EQ(read({{5, 1, 2}, {4294967296, 3, 4}}), (contract::Table{{5, 1, 2}, {contract::kTableEnd, 3, 4}}));
  for (const Json& wrong :
       {Json(1), Json({1, 2, 3}), Json({{1, 2}}), Json({{1, 2, 0.5}}), Json({{1, 2, "3"}})})
    EXPECT_THROW(read(wrong), Failure) << wrong;
}

TEST(Setup, FieldsOfTheWrongTypeAreNamed) {
  const auto refusal = [](const Json& exchange) {
    try {
      contract::parse_setup({{"role", "client"}, {"exchange", exchange}});
    } catch (const Failure& failure) {
      return std::string(contract::name(failure.kind())) + ": " + failure.what();
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal({{"stream", "sideways"}}),
            "unsupported: read setup.exchange.stream: expected up, down or both, found \"sideways\"");
  EXPECT_NE(refusal({{"stream", 1}}).find("invalid: read setup.exchange.stream"), std::string::npos);
  EXPECT_NE(
      refusal({{"message", {{"up", {{"json", 1}}}}}}).find("invalid: read setup.exchange.message.up.json"),
      std::string::npos);
}

TEST(Hello, CodecsFeaturesAndTruthValuesAreSaid) {
  contract::Transport offered = transport();
  EXPECT_FALSE(message(contract::Hello{"w", "1", {}, {offered}})
                   .at("hello")
                   .at("transports")
                   .at(0)
                   .contains("features"));
  contract::Option truth;
  truth.name = "quick";
  truth.type = contract::OptionType::boolean;
  truth.fallback = false;
  offered.options.push_back(truth);
  offered.codecs = {"bytes", "proto"};
  offered.features = {"stream-up"};
  const Json said = message(contract::Hello{"w", "1", {}, {offered}}).at("hello").at("transports").at(0);
  EXPECT_EQ(said.at("codecs"), (Json{"bytes", "proto"}));
  EXPECT_EQ(said.at("features"), Json::array({"stream-up"}));
  EXPECT_EQ(said.at("options").back().at("type"), "bool");
  EXPECT_EQ(complete_options(offered, Role::client, {{"quick", true}}).at("quick"), true);
  EXPECT_EQ(complete_options(offered, Role::client, {}).at("quick"), false);
  EXPECT_THROW(complete_options(offered, Role::client, {{"quick", 1}}), Failure);
}

TEST(Ready, SaysWhatAnOptionOrACodecDecided) {
  contract::Ready ready;
  EXPECT_EQ(message(ready), (Json{{"ready", {{"threads", 0}}}}));
  ready.delivery = "message";
  ready.up_bytes = 12;
  ready.down_bytes = 13;
  EXPECT_EQ(
      message(ready),
      (Json{{"ready", {{"threads", 0}, {"delivery", "message"}, {"up_bytes", 12}, {"down_bytes", 13}}}}));
}

TEST(Options, DefaultsAreFilledInByRole) {
  EXPECT_EQ(complete_options(transport(), Role::server, {}),
            (contract::Options{{"buffer", 4096}, {"mode", "shared"}}));
  EXPECT_EQ(complete_options(transport(), Role::client, options_of({{"buffer", 65536.0}})),
            (contract::Options{{"buffer", 65536}}));
}

TEST(Options, RefusalsNameTheNearest) {
  EXPECT_NE(refusal(Role::server, {{"bufer", 1}}).find("did you mean \"buffer\"?"), std::string::npos);
  EXPECT_NE(refusal(Role::server, {{"mode", "reuse_port"}}).find("did you mean \"reuseport\"?"),
            std::string::npos);
  EXPECT_NE(refusal(Role::client, {{"mode", "shared"}}), "") << "an option of the other role";
  for (const Json& bad : {Json(0), Json(65537), Json("4096"), Json(true)}) {
    EXPECT_NE(refusal(Role::server, {{"buffer", bad}}).find("1 to 65536"), std::string::npos) << bad;
  }
  for (const Json& bad : {Json(1.5), Json(1e300), Json(~0ULL), Json(nullptr), Json::array({1})}) {
    EXPECT_NE(refusal(Role::server, {{"buffer", bad}}).find("a whole number or a text"), std::string::npos)
        << bad;
  }
}

TEST(FindTransport, RefusesAsUnsupported) {
  contract::Setup setup;
  for (const auto& [name, role] : {std::pair{"y", Role::server}, {"x", Role::pair}}) {
    setup.transport = name;
    setup.role = role;
    try {
      find_transport({transport()}, setup);
      FAIL() << name << " accepted";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.kind(), ErrorKind::unsupported);
    }
  }
}

TEST(Setup, AsksForStagesAndSessionsToResume) {
  const contract::Setup asked =
      contract::parse_setup({{"role", "client"}, {"stages", true}, {"tls", {{"resume", true}}}});
  EXPECT_TRUE(asked.stages && asked.tls->resume);
  const contract::Setup plain = contract::parse_setup({{"role", "client"}, {"tls", Json::object()}});
  EXPECT_FALSE(plain.stages || plain.tls->resume);
}

TEST(Result, TellsEventsAndStagesWhereTheyAre) {
  contract::Result result;
  EXPECT_FALSE(message(result).at("result").contains("stages"));
  result.events.emplace();
  result.stages.emplace();
  EXPECT_EQ(message(result).at("result").at("events"), (Json{{"count", 0}}));
  EXPECT_EQ(message(result).at("result").at("stages"), Json::object());
  *result.events = {1, "f", "g", "w"};
  *result.stages = {"c", "h", 2, "b", "w"};
  EXPECT_EQ(message(result).at("result").at("events"),
            (Json{{"count", 1}, {"first", "f"}, {"gaps", "g"}, {"waiting", "w"}}));
  EXPECT_EQ(
      message(result).at("result").at("stages"),
      (Json{{"connect", "c"}, {"handshake", "h"}, {"resumed", 2}, {"first_byte", "b"}, {"waiting", "w"}}));
}

TEST(FindTransport, RefusesWhatIsNoFeatureOfIt) {
  contract::Setup plain;
  plain.transport = "x";
  const auto with = [&plain](auto change) {
    contract::Setup setup = plain;
    change(setup);
    return setup;
  };
  const std::vector<contract::Setup> asked = {
      with([](auto& setup) { setup.tls.emplace(); }),
      with([](auto& setup) { setup.load.fresh = true; }),
      with([](auto& setup) { setup.load.gather_ns = 1; }),
      with([](auto& setup) { setup.exchange.stream = contract::Stream::down; }),
      with([](auto& setup) { setup.exchange.codec = "proto"; }),
      with([](auto& setup) {
        setup.role = contract::Role::client;
        setup.events = true;
      }),
      with([](auto& setup) {
        setup.role = contract::Role::client;
        setup.stages = true;
      }),
      with([](auto& setup) {
        setup.role = contract::Role::client;
        setup.tls.emplace().resume = true;
      }),
      with([](auto& setup) { setup.exchange.every_ns = 1; }),
      with([](auto& setup) { setup.beyond = {"sizes"}; }),
  };
  contract::Transport able = transport();
  able.features = {"tls", "resume", "fresh", "gather", "stream-down", "sizes", "events", "stages"};
  able.codecs = {"proto"};
  for (const contract::Setup& setup : asked) {
    EXPECT_NO_THROW(find_transport({able}, setup));
    try {
      find_transport({transport()}, setup);
      FAIL() << "accepted";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.kind(), ErrorKind::unsupported) << failure.what();
    }
  }
}

TEST(Address, ReadsBothFamiliesAndRefusesTheRest) {
  EXPECT_EQ(parse_address("127.0.0.1:80", "k").text(), "127.0.0.1:80");
  EXPECT_EQ(parse_address("[::1]:80", "k").host, "::1");
  EXPECT_EQ(parse_address("[::1]:80", "k").text(), "[::1]:80");
  for (const char* bad : {"", ":", "127.0.0.1", "127.0.0.1:", ":80", "::1:80", "127.0.0.1:65536",
                          "127.0.0.1:8x", "127.0.0.1:-1", "[::1]80"}) {
    EXPECT_THROW(parse_address(bad, "k"), Failure) << bad;
  }
}

TEST(Routes, PeersAndSourcesGoRoundRobin) {
  contract::Setup setup;
  setup.peers = {"127.0.0.1:1", "127.0.0.1:2"};
  setup.sources = {"127.0.0.2", "127.0.0.3", "127.0.0.4"};
  const auto all = routes(setup);
  ASSERT_EQ(all.size(), 6U);
  for (std::size_t i = 0; i < all.size(); i++) {
    EXPECT_EQ(all[i].peer.port, i % 2 + 1);
    EXPECT_EQ(all[i].source, setup.sources[i % 3]);
  }
  setup.peers.clear();
  EXPECT_THROW(routes(setup), Failure);
}

/// Lowers this process's limit of open files as long as it lives.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t n) {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit few{n, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST(Descriptors, TooFewAreNamedWithBothNumbers) {
  const FewDescriptors few(200);
  EXPECT_NO_THROW(require_descriptors(136));
  try {
    require_descriptors(137);
    FAIL() << "accepted";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.kind(), ErrorKind::setup);
    EXPECT_NE(std::string(failure.what()).find("201 file descriptors are needed, 200 available"),
              std::string::npos)
        << failure.what();
  }
}

}  // namespace
}  // namespace netdyno
