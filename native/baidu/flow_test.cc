// Both ends of baidu_std, against each other and against peers that do as the
// test says.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "baidu/client.h"
#include "baidu/reader.h"
#include "baidu/server.h"
#include "baidu/test_setup.h"
#include "baidu/work.h"
#include "kit/random.h"

namespace netdyno::baidu {
namespace {

using contract::ErrorKind;
using contract::Failure;
using contract::Json;
using contract::Role;

/// The frames in bytes, which they lie in.
std::vector<Frame> frames_in(const std::string& bytes) {
  std::vector<Frame> frames;
  for (std::string_view rest = bytes; !rest.empty();) {
    const Header header =
        parse_header(std::span<const char, kHeaderSize>(rest.data(), kHeaderSize), std::size_t{1} << 30);
    frames.push_back(parse_body(rest.substr(kHeaderSize, header.body), header));
    rest.remove_prefix(header.frame());
  }
  return frames;
}

ErrorKind kind_thrown(const std::function<void()>& act, const std::string& says) {
  try {
    act();
  } catch (const Failure& failure) {
    EXPECT_NE(std::string(failure.what()).find(says), std::string::npos) << failure.what();
    return failure.kind();
  }
  ADD_FAILURE() << "nothing was thrown that says " << says;
  return ErrorKind::bug;
}

/// A client's connection under load.
struct Calling {
  Calling(std::int64_t in_flight, std::int64_t up, std::int64_t down, const Json& options = Json::object())
      : setup(setup_of(Role::client, up, down, options)) {
    setup.load.in_flight = in_flight;
    load.emplace(setup, 1);
    work = work_of(setup);
    flow = work->client(0, load->slots(0), agenda);
    load->start(1);
    load->open(1);
    flow->begin(1);
  }
  std::int64_t errors(ErrorKind kind) { return load->counts().errors[static_cast<std::size_t>(kind)]; }

  contract::Setup setup;
  std::optional<Load> load;
  std::unique_ptr<const Work> work;
  Agenda agenda;
  std::unique_ptr<Flow> flow;
};

/// A server's connection.
struct Answering {
  Answering(std::int64_t up, std::int64_t down, const Json& options = Json::object())
      : work(work_of(setup_of(Role::server, up, down, options))), flow(work->server(0, traffic)) {
    flow->begin(0);
  }

