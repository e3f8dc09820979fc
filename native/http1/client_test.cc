// The client's flows of wire http/1.1, held to what servers send.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include "http1/exchange.h"
#include "http1/test_setup.h"
#include "kit/random.h"

namespace netdyno::http1::test {

using contract::ErrorKind;
using contract::Failure;
using contract::Options;
using contract::Role;

namespace {

using Fate = Flow::Fate;

const Options kByLength = {{"verify", "length"}};

contract::Setup asks(std::int64_t down, const Options& options = kByLength) {
  return setup_of(Role::client, 0, down, options);
}

std::string reply(std::size_t promised, std::string_view body, const std::string& more = "") {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(promised) + "\r\n" + more + "\r\n" +
         std::string(body);
}

/// Whole replies of five bytes, and whether the connection goes on after them.
struct Whole {
  std::string bytes;
  Fate fate;
  bool by_end = false;  // the end of the connection completes it
};
const std::map<std::string, Whole> kWhole = {
    {"a length", {reply(5, "hello"), Fate::open}},
    {"chunks",
     {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", Fate::open}},
    {"chunks with extensions and a trailer",
     {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nDigest: x\r\n\r\n",
      Fate::open}},
    {"replies before it",
     {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + reply(5, "hello"),
      Fate::open}},
    {"many headers", {reply(5, "hello", "Server: x\r\nDate: now\r\nEmpty:\r\nFolded: a\tb\r\n"), Fate::open}},
    {"a close", {reply(5, "hello", "Connection: close\r\n"), Fate::over}},
    {"HTTP/1.0", {"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", Fate::over}},
    {"HTTP/1.0 that stays",
     {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello", Fate::open}},
    {"the end", {"HTTP/1.1 200 OK\r\n\r\nhello", Fate::over, true}},
};

TEST(HttpClient, TakesARepliesWhereverItIsCut) {
  for (const auto& [name, whole] : kWhole) {
    for (std::size_t cut = 0; cut <= whole.bytes.size(); cut++) {
      ClientRig rig(asks(5));
      EXPECT_EQ(sent(*rig.flow).rfind("GET /exchange HTTP/1.1\r\n", 0), 0U);
      give(*rig.flow, std::string_view(whole.bytes).substr(0, cut));
      if (cut < whole.bytes.size()) {
        ASSERT_EQ(rig.counts().exchanges, 0) << name << " cut at " << cut;
      }
      give(*rig.flow, std::string_view(whole.bytes).substr(cut));
      if (whole.by_end) {
        ASSERT_TRUE(rig.flow->ended(4)) << name << " cut at " << cut;
      }
      ASSERT_EQ(rig.counts().exchanges, 1) << name << " cut at " << cut;
      EXPECT_EQ(rig.counts().received_bytes, 5);
      EXPECT_EQ(rig.counts().error_sum(), 0);
      EXPECT_EQ(rig.flow->fate(), whole.fate) << name;
      EXPECT_TRUE(rig.flow->unsent()) << "the next request is due";
    }
  }
}

TEST(HttpClient, TakesRepliesByteByByteOneAfterTheOther) {
  for (const auto& [name, whole] : kWhole) {
    if (whole.fate != Fate::open) continue;
    ClientRig rig(asks(5));
    for (int turn = 1; turn <= 3; turn++) {
      sent(*rig.flow, 7);
      for (const char byte : whole.bytes) give(*rig.flow, {&byte, 1});
      ASSERT_EQ(rig.counts().exchanges, turn) << name;
    }
  }
}

/// Each exchange asks for what its class says, and its reply is judged by that.
TEST(HttpClient, AsksAsClassesSay) {
  contract::Setup setup = setup_of(Role::client, 8, 5, {{"verify", "status"}, {"headers", "A: all\nB: all"}});
  setup.exchange.tells_down = true;
  setup.load.classes = {{"get", contract::kTableEnd / 3, 0, 5},
                        {"put", contract::kTableEnd / 3 * 2, 8, 0},
                        {"head", contract::kTableEnd, 0, 5}};
  setup.load.classes[0].path = "/{key}/{key}";
  setup.load.classes[0].headers = {"b: own"};
  setup.load.classes[1].method = "PUT";
  setup.load.classes[1].status = 404;
  setup.load.classes[2].method = "HEAD";
  setup.load.keys = {{contract::kTableEnd, 7, 7}};
  const std::map<std::string, std::string> want = {
      {"GET /7/7 ", "b: own\r\nA: all\r\n\r\n"},
      {"PUT /exchange ", "Content-Length: 8\r\n\r\n" + random_content(8, 'u')},
      {"HEAD /exchange ", "netdyno-down: 0\r\nA: all\r\nB: all\r\n\r\n"}};
  ClientRig rig(setup);
  std::map<std::string, int> met;
  std::int64_t errors = 0;
  for (int k = 0; k < 60; k++) {
    const std::string request = sent(*rig.flow);
    const std::string begins = request.substr(0, request.find("HTTP/1.1"));
    ASSERT_TRUE(want.contains(begins)) << request;
    EXPECT_TRUE(request.ends_with(want.at(begins))) << request;
    const bool no_content = k % 5 == 0;  // 204, which is 2xx and not 404
    if (no_content && begins[0] == 'P') errors++;
    give(*rig.flow, no_content         ? "HTTP/1.1 204 No Content\r\n\r\n"
                    : begins[0] == 'P' ? "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
                                       : reply(5, begins[0] == 'H' ? "" : "hello"));
    met[begins]++;
  }
  EXPECT_EQ(met.size(), want.size());
  EXPECT_GT(errors, 0);
  EXPECT_EQ(rig.errors(ErrorKind::invalid), errors);
  EXPECT_EQ(rig.counts().exchanges, 60 - errors);
}

/// An exchange fails at its deadline, where its connection waits for a reply, for the rest of one, or is
/// still being made; the next one has another connection.
TEST(HttpClient, EndsExchangesAtTheirDeadline) {
  auto limited = [](std::int64_t deadline_ns, std::int64_t connect_ns = 0) {
    contract::Setup setup = asks(5);
    setup.load.deadline_ns = deadline_ns;
    setup.load.connect_ns = connect_ns;
    return setup;
  };
  for (const std::string& begin : {std::string(), reply(5, "hel")}) {
    ClientRig rig(limited(1'000'000'000));
    sent(*rig.flow);
    give(*rig.flow, begin);
    ASSERT_EQ(rig.agenda.next_due(), 1'000'000'002);
    const Agenda::Entry entry = rig.agenda.take();
    ASSERT_EQ(entry.slot, Agenda::kWatch);
    rig.flow->send(entry.slot);
    EXPECT_EQ(rig.errors(ErrorKind::timeout), 1);
    EXPECT_EQ(rig.flow->fate(), Fate::over);
    ASSERT_TRUE(rig.flow->unsent()) << "the next request is due";
    rig.flow->reopened(now_ns());
    rig.flow->send(rig.agenda.take().slot);  // while it is connecting, long before its deadline
    sent(*rig.flow);
    give(*rig.flow, reply(5, "hello"));
    EXPECT_EQ(rig.counts().exchanges, 1);
    EXPECT_EQ(rig.counts().error_sum(), 1);
    EXPECT_EQ(rig.flow->fate(), Fate::open);
    const contract::Result result = rig.load.result(now_ns());
    EXPECT_EQ(result.reasons.at(0).text, "no reply within the deadline of 1.00 s");
    Histogram late;
    late.record(1'000'000'000);
    EXPECT_EQ(result.late, late.encode());
  }
  for (const bool written : {false, true}) {
    ClientRig rig(limited(0, 1'000'000));
    sent(*rig.flow);
    give(*rig.flow, reply(5, "hello", "Connection: close\r\n"));
    ASSERT_EQ(rig.agenda.next_due(), Agenda::kNever);
    rig.flow->reopened(10);
    if (written) sent(*rig.flow);
    ASSERT_EQ(rig.agenda.next_due(), 1'000'010);
    rig.flow->send(rig.agenda.take().slot);
    EXPECT_EQ(rig.errors(ErrorKind::timeout), 1);
    EXPECT_EQ(rig.flow->fate(), Fate::over);
  }
  ClientRig rig(limited(0, 1'000'000));
  sent(*rig.flow);
  give(*rig.flow, reply(5, "hello", "Connection: close\r\n"));
  rig.flow->reopened(10);
  rig.flow->made();
  rig.flow->send(rig.agenda.take().slot);
  EXPECT_EQ(rig.counts().error_sum(), 0) << "it was there in time";
}

/// Replies that are wrong, and what becomes of the connection.
TEST(HttpClient, CountsWrongRepliesByKind) {
  const std::string longer(300 << 10, 'x');
  const std::string headers = "HTTP/1.1 200 OK\r\nX: " + std::string(10 << 20, 'x');
  std::string storm;
  for (int i = 0; i < 5000; i++) storm += "HTTP/1.1 102 Processing\r\n\r\n";
  const struct {
    const char* name;
    std::string bytes;
    Fate fate;
  } kWrong[] = {
      {"shorter", reply(4, "hell"), Fate::open},
      {"longer", reply(6, "hello!"), Fate::open},
      {"another status", "HTTP/1.1 500 Broken\r\nContent-Length: 5\r\n\r\nhello", Fate::open},
      {"not modified", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5000\r\n\r\n", Fate::open},
      {"another protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
       Fate::open},
      {"no HTTP", "SSH-2.0-OpenSSH_9.2\r\n", Fate::over},
      {"a length that is none", "HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n", Fate::over},
      {"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", Fate::over},
      {"a length beyond all", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", Fate::over},
      {"a length far too long", reply(std::size_t{1} << 40, ""), Fate::over},
      {"a chunk beyond all", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
       Fate::over},
      {"a chunk that is none", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", Fate::over},
      {"endless", "HTTP/1.1 200 OK\r\n\r\n" + longer, Fate::over},
      {"endless chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n100000\r\n" + longer,
       Fate::over},
      {"10 MB of headers", headers, Fate::over},
      {"endless extensions", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;" + longer, Fate::over},
      {"a storm of 1xx", storm, Fate::over},
  };
  for (const auto& wrong : kWrong) {
    ClientRig rig(asks(5));
    sent(*rig.flow);
    give(*rig.flow, wrong.bytes);
    EXPECT_EQ(rig.errors(ErrorKind::invalid), 1) << wrong.name;
    EXPECT_EQ(rig.counts().error_sum(), 1) << wrong.name;
    EXPECT_EQ(rig.counts().exchanges, 0) << wrong.name;
    EXPECT_EQ(rig.flow->fate(), wrong.fate) << wrong.name;
    EXPECT_EQ(rig.agenda.held(), 1U) << wrong.name << ": the next one is made on another connection";
  }
}

/// A connection that ends within an exchange fails it, and the next one is made on another.
TEST(HttpClient, ConnectsAgainAfterAFailure) {
  ClientRig within(asks(5));
  sent(*within.flow);
  give(*within.flow, reply(5, "hel"));
  within.flow->broke(ECONNRESET);
  EXPECT_TRUE(within.flow->ended(4)) << "a reply was cut off";
  EXPECT_EQ(within.flow->fate(), Fate::over);
  EXPECT_EQ(within.errors(ErrorKind::peer), 1);
  within.flow->reopened(50);
  within.flow->broke(ECONNREFUSED);
  sent(*within.flow);
  EXPECT_FALSE(within.flow->ended(60)) << "the new one never came about: no third one";

  ClientRig between(asks(5));
  EXPECT_TRUE(between.flow->ended(4)) << "nothing was sent yet";
  EXPECT_EQ(between.flow->fate(), Fate::over);
  between.flow->reopened(50);
  EXPECT_EQ(between.flow->fate(), Fate::open);
  EXPECT_FALSE(between.flow->ended(60)) << "the new one never came about: no third one";
  sent(*between.flow);
  give(*between.flow, reply(5, "hello"));
  EXPECT_EQ(between.counts().exchanges, 1);
  EXPECT_TRUE(between.flow->ended(70));
}

/// A server that closes an idle connection as a request is written has not read that: it is
/// sent once more (RFC 9112, section 9.3.1), and its time counts from the first time.
TEST(HttpClient, RepeatsARequestThatMetAClosingServer) {
  for (const int error : {0, ECONNRESET, EPIPE}) {
    ClientRig rig(asks(5));
    sent(*rig.flow, 7);
    rig.flow->broke(error);
    ASSERT_TRUE(rig.flow->ended(9));
    EXPECT_EQ(rig.counts().error_sum(), 0);
    EXPECT_TRUE(rig.flow->unsent());
    rig.flow->reopened(10);
    sent(*rig.flow, 11);
    give(*rig.flow, reply(5, "hello"));
    EXPECT_EQ(rig.counts().exchanges, 1);

    ClientRig again(asks(5));
    sent(*again.flow, 7);
    ASSERT_TRUE(again.flow->ended(9));
    again.flow->reopened(10);
    sent(*again.flow, 11);
    again.flow->broke(error);
    EXPECT_TRUE(again.flow->ended(12));
    EXPECT_EQ(again.errors(ErrorKind::peer), 1) << "a new connection was not idle";
  }
  ClientRig post(setup_of(Role::client, 5, 5, kByLength));
  sent(*post.flow, 7);
  post.flow->broke(0);
  ASSERT_TRUE(post.flow->ended(9));
  EXPECT_EQ(post.errors(ErrorKind::peer), 1) << "a POST does not do the same twice";
}

TEST(HttpClient, UnsolicitedBytesEndTheConnectionAndNotTheTrial) {
  ClientRig rig(asks(5));
  sent(*rig.flow);
  give(*rig.flow, reply(5, "hello") + "HTTP/1.1 408 Request Timeout\r\n\r\n");
  EXPECT_EQ(rig.counts().exchanges, 1);
  EXPECT_EQ(rig.flow->fate(), Fate::over);

  ClientRig idle(asks(5));
  give(*idle.flow, "HTTP/1.1 408 Request Timeout\r\n\r\n");  // before anything was sent
  EXPECT_EQ(idle.flow->fate(), Fate::over);
  EXPECT_EQ(idle.counts().error_sum(), 0);
}

TEST(HttpClient, AReplyBeforeItsRequestIsWrittenEndsTheConnection) {
  ClientRig rig(setup_of(Role::client, 5 << 20, 5, kByLength));
  rig.flow->written(rig.flow->outgoing(2).size());
  ASSERT_TRUE(rig.flow->unsent());
  give(*rig.flow, reply(5, "hello"));
  EXPECT_EQ(rig.counts().exchanges, 1);
  EXPECT_EQ(rig.flow->fate(), Fate::over);
  rig.flow->reopened(5);
  EXPECT_EQ(sent(*rig.flow).rfind("POST /exchange HTTP/1.1\r\n", 0), 0U) << "the next request is whole";
}

TEST(HttpClient, FreshExchangesBeginWithConnecting) {
  contract::Setup setup = asks(5);
  setup.load.fresh = true;
  ClientRig rig(setup);
  EXPECT_EQ(rig.flow->fate(), Fate::over) << "the verified exchange had its own connection";
  for (int turn = 1; turn <= 3; turn++) {
    rig.flow->reopened(10 * turn);
    EXPECT_NE(sent(*rig.flow).find("Connection: close\r\n"), std::string::npos);
    give(*rig.flow, reply(5, "hello"));
    EXPECT_EQ(rig.counts().exchanges, turn);
    EXPECT_EQ(rig.flow->fate(), Fate::over);
  }
}

TEST(HttpClient, AsksAsTheUserSays) {
  const Options options = {
      {"verify", "length"},     {"method", "PUT"},
      {"host", "shop.example"}, {"body", "hello"},
      {"path", "/a?b=%20c"},    {"headers", "X-Key: 1\ncontent-type: text/plain\nX-KEY: 2"}};
  ClientRig rig(setup_of(Role::client, 5, 0, options));
  EXPECT_EQ(sent(*rig.flow),
            "PUT /a?b=%20c HTTP/1.1\r\nHost: shop.example\r\nUser-Agent: netdyno\r\nX-Key: 1\r\n"
            "content-type: text/plain\r\nX-KEY: 2\r\nContent-Length: 5\r\n\r\nhello");
}

TEST(HttpClient, TextsMayBeInFiles) {
  const std::string directory = testing::TempDir();
  const auto kept = [&directory](const std::string& name, const std::string& text) {
    std::ofstream(directory + name, std::ios::binary) << text;
    return "@" + directory + name;
  };
  const std::string body("a\n\0\xff", 4);
  const std::string token(60'000, 't');
  const Options options = {{"verify", "length"},
                           {"path", kept("path", "//" + std::string(2000, 'p'))},
                           {"headers", kept("headers", "Authorization: " + token + "\nX-Empty:\n")},
                           {"body", kept("body", body)}};
  ClientRig rig(setup_of(Role::client, 4, 0, options));
  EXPECT_EQ(sent(*rig.flow, 100'000),
            "POST //" + std::string(2000, 'p') +
                " HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: netdyno\r\nContent-Type: "
                "application/octet-stream\r\nAuthorization: " +
                token + "\r\nX-Empty: \r\nContent-Length: 4\r\n\r\n" + body);
}

TEST(HttpClient, ARequestTooLargeToCopyIsWrittenInPieces) {
  const std::int64_t up = (1 << 20) + 1;
  ClientRig rig(setup_of(Role::client, up, 0, kByLength));
  const std::string all = sent(*rig.flow, 100'000);
  EXPECT_EQ(all.substr(all.find("\r\n\r\n") + 4), random_content(static_cast<std::size_t>(up), 'u'));
}

TEST(HttpClient, RepliesToHeadHaveNoBody) {
  ClientRig rig(asks(0, {{"verify", "length"}, {"method", "HEAD"}}));
  for (int turn = 1; turn <= 2; turn++) {
    sent(*rig.flow);
    give(*rig.flow, reply(5000, ""));
    EXPECT_EQ(rig.counts().exchanges, turn);
  }
}

TEST(HttpClient, CountsWhatCameWhereAnyLengthWillDo) {
  ClientRig rig(asks(1, {{"verify", "status"}}));
  sent(*rig.flow);
  give(*rig.flow, reply(7, "seven77"));
  EXPECT_EQ(rig.counts().received_bytes, 7);
}

TEST(HttpClient, TellsMessagesOfAStreamAsEvents) {
  contract::Setup setup = asks(5);
  setup.exchange.stream = contract::Stream::down;
  setup.exchange.chunk_bytes = 2;
  setup.events = setup.stages = true;
  ClientRig rig(setup);
  sent(*rig.flow);
  for (const char* part : {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "2\r\nhe\r\n2\r\nl",
                           "l\r\n1\r\no\r\n0\r\n\r\n"}) {
    give(*rig.flow, part);
  }
  EXPECT_EQ(rig.counts().exchanges, 1);
  const contract::Result result = rig.load.result(9);
  const contract::Events& events = result.events.value();
  EXPECT_EQ(events.count, 3);
  Histogram one;
  one.record(2);  // from 1, when it was due, to 3
  EXPECT_EQ(result.stages.value().first_byte, one.encode());
  EXPECT_EQ(events.first, one.encode());
}

contract::Setup follows(const std::string& kind, Options more = {}) {
  more["verify"] = more.contains("verify") ? more.at("verify") : "status";
  more["events"] = kind;
  contract::Setup setup = asks(5, more);
  setup.events = true;
  return setup;
}

std::string chunk(std::string_view text) {
  std::array<char, 16> size{};
  std::snprintf(size.data(), size.size(), "%zx\r\n", text.size());
  return std::string(size.data()).append(text).append("\r\n");
}

const std::string kEventful =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const std::string kLastChunk = "0\r\n\r\n";

/// Times of events as a result has them.
std::string times_of(std::initializer_list<std::int64_t> all) {
  Histogram times;
  for (const std::int64_t ns : all) times.record(ns);
  return times.encode();
}

/// Events come with the read that ends them, wherever replies are cut and however they are framed.
TEST(HttpClient, FollowsRepliesInEvents) {
  ClientRig rig(follows("sse"));
  sent(*rig.flow);
  give(*rig.flow, kEventful.substr(0, 9), nullptr, 4);
  give(*rig.flow, kEventful.substr(9) + "11\r\ndata: a\n", nullptr, 6);  // chunks are not events
  give(*rig.flow, "\ndata: b\n\r\n", nullptr, 10);
  give(*rig.flow, chunk("\ndata: c\n\n") + kLastChunk, nullptr, 17);
  EXPECT_EQ(rig.counts().exchanges, 1);
  EXPECT_EQ(rig.counts().received_bytes, 27);
  EXPECT_EQ(rig.flow->fate(), Fate::open);
  sent(*rig.flow);
  give(*rig.flow, reply(9, "data: a\n\n"), nullptr, 20);
  EXPECT_EQ(rig.counts().exchanges, 2);
  const contract::Events events = rig.load.result(29).events.value();
  EXPECT_EQ(events.count, 4);
  EXPECT_EQ(events.first, times_of({10 - 1, 20 - 17}));
  EXPECT_EQ(events.gaps, times_of({17 - 10, 0}));
}

TEST(HttpClient, TheEndOfAConnectionEndsALastLine) {
  ClientRig rig(follows("lines"));
  sent(*rig.flow);
  give(*rig.flow, "HTTP/1.1 200 OK\r\n\r\n{}\n{}");
  rig.flow->broke(0);
  ASSERT_TRUE(rig.flow->ended(4));
  EXPECT_EQ(rig.counts().exchanges, 1);
  EXPECT_EQ(rig.load.result(9).events.value().count, 2);
}

/// A reply that is ended here is complete with what came, and takes its connection.
TEST(HttpClient, EndsRepliesAfterSoManyEventsOrSoLong) {
  const std::map<std::string, Options> kBounds = {{"events", {{"most_events", 3}}},
                                                  {"time", {{"events_for", 1'000'000'000}}}};
  for (const auto& [name, options] : kBounds) {
    ClientRig rig(follows("sse", options));
    for (int turn = 1; turn <= 2; turn++) {
      sent(*rig.flow);
      give(*rig.flow, kEventful.substr(0, 12));
      give(*rig.flow, kEventful.substr(12) + chunk("data: a\n\ndata: b\n\n"));
      ASSERT_EQ(rig.counts().exchanges, turn - 1) << name;
      if (name == "time") {
        rig.flow->send(rig.agenda.take().slot);
      } else {
        give(*rig.flow, chunk("data: c\n\ndata: d\n\n"));
      }
      EXPECT_EQ(rig.counts().exchanges, turn) << name;
      EXPECT_EQ(rig.flow->fate(), Fate::over) << name;
      rig.flow->reopened(now_ns());
    }
    EXPECT_EQ(rig.counts().error_sum(), 0);
    EXPECT_EQ(rig.load.result(now_ns()).events.value().count, name == "time" ? 4 : 6);
  }
}

/// What is wrong with a reply in events, in the reason's words.
TEST(HttpClient, CountsRepliesInEventsThatFail) {
  const std::string error = chunk("data: {\"error\":\"out of \\u001bit\"}\n\n");
  const struct {
    const char* name;
    std::string bytes;
    ErrorKind kind;
    const char* want;
    std::int64_t events;
  } kWrong[] = {
      {"a chat that is broken off", kEventful + chunk("data: {\"choices\":[{\"text\":\"a\"}]}\n\n") + error,
       ErrorKind::invalid, "the server breaks the reply off", 1},
      {"another status", "HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n" + error + kLastChunk,
       ErrorKind::invalid, "503", 0},
      {"no last chunk", kEventful + chunk("data: {\"choices\":[{\"text\":\"a\"}]}\n\n"), ErrorKind::peer,
       "within the reply", 1},
  };
  for (const auto& wrong : kWrong) {
    ClientRig rig(follows("chat"));
    sent(*rig.flow);
    give(*rig.flow, wrong.bytes);
    if (wrong.kind == ErrorKind::peer) rig.flow->ended(4);
    EXPECT_EQ(rig.errors(wrong.kind), 1) << wrong.name;
    EXPECT_EQ(rig.counts().error_sum(), 1) << wrong.name;
    const contract::Result result = rig.load.result(9);
    EXPECT_EQ(result.events.value().count, wrong.events) << wrong.name;
    const std::string& text = result.reasons.at(0).text;
    EXPECT_NE(text.find(wrong.want), std::string::npos) << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  }
}

/// Every reply has a first byte, which the read brought that began it.
TEST(HttpClient, TellsTheFirstByteOfAPlainReply) {
  contract::Setup setup = asks(5);
  setup.stages = true;
  ClientRig rig(setup);
  const std::string whole = reply(5, "hello");
  sent(*rig.flow);
  give(*rig.flow, whole.substr(0, 9), nullptr, 3);
  give(*rig.flow, whole.substr(9), nullptr, 7);
  sent(*rig.flow);
  give(*rig.flow, whole, nullptr, 20);
  const contract::Result result = rig.load.result(29);
  Histogram first_byte, service;
  first_byte.record(3 - 1);  // from 1, when it was due
  first_byte.record(20 - 7);
  service.record(7 - 2);
  service.record(20 - 2);
  EXPECT_EQ(result.stages.value().first_byte, first_byte.encode());
  EXPECT_EQ(result.service, service.encode());
  EXPECT_FALSE(result.events.has_value());
}

std::string refusal(const contract::Setup& setup) {
  try {
    work_of(setup);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

TEST(HttpOptions, AreChecked) {
  const struct {
    Options options;
    const char* want;
  } kWrong[] = {
      {{{"method", "GET it"}}, "is not a method"},
      {{{"headers", "X-Key"}}, "expected Name: value"},
      {{{"headers",
         "X-Key: a\x01"
         "b"}},
       "expected Name: value"},
      {{{"host", "a b"}}, "is not a host"},
      {{{"body", "too long"}}, "the factor request says 0"},
      {{{"path", "exchange"}}, "expected one that begins with one slash"},
      {{{"path", "/a b"}}, "write it as %20"},
      {{{"path", "/a\r\nX: y"}}, "write it as %0D"},
  };
  for (const auto& wrong : kWrong) {
    const std::string said = refusal(setup_of(Role::client, 0, 1, wrong.options));
    EXPECT_EQ(said.find("a\x01"), std::string::npos) << "a value may be a password: " << said;
    EXPECT_NE(said.find(wrong.want), std::string::npos) << wrong.want << ": " << said;
  }
  contract::Setup pipelined = asks(1);
  pipelined.load.in_flight = 2;
  EXPECT_NE(refusal(pipelined).find("one exchange at a time"), std::string::npos);
  EXPECT_NE(refusal(asks(kForEver)).find("expected 0 to"), std::string::npos);
}

std::string verdict(const std::string& bytes, std::int64_t down, const Options& options = kByLength,
                    bool ends = false) {
  const auto work = work_of(asks(down, options));
  const auto verification = work->verification(7);
  verification->begin(0);
  sent(*verification);
  try {
    give(*verification, bytes);
    if (ends) verification->ended(0);
  } catch (const Failure& failure) {
    return std::string(contract::name(failure.kind())) + " " + failure.what();
  }
  return verification->verified() ? "verified" : "waits";
}

TEST(HttpVerification, ComparesAndExplains) {
  const std::string content = random_content(300, 'd');
  std::string other = content;
  other[299] ^= 1;
  const Options exact;
  EXPECT_EQ(verdict(reply(300, content), 300, exact), "verified");
  EXPECT_NE(verdict(reply(300, other), 300, exact).find("opt.verify=length"), std::string::npos);
  EXPECT_EQ(verdict(reply(300, other), 300), "verified");
  EXPECT_EQ(verdict("HTTP/1.1 200 OK\r\n\r\n" + content, 300, exact), "waits");
  EXPECT_EQ(verdict("HTTP/1.1 200 OK\r\n\r\n" + content, 300, exact, true), "verified");
  const struct {
    std::string bytes;
    const char* want;
  } kWrong[] = {
      {reply(299, content.substr(1)), "invalid the reply has 299 bytes, expected 300"},
      {reply(300, content.substr(200)),
       "peer read the reply: the connection was closed after 100 of 300 bytes"},
      {"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 8\r\n\r\ntoo\x1b"
       "busy",
       "invalid the reply has status 503 Service Unavailable (\"too?busy\"), expected "
       "200 OK"},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404\r\nContent-Length: 0\r\n\r\n",
       "has status 404 Not Found, expected 200 OK"},
      {"SSH-2.0-OpenSSH_9.2\r\n", "malformed HTTP"},
      {"\x15\x03\x01\x00\x02\x02\x0a", "the server speaks TLS and this client plain text"},
      {"HTTP/1.1 200 OK\r\n\r\n" + std::string(300 << 10, 'x'), "more than the expected 300 bytes"},
      {"HTTP/1.1 200 OK\r\nX: " + std::string(70 << 10, 'x'), "more than 65536 bytes of headers"},
  };
  for (const auto& wrong : kWrong) {
    const std::string said = verdict(wrong.bytes, 300, kByLength, true);
    EXPECT_NE(said.find(wrong.want), std::string::npos) << said;
  }
}

/// A first reply in events is complete with its first one, unless something is expected of its body.
TEST(HttpVerification, EndsWithAFirstEvent) {
  const auto verdict_of = [](const contract::Setup& setup, const std::string& bytes) {
    const auto work = work_of(setup);
    const auto verification = work->verification(7);
    verification->begin(0);
    sent(*verification);
    try {
      give(*verification, bytes);
    } catch (const Failure& failure) {
      return std::string(failure.what());
    }
    EXPECT_EQ(verification->fate(), verification->verified() ? Fate::over : Fate::open);
    return std::string(verification->verified() ? "verified" : "waits");
  };
  EXPECT_EQ(verdict_of(follows("sse"), kEventful + chunk(": ping\n\n")), "waits");
  EXPECT_EQ(verdict_of(follows("sse"), kEventful + chunk("data: a\n\n")), "verified");
  EXPECT_NE(verdict_of(follows("chat"), kEventful + chunk("data: {\"error\":\"full\"}\n\n"))
                .find("breaks the reply off"),
            std::string::npos);
  Options matched = {{"verify", "regexp"}, {"expected", "a\n\ndata: b"}};
  EXPECT_EQ(verdict_of(follows("sse", matched), kEventful + chunk("data: a\n\n")), "waits");
  matched["most_events"] = 2;
  EXPECT_EQ(verdict_of(follows("sse", matched), kEventful + chunk("data: a\n\ndata: b\n\n")), "verified");
  EXPECT_NE(refusal(follows("sized", {{"most_events", 2}})).find("events is sized"), std::string::npos);
}

}  // namespace
}  // namespace netdyno::http1::test
