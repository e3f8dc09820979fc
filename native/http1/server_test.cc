// The server's flow of wire http/1.1, held to what clients send.
#include <gtest/gtest.h>

#include <string>

#include "http1/options.h"
#include "http1/test_setup.h"
#include "kit/random.h"

namespace netdyno::http1::test {

using contract::Failure;
using contract::Role;

namespace {

using Fate = Flow::Fate;

/// A server's flow of one connection, and what it has said.
struct ServerRig {
  ServerRig(std::int64_t up, std::int64_t down, std::size_t buffer = 4096)
      : ServerRig(setup_of(Role::server, up, down), buffer) {}
  explicit ServerRig(const contract::Setup& setup, std::size_t buffer = 4096)
      : work(work_of(setup)), flow(work->server(buffer, traffic)) {
    flow->begin(0);
  }
  /// Gives it bytes in pieces.
  const std::string& told(std::string_view bytes, std::size_t piece = SIZE_MAX) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
      give(*flow, bytes.substr(0, piece), &said);
    }
    return said;
  }

  Traffic traffic;
  std::unique_ptr<const Work> work;
  std::unique_ptr<Flow> flow;
  std::string said;
};

std::string right(std::int64_t down, bool closes = false) {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: " +
         std::to_string(down) + "\r\n" + (closes ? "Connection: close\r\n" : "") + "\r\n" +
         random_content(static_cast<std::size_t>(down), 'd');
}

TEST(HttpServer, SendsAStreamMessageByMessageWhenEachIsDue) {
  constexpr std::int64_t kEvery = 3'600'000'000'000;  // longer than any test
  const std::string body = random_content(5, 'd');
  for (const bool closes : {false, true}) {
    contract::Setup setup = setup_of(Role::server, 0, 5);
    setup.exchange.stream = contract::Stream::down;
    setup.exchange.chunk_bytes = 2;
    setup.exchange.every_ns = kEvery;
    ServerRig rig(setup);
    rig.told(std::string("GET / HTTP/1.1\r\n") + (closes ? "Connection: close\r\n" : "") + "\r\n");
    std::string want =
        "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n" +
        std::string(closes ? "Connection: close\r\n" : "") + "\r\n2\r\n" + body.substr(0, 2) + "\r\n";
    EXPECT_EQ(rig.said, want);
    for (const std::string& next :
         {"2\r\n" + body.substr(2, 2) + "\r\n", "1\r\n" + body.substr(4) + "\r\n0\r\n\r\n"}) {
      EXPECT_EQ(rig.flow->fate(), Fate::open);
      EXPECT_TRUE(rig.flow->read_buffer().empty());
      ServerFlow* const flow = rig.traffic.rests.take(now_ns() + 2 * kEvery);
      ASSERT_EQ(flow, rig.flow.get());
      flow->rested(0);
      rig.said += sent(*rig.flow);
      EXPECT_EQ(rig.said, want += next);
    }
    EXPECT_EQ(rig.flow->fate(), closes ? Fate::over : Fate::open);
    EXPECT_EQ(rig.traffic.rests.next(), Rests::kNever);
    EXPECT_EQ(rig.traffic.exchanges.get(), 1);
    EXPECT_EQ(rig.traffic.sent.get(), 5);
  }
}

TEST(HttpServer, RefusesAStreamOfMoreMessagesThanItKeeps) {
  contract::Setup setup = setup_of(Role::server, 0, (1 << 20) + 1);
  setup.exchange.stream = contract::Stream::down;
  setup.exchange.chunk_bytes = 1;
  EXPECT_THROW(work_of(setup), Failure);
  setup.exchange.chunk_bytes = -1;
  EXPECT_THROW(work_of(setup), Failure);
  setup.exchange.chunk_bytes = 2;
  EXPECT_NO_THROW(work_of(setup));
}

TEST(HttpServer, AnswersARequestWhereverItIsCut) {
  const struct {
    std::int64_t up;
    std::string bytes;
    bool closes;
  } kRequests[] = {
      {0, "GET /any HTTP/1.1\r\nHost: x\r\n\r\n", false},
      {5, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", false},
      {5, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nT: u\r\n\r\n",
       false},
      {0, "GET / HTTP/1.1\r\nConnection: close\r\n\r\n", true},
      {0, "GET / HTTP/1.0\r\n\r\n", true},
      {0,
       "GET / HTTP/1.1\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AA\r\n\r\n",
       false},
  };
  for (const auto& request : kRequests) {
    for (std::size_t cut = 0; cut <= request.bytes.size(); cut++) {
      ServerRig rig(request.up, 20);
      rig.told(std::string_view(request.bytes).substr(0, cut));
      rig.told(std::string_view(request.bytes).substr(cut));
      ASSERT_EQ(rig.said, right(20, request.closes)) << request.bytes << " cut at " << cut;
      EXPECT_EQ(rig.traffic.exchanges.get(), 1);
      EXPECT_EQ(rig.traffic.received.get(), request.up);
      EXPECT_EQ(rig.traffic.sent.get(), 20);
      EXPECT_EQ(rig.flow->fate(), request.closes ? Fate::over : Fate::open);
    }
  }
}

TEST(HttpServer, AnswersRequestsThatComeTogetherInTheirOrder) {
  const std::string one = "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc";
  std::string many;
  std::string want;
  for (int i = 0; i < 200; i++) {
    many += one;
    want += right(10);
  }
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1000}, many.size()}) {
    ServerRig rig(3, 10, 512);
    EXPECT_EQ(rig.told(many, piece), want) << "in pieces of " << piece;
    EXPECT_EQ(rig.traffic.exchanges.get(), 200);
  }
}