  std::unique_ptr<const Work> work;
  Traffic traffic;
  std::unique_ptr<Flow> flow;
};

/// Moves at most n bytes that from has into to; returns how many.
std::size_t move(Flow& from, Flow& to, std::size_t n, std::int64_t now) {
  if (!from.unsent()) return 0;
  const auto out = from.outgoing(now);
  const auto buffer = to.read_buffer();
  EXPECT_FALSE(out.empty());
  const std::size_t moved = std::min({n, out.size(), buffer.size()});
  if (moved == 0) return 0;
  std::memcpy(buffer.data(), out.data(), moved);
  from.written(moved);
  to.received(moved, now);
  return moved;
}

TEST(Flows, AgreeHoweverTheirBytesAreCut) {
  std::uint64_t random = 3;
  for (const std::int64_t bytes : {0, 1, 100, 20'000, 200'000}) {
    for (const char* payload : {"block", "attachment"}) {
      for (const std::int64_t in_flight : {1, 3, 16}) {
        SCOPED_TRACE(testing::Message() << bytes << ' ' << payload << " × " << in_flight);
        const Json options = {{"payload", payload}, {"write_buffer", split_mix(random) % 4096}};
        Calling client(in_flight, bytes, 2 * bytes, options);
        Answering server(bytes, 2 * bytes, options);
        const auto most = static_cast<std::uint64_t>(1 + bytes);
        for (std::int64_t now = 2; client.load->counts().exchanges < 3 * in_flight; now++) {
          const std::size_t up = move(*client.flow, *server.flow, 1 + split_mix(random) % most, now);
          const std::size_t down = move(*server.flow, *client.flow, 1 + split_mix(random) % most, now);
          ASSERT_GT(up + down, 0U) << "stuck";
        }
        const contract::Counts counts = client.load->counts();
        EXPECT_EQ(counts.error_sum(), 0);
        EXPECT_EQ(counts.received_bytes, counts.exchanges * 2 * bytes);
        EXPECT_EQ(server.traffic.invalid.get(), 0);
        EXPECT_GE(server.traffic.exchanges.get(), counts.exchanges);
        EXPECT_LE(server.traffic.exchanges.get(), counts.exchanges + in_flight);
        EXPECT_EQ(server.traffic.sent.get(), server.traffic.exchanges.get() * 2 * bytes);
        EXPECT_GE(server.traffic.received.get(), server.traffic.exchanges.get() * bytes);
      }
    }
  }
}

TEST(BaiduClient, TakesRepliesInAnyOrder) {
  Calling client(4, 10, 7);
  const std::string sent = drain(*client.flow, 100);
  const auto requests = frames_in(sent);
  ASSERT_EQ(requests.size(), 4U);
  for (const std::size_t i : {2U, 0U, 3U, 1U}) {
    feed(*client.flow, framed(reply(requests[i].meta.correlation_id), block(7)), 150);
  }
  EXPECT_EQ(client.load->counts().exchanges, 4);
  EXPECT_TRUE(client.flow->unsent()) << "every slot goes on";
  Histogram expected;
  for (int i = 0; i < 4; i++) expected.record(50);
  client.load->end(200);
  EXPECT_EQ(client.load->result(200).service, expected.encode());
}

TEST(BaiduClient, CountsACallAsSentWhenItsFirstByteIs) {
  Calling client(1, 10, 7);
  EXPECT_FALSE(client.flow->outgoing(10).empty());  // and the kernel took nothing
  EXPECT_FALSE(client.flow->outgoing(30).empty());
  client.flow->written(1);
  EXPECT_FALSE(client.flow->outgoing(60).empty());
  const auto id = frames_in(drain(*Calling(1, 10, 7).flow))[0].meta.correlation_id;
  feed(*client.flow, framed(reply(id), block(7)), 100);
  Histogram expected;
  expected.record(70);
  client.load->end(200);
  EXPECT_EQ(client.load->result(200).service, expected.encode());
}

TEST(BaiduClient, ARefusedCallFailsByItsCode) {
  const std::vector<std::pair<std::int32_t, ErrorKind>> codes = {
      {kNoMethod, ErrorKind::invalid}, {kBadRequest, ErrorKind::invalid}, {-1, ErrorKind::invalid},
      {kTimedOut, ErrorKind::timeout}, {kLogOff, ErrorKind::peer},        {kLostSocket, ErrorKind::peer}};
  for (const auto& [code, kind] : codes) {
    Calling client(1, 10, 7);
    const auto id = frames_in(drain(*client.flow))[0].meta.correlation_id;
    feed(*client.flow, framed(reply(id, code), ""));
    EXPECT_EQ(client.errors(kind), 1) << code;
    EXPECT_EQ(client.load->counts().exchanges, 0);
    EXPECT_EQ(client.agenda.held(), kind == ErrorKind::peer ? 0U : 1U) << code;
    EXPECT_EQ(client.flow->unsent(), kind != ErrorKind::peer) << code;
  }
}

TEST(BaiduClient, AReplyWithTheWrongContentFails) {
  const Json attachment = {{"payload", "attachment"}};
  Meta compressed = reply(0);
  compressed.compression = 1;
  const struct {
    Json options;
    std::string message;
    std::string attachment;
    Meta meta;
  } cases[] = {
      {Json::object(), block(6), "", reply(0)},     {Json::object(), "", "1234567", reply(0)},
      {Json::object(), block(7), "", compressed},   {Json::object(), "\x0a\x7f", "", reply(0)},
      {attachment, block(7), "", reply(0)},         {attachment, "", "123456", reply(0)},
      {Json::object(), block(7), "more", reply(0)},
  };
  for (const auto& wrong : cases) {
    Calling client(1, 10, 7, wrong.options);
    Meta meta = wrong.meta;
    meta.correlation_id = frames_in(drain(*client.flow))[0].meta.correlation_id;
    feed(*client.flow, framed(meta, wrong.message, wrong.attachment));
    EXPECT_EQ(client.errors(ErrorKind::invalid), 1);
    EXPECT_EQ(client.load->counts().exchanges, 0);
  }
}

TEST(BaiduClient, RefusesWhatNobodyAskedFor) {
  const auto id_of = [](Calling& client) { return frames_in(drain(*client.flow))[0].meta.correlation_id; };
  for (const std::int64_t id : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-7}, std::int64_t{1} << 62}) {
    Calling client(3, 10, 7);
    drain(*client.flow);
    const auto receive = [&] { feed(*client.flow, framed(reply(id), block(7))); };
    EXPECT_EQ(kind_thrown(receive, "which nobody made"), ErrorKind::invalid) << id;
  }
  Calling twice(1, 10, 7);
  const std::string answer = framed(reply(id_of(twice)), block(7));
  const auto receive = [&] { feed(*twice.flow, answer + answer); };
  EXPECT_EQ(kind_thrown(receive, "which nobody made"), ErrorKind::invalid);

