// What of transport grpcpp needs no connection: contents, payloads and chunks.
// test/native holds its ends to go-grpc's.
#include <google/protobuf/util/message_differencer.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "grpcpp/contents.h"
#include "grpcpp/payload.h"
#include "kit/random.h"
#include "test/crc.h"
#include "test/vectors.h"

namespace netdyno::grpc_worker {

using contract::ErrorKind;
using contract::Failure;

namespace {

contract::Exchange bytes_of(std::int64_t up, std::int64_t down) {
  contract::Exchange exchange;
  exchange.up_bytes = up;
  exchange.down_bytes = down;
  return exchange;
}

contract::Exchange reply_of(const std::string& down) {
  contract::Exchange exchange;
  exchange.codec = "proto";
  exchange.message =
      contract::Structure{"complex", "", {"netdyno.v1.Text", R"({"text":"up"})"}, {"netdyno.v1.Reply", down}};
  return exchange;
}

Direction at_client(const Contents& contents) { return {contents.up(), contents.down(), "reply"}; }
Direction at_server(const Contents& contents) { return {contents.down(), contents.up(), "request"}; }

grpc::ByteBuffer buffer_of(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

/// The same bytes in two pieces, as the network hands them over.
grpc::ByteBuffer torn(const std::string& bytes) {
  const std::array<grpc::Slice, 2> slices = {grpc::Slice(bytes.substr(0, bytes.size() / 2)),
                                             grpc::Slice(bytes.substr(bytes.size() / 2))};
  return grpc::ByteBuffer(slices.data(), slices.size());
}

template <class F>
grpc::StatusCode code_of(F&& take) {
  try {
    take();
  } catch (const Refused& refused) {
    return refused.code();
  }
  return grpc::StatusCode::OK;
}

template <class F>
std::optional<ErrorKind> kind_of_failure(F&& make) {
  try {
    make();
  } catch (const Failure& failure) {
    return failure.kind();
  }
  return std::nullopt;
}

// Source: Go, internal/chacha8rand, TestOutput; output 124 is the first of the
// second key.
TEST(Random, IsGosChaCha8) {
  std::array<std::uint8_t, 32> seed;
  std::memcpy(seed.data(), "ABCDEFGHIJKLMNOPQRSTUVWXYZ123456", seed.size());
  const std::string bytes = chacha8(seed, 125 * 8);
  const auto word = [&bytes](std::size_t i) {
    std::uint64_t w = 0;
    for (std::size_t b = 0; b < 8; b++)
      w |= std::uint64_t{static_cast<std::uint8_t>(bytes[8 * i + b])} << 8 * b;
    return w;
  };
  EXPECT_EQ(word(0), 0xb773b6063d4616a5U);
  EXPECT_EQ(word(1), 0x1160af22a66abc3cU);
  EXPECT_EQ(word(23), 0xeeaefc3150e500f3U);
  EXPECT_EQ(word(120), 0x1cf08ce1b1176f00U);
  EXPECT_EQ(word(124), 0x5f41df72e05e0487U);
}

TEST(Random, IsTheContentOfCodecBytes) {
  EXPECT_EQ(test::crc32c(random_content(10'000, 'u')), 0x607113e9U);
  EXPECT_EQ(test::crc32c(random_content(10'000, 'd')), 0x5ca0a48fU);
  EXPECT_EQ(random_content(13, 'u'), random_content(10'000, 'u').substr(0, 13));
  EXPECT_EQ(random_content(0, 'u'), "");
}

TEST(Contents, RefusesWhatCannotBe) {
  EXPECT_EQ(kind_of_failure([] { Contents(bytes_of(-1, 1)); }), ErrorKind::setup);
  EXPECT_EQ(kind_of_failure([] { Contents(bytes_of(1, Contents::kMaxBytes + 1)); }), ErrorKind::setup);
  EXPECT_EQ(kind_of_failure([] { Contents(reply_of(R"({"replyValue1":1})")); }), ErrorKind::setup);
  EXPECT_EQ(kind_of_failure([] { Contents(reply_of(R"({"replyValue21":""})")); }), ErrorKind::setup);
  contract::Exchange absent = bytes_of(1, 1);
  absent.codec = "proto";
  EXPECT_EQ(kind_of_failure([&] { Contents contents(absent); }), ErrorKind::setup);
  contract::Exchange own = reply_of("{}");
  own.message->down.type = "shop.v1.Order";
  EXPECT_EQ(kind_of_failure([&] { Contents contents(own); }), ErrorKind::unsupported);
  own = reply_of("{}");
  own.message->name = "shop.v1.Order";
  EXPECT_EQ(kind_of_failure([&] { Contents contents(own); }), ErrorKind::unsupported);
}

TEST(Contents, KnowsEncodedSizes) {
  const Contents contents(reply_of(R"({"replyValue1":"a","replyValue20":"bc"})"));
  EXPECT_EQ(contents.up().size, 4);
  EXPECT_EQ(contents.down().size, 8) << "the twentieth field has a tag of two bytes";
}

/// Every content that Go encodes, byte for byte.
TEST(Contents, EncodeAsInTheVectors) {
  std::size_t replies = 0;
  for (const nlohmann::json& vector : test::vectors("messages.json")) {
    contract::Exchange exchange = reply_of(vector.at("json").dump());
    exchange.message->down.type = vector.at("type");
    replies += exchange.message->down.type == "netdyno.v1.Reply" ? 1 : 0;
    const Contents contents(exchange);
    std::string hex;
    for (const char c : contents.down().message->SerializeAsString()) {
      const auto byte = static_cast<unsigned char>(c);
      hex += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
    }
    EXPECT_EQ(hex, vector.at("proto").get<std::string>()) << vector.at("json");
    EXPECT_EQ(static_cast<std::size_t>(contents.down().size) * 2, hex.size());
  }
  EXPECT_GE(replies, 2);
}

class Forms : public testing::TestWithParam<bool> {};

TEST_P(Forms, CarryBytes) {
  for (const std::int64_t size : {0, 1, 100, 100'000}) {
    const Contents contents(bytes_of(size, 7));
    const auto client = std::make_unique<Payload>(at_client(contents), GetParam());
    const auto server = std::make_unique<Payload>(at_server(contents), GetParam());
    grpc::ByteBuffer request = client->outgoing();
    EXPECT_EQ(server->take(request, true), size);
    grpc::ByteBuffer reply = server->outgoing();
    EXPECT_EQ(client->take(reply), 7);
  }
}

TEST_P(Forms, RefuseAnotherSizeAndAnotherContent) {
  const Contents contents(bytes_of(100, 7));
  const Contents longer(bytes_of(101, 7));
  const auto server = std::make_unique<Payload>(at_server(contents), GetParam());
  grpc::ByteBuffer request = std::make_unique<Payload>(at_client(longer), GetParam())->outgoing();
  EXPECT_EQ(code_of([&] { server->take(request); }), grpc::StatusCode::INVALID_ARGUMENT);
  std::string other = contents.up().bytes;
  other[50] = static_cast<char>(other[50] ^ 1);
  grpc::ByteBuffer flipped = buffer_of(GetParam() ? other : "\x0a\x64" + other);
  EXPECT_EQ(code_of([&] { server->take(flipped, true); }), grpc::StatusCode::INVALID_ARGUMENT);
}

INSTANTIATE_TEST_SUITE_P(ProtoAndRaw, Forms, testing::Bool());

TEST(Payload, JoinWhatComesInPieces) {
  const Contents contents(bytes_of(1'000, 7));
  grpc::ByteBuffer request = torn(contents.up().bytes);
  EXPECT_EQ(std::make_unique<Payload>(at_server(contents), true)->take(request, true), 1'000);
}

TEST(Payload, CarryMessagesAndRefuseOthers) {
  const Contents contents(reply_of(R"({"replyValue1":"a","replyValue20":"bc"})"));
  const auto client = std::make_unique<Payload>(at_client(contents), false);
  grpc::ByteBuffer reply = std::make_unique<Payload>(at_server(contents), false)->outgoing();
  EXPECT_EQ(client->take(reply, true), 8);
  grpc::ByteBuffer other = buffer_of(std::string("\x0a\x01z"));
  EXPECT_EQ(code_of([&] { client->take(other, true); }), grpc::StatusCode::INVALID_ARGUMENT);
  grpc::ByteBuffer decodes = buffer_of(std::string("\x0a\x01z"));
  EXPECT_EQ(client->take(decodes), 3) << "under load a message only has to decode";
  for (const std::string& bad :
       {std::string("\x0a\xff\xff\xff\xff\x0f"), std::string("\x0a\x05z"), std::string("\xff")}) {
    grpc::ByteBuffer buffer = buffer_of(bad);
    EXPECT_EQ(code_of([&] { client->take(buffer); }), grpc::StatusCode::INTERNAL);
  }
}

struct Way {
  bool raw;
  std::int64_t size;
  std::int64_t chunk;
  std::size_t messages;
};

TEST(Chunks, CutAndJoin) {
  for (const Way& way :
       {Way{false, 0, 10, 1}, Way{false, 1, 10, 1}, Way{true, 9, 10, 1}, Way{true, 10, 10, 1},
        Way{false, 10, 10, 1}, Way{false, 11, 10, 2}, Way{true, 100'001, 1000, 101}}) {
    const Contents contents(bytes_of(way.size, 1));
    const Chunks sending(at_client(contents), {way.raw, true, true, way.chunk});
    const Chunks taking(at_server(contents), {way.raw, false, true, way.chunk});
    Chunker chunker(sending);
    Joiner joiner(taking);
    for (int again = 0; again < 2; again++) {
      chunker.restart();
      joiner.restart();
      std::size_t messages = 0;
      for (; chunker.more(); messages++) {
        grpc::ByteBuffer message = chunker.next();
        joiner.add(message);
      }
      EXPECT_EQ(messages, way.messages) << way.size;
      EXPECT_EQ(joiner.take(true), way.size);
      EXPECT_EQ(joiner.take(), way.size);
    }
  }
}

TEST(Chunks, CutEncodedMessages) {
  const Contents contents(reply_of(R"({"replyValue1":"a long text","replyValue2":"and another one"})"));
  const Chunks sending(at_server(contents), {false, true, true, 5});
  const Chunks taking(at_client(contents), {false, false, true, 5});
  Chunker chunker(sending);
  Joiner joiner(taking);
  chunker.restart();
  while (chunker.more()) {
    grpc::ByteBuffer message = chunker.next();
    joiner.add(message);
  }
  EXPECT_EQ(joiner.take(true), contents.down().size);
}

TEST(Chunks, RefuseMoreAndLessThanHadToCome) {
  const Contents contents(bytes_of(10, 1));
  for (const bool raw : {false, true}) {
    const Chunks taking(at_server(contents), {raw, false, true, 4});
    const auto part = [raw](std::size_t n) {
      const std::string content(n, 'x');
      return buffer_of(raw ? content : "\x0a" + std::string(1, static_cast<char>(n)) + content);
    };
    Joiner joiner(taking);
    grpc::ByteBuffer seven = part(7);
    joiner.add(seven);
    EXPECT_EQ(code_of([&] { joiner.take(); }), grpc::StatusCode::INVALID_ARGUMENT) << "3 are missing";
    grpc::ByteBuffer four = part(4);
    EXPECT_EQ(code_of([&] { joiner.add(four); }), grpc::StatusCode::INVALID_ARGUMENT);
    grpc::ByteBuffer three = part(3);
    joiner.add(three);
    EXPECT_EQ(joiner.take(), 10);
    EXPECT_EQ(code_of([&] { joiner.take(true); }), grpc::StatusCode::INVALID_ARGUMENT) << "it is all x";
  }
  const Chunks taking(at_server(contents), {false, false, true, 4});
  Joiner joiner(taking);
  grpc::ByteBuffer bad = buffer_of("\xff");
  EXPECT_EQ(code_of([&] { joiner.add(bad); }), grpc::StatusCode::INTERNAL);
}

}  // namespace
}  // namespace netdyno::grpc_worker