TEST(HttpServer, LetsAClientGoOnThatWaitsForAWord) {
  ServerRig rig(5, 1);
  EXPECT_EQ(rig.told("POST / HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 5\r\n\r\n"),
            "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(rig.told("hello"), "HTTP/1.1 100 Continue\r\n\r\n" + right(1));
  ServerRig at_once(5, 1);
  EXPECT_EQ(at_once.told("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello"),
            right(1));
}

TEST(HttpServer, RefusesWhatIsWrong) {
  const std::string longer(400 << 10, 'x');
  const struct {
    std::string bytes;
    const char* status;
    const char* why;
  } kWrong[] = {
      {"POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nhell", "400", "has 4 bytes, expected 5"},
      {"GET / HTTP/1.1\r\n\r\n", "400", "has 0 bytes, expected 5"},
      {"POST / HTTP/1.1\r\nContent-Length: 400000\r\n\r\n" + longer, "400", "more than the expected 5 bytes"},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n100000\r\n" + longer, "400",
       "more than the expected 5 bytes"},
      {"GET / HTTP/1.1\r\nX: " + longer, "400", "more than 65536 bytes of headers"},
      {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "400", "no request of HTTP/1.1"},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400", "no request of HTTP/1.1"},
      {"POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400",
       "no request of HTTP/1.1"},
  };
  for (const auto& wrong : kWrong) {
    ServerRig rig(5, 1);
    rig.told(wrong.bytes);
    EXPECT_EQ(rig.said.rfind(std::string("HTTP/1.1 ") + wrong.status, 0), 0U) << rig.said;
    EXPECT_NE(rig.said.find(wrong.why), std::string::npos) << rig.said;
    EXPECT_EQ(rig.flow->fate(), Fate::over);
    EXPECT_TRUE(rig.flow->read_buffer().empty()) << "nothing more is taken";
    EXPECT_EQ(rig.traffic.invalid.get(), 1);
    EXPECT_EQ(rig.traffic.exchanges.get(), 0);
  }
}

TEST(HttpServer, OtherMethodsAreNotServedAndTheConnectionGoesOn) {
  ServerRig rig(0, 1);
  rig.told("PUT / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(rig.said.rfind("HTTP/1.1 405 Method Not Allowed\r\n", 0), 0U);
  EXPECT_NE(rig.said.find("Allow: GET, POST\r\n"), std::string::npos);
  rig.said.clear();
  rig.told("HEAD / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(rig.said.find("\r\n\r\n") + 4, rig.said.size()) << "no body follows a reply to HEAD";
  rig.said.clear();
  EXPECT_EQ(rig.told("GET / HTTP/1.1\r\n\r\n"), right(1));
}

TEST(HttpServer, AReplyTooLargeToCopyIsWrittenInPieces) {
  const std::int64_t down = (1 << 20) + 1;
  ServerRig rig(0, down);
  EXPECT_EQ(rig.told("GET / HTTP/1.1\r\n\r\n"), right(down));
}

TEST(HttpPath, IsReadAsTheGoClientsReadIt) {
  EXPECT_EQ(wrong_path("/b?x=1&y=%20"), "");
  const struct {
    std::string text;
    const char* want;
  } kWrong[] = {
      {"b", "\"b\" is not a path; expected one that begins with one slash"},
      {"//host/a", "begins with one slash"},
      {"http://host/a", "\"http://host/a\" is a URL; expected a path alone"},
      {"/a b", "write it as %20"},
      {"/\x1b[31m", "write it as %1B"},
      {"/100%", "hexadecimal"},
      {"/" + std::string(1 << 13, 'x'), "a path of 8193 bytes, expected at most 8192"},
  };
  for (const auto& wrong : kWrong)
    EXPECT_NE(wrong_path(wrong.text).find(wrong.want), std::string::npos) << wrong_path(wrong.text);
}

}  // namespace
}  // namespace netdyno::http1::test