  Calling early(1, 10, 7);
  EXPECT_FALSE(early.flow->outgoing(1).empty());
  const auto guess = [&] { feed(*early.flow, answer); };
  EXPECT_EQ(kind_thrown(guess, "which nobody made"), ErrorKind::invalid) << "its request was not written";

  Calling noise(1, 10, 7);
  const auto garbage = [&] { feed(*noise.flow, "HTTP/1.1 400 Bad Request\r\n"); };
  EXPECT_EQ(kind_thrown(garbage, "malformed baidu_std frame"), ErrorKind::invalid);
}

TEST(BaiduClient, ALostConnectionFailsWhatIsInFlightOrWaits) {
  Calling client(5, 100'000, 7);  // one fills a batch
  EXPECT_FALSE(client.flow->outgoing(1).empty());
  client.flow->written(1);
  client.flow->abandon(ErrorKind::peer, 10);
  EXPECT_EQ(client.errors(ErrorKind::peer), 5);
  EXPECT_EQ(client.agenda.held(), 0U);
  EXPECT_FALSE(client.flow->unsent());
}

/// Whether a trial's call of a client comes through with this answer to id 1.
void answer_trial(const std::string& answer, std::int64_t down, const Json& options = Json::object()) {
  const auto work = work_of(setup_of(Role::client, 10, down, options));
  const auto verification = work->verification(5);
  verification->begin(0);
  drain(*verification);
  feed(*verification, answer);
  EXPECT_TRUE(verification->verified());
}

TEST(VerificationCall, NamesTheConnectionAndWhatWasWrong) {
  Meta refusal = reply(1, kBadRequest);
  refusal.error_text = "the request has 10 bytes, expected 11";
  const std::string good = framed(reply(1), block(7));
  const std::vector<std::tuple<std::string, ErrorKind, std::string>> cases = {
      {good, ErrorKind::invalid, "CRC-32C"},
      {framed(reply(1), block(6)), ErrorKind::invalid, "has 6 bytes, expected 7"},
      {framed(reply(2), block(7)), ErrorKind::invalid, "a reply to call 2"},
      {framed(refusal, ""), ErrorKind::invalid, "EREQUEST (1003): the request has 10 bytes, expected 11"},
      {framed(reply(1, kLogOff), ""), ErrorKind::peer, "ELOGOFF"},
      {framed(reply(1), "", "1234567"), ErrorKind::invalid, "option payload"},
      {"HTTP/1.1 400 Bad Request\r\n", ErrorKind::invalid, "malformed baidu_std frame"},
  };
  for (const auto& [answer, kind, says] : cases) {
    const auto verify = [&, &answer = answer] { answer_trial(answer, 7); };
    EXPECT_EQ(kind_thrown(verify, says), kind);
    EXPECT_EQ(kind_thrown(verify, "connection 5"), kind);
  }
  const Json length = {{"verify", "length"}};
  EXPECT_NO_THROW(answer_trial(good, 7, length)) << "whose content is another's";
  EXPECT_THROW(answer_trial(good + good, 7, length), Failure);
  EXPECT_THROW(answer_trial(good + "P", 7, length), Failure) << "more than it asked for";
}

TEST(VerificationCall, VerifiesWhatTheServerSends) {
  for (const char* payload : {"block", "attachment"}) {
    const Json options = {{"payload", payload}};
    Answering server(100, 150'000, options);
    const auto work = work_of(setup_of(Role::client, 100, 150'000, options));
    const auto verification = work->verification(0);
    verification->begin(0);
    while (!verification->verified()) {
      ASSERT_GT(move(*verification, *server.flow, 1 << 20, 0) + move(*server.flow, *verification, 1 << 20, 0),
                0U);
    }
    EXPECT_TRUE(verification->read_buffer().empty()) << "it takes no more than its exchange";
    EXPECT_EQ(server.traffic.exchanges.get(), 1);
    EXPECT_EQ(server.traffic.received.get(), 100);
    EXPECT_EQ(server.traffic.sent.get(), 150'000);
  }
}

TEST(BaiduServer, SaysWhatIsWrongWithARequest) {
  Meta compressed = request(1);
  compressed.compression = 3;
  const std::vector<std::tuple<std::string, std::int32_t, std::string>> cases = {
      {framed(request(1, "netdyno.v1.Exchanges"), block(100)), kNoService, "/netdyno.v1.Exchange/Unary"},
      {framed(request(1, ""), block(100)), kNoService, "/netdyno.v1.Exchange/Unary"},
      {framed(reply(1), block(100)), kNoService, "/netdyno.v1.Exchange/Unary"},
      {framed(request(1, "Exchange", "Simple"), block(100)), kNoMethod, "/netdyno.v1.Exchange/Unary"},
      {framed(request(1), block(99)), kBadRequest, "has 99 bytes, expected 100"},
      {framed(request(1), ""), kBadRequest, "has 0 bytes, expected 100"},
      {framed(request(1), "", std::string(100, 'x')), kBadRequest, "option payload"},
      {framed(request(1), "\x0a\xff"), kBadRequest, "netdyno.v1.Block"},
      {framed(compressed, block(100)), kBadRequest, "type 3"},
  };
  Answering server(100, 50);
  for (const auto& [bytes, code, says] : cases) {
    feed(*server.flow, bytes);
    const std::string answer = drain(*server.flow);
    const auto replies = frames_in(answer);
    ASSERT_EQ(replies.size(), 1U) << says;
    EXPECT_EQ(replies[0].meta.error_code, code) << says;
    EXPECT_EQ(replies[0].meta.correlation_id, 1);
    EXPECT_NE(replies[0].meta.error_text.find(says), std::string_view::npos) << replies[0].meta.error_text;
    EXPECT_TRUE(replies[0].message.empty());
  }
  EXPECT_EQ(server.traffic.invalid.get(), static_cast<std::int64_t>(cases.size()));
  for (const char* service : {"netdyno.v1.Exchange", "Exchange"}) {
    feed(*server.flow, framed(request(-3, service), block(100)));
    const std::string answer = drain(*server.flow);
    EXPECT_EQ(frames_in(answer)[0].meta, reply(-3)) << service;
  }
  EXPECT_EQ(server.traffic.exchanges.get(), 2);
  EXPECT_EQ(server.traffic.received.get(), 200) << "a refused request is not payload";
}

TEST(BaiduServer, AnswersWhatCameTogetherInOrderBeforeItReadsOn) {
  Answering server(10, 5'000);  // three replies fill a batch
  std::string requests;
  for (int id = 1; id <= 8; id++) requests += framed(request(id), block(id == 4 ? 9 : 10));
  feed(*server.flow, requests);
  EXPECT_TRUE(server.flow->read_buffer().empty());
  const std::string answer = drain(*server.flow);
  const auto replies = frames_in(answer);
  ASSERT_EQ(replies.size(), 8U);
  for (std::size_t i = 0; i < replies.size(); i++) {
    EXPECT_EQ(replies[i].meta.correlation_id, static_cast<std::int64_t>(i + 1));
    EXPECT_EQ(replies[i].meta.error_code, i == 3 ? kBadRequest : 0);
    EXPECT_EQ(replies[i].message.size(), i == 3 ? 0 : block(5'000).size());
  }
  EXPECT_FALSE(server.flow->read_buffer().empty());
  EXPECT_EQ(server.traffic.exchanges.get(), 7);
}

TEST(BaiduServer, CountsWhatIsNoFrameOnce) {
  for (const char* noise : {"GET / HTTP/1.1\r\n", "PRPC\xff\xff\xff\xff\xff\xff\xff\xff"}) {
    Answering server(10, 10, {{"max_body", 1024}});
    const auto receive = [&] { feed(*server.flow, noise); };
    EXPECT_EQ(kind_thrown(receive, "malformed baidu_std frame"), ErrorKind::invalid);
    server.flow->abandon(ErrorKind::peer, 0);
    EXPECT_EQ(server.traffic.invalid.get(), 1);
  }
  Answering torn(10, 10);
  feed(*torn.flow, framed(request(1), block(10)).substr(0, 20));
  torn.flow->abandon(ErrorKind::peer, 0);
  EXPECT_EQ(torn.traffic.invalid.get(), 1);
  Answering whole(10, 10);
  feed(*whole.flow, framed(request(1), block(10)));
  whole.flow->abandon(ErrorKind::peer, 0);
  EXPECT_EQ(whole.traffic.invalid.get(), 0);
}

TEST(Work, RefusesWhatThisTransportDoesNotCarry) {
  const auto refused = [](const contract::Setup& setup, const std::string& says) {
    return kind_thrown([&] { work_of(setup); }, says);
  };
  contract::Setup setup = setup_of(Role::client, 10, 10);
  setup.exchange.codec = "proto";
  EXPECT_EQ(refused(setup, "exchange.codec"), ErrorKind::unsupported);
  setup = setup_of(Role::server, 10, 10);
  setup.exchange.stream = contract::Stream::up;
  EXPECT_EQ(refused(setup, "exchange.stream"), ErrorKind::unsupported);
  setup = setup_of(Role::client, 10, 10, {{"connection", "pooled"}});
  EXPECT_NO_THROW(work_of(setup));
  setup.load.in_flight = 2;
  EXPECT_EQ(refused(setup, "pooled"), ErrorKind::unsupported);
  EXPECT_EQ(refused(setup_of(Role::client, 2000, 1025, {{"max_body", 1024}}), "replies"), ErrorKind::setup);
  EXPECT_EQ(refused(setup_of(Role::server, 2000, 10, {{"max_body", 1024}}), "requests"), ErrorKind::setup);
  EXPECT_EQ(refused(setup_of(Role::server, -1, 10), "exchange.up_bytes"), ErrorKind::setup);
  EXPECT_EQ(refused(setup_of(Role::client, 10, Content::kMaxBytes + 1), "exchange.down_bytes"),
            ErrorKind::setup);
}

}  // namespace
}  // namespace netdyno::baidu
