// What the ends tell each other comes out as it went in, and nothing else is taken.
#include <gtest/gtest.h>

#include "kit/contract.h"
#include "verbs/channel.h"

namespace netdyno::verbs {

using contract::ErrorKind;
using contract::Failure;

namespace {

Greeting sample() {
  Greeting greeting;
  greeting.operation = Operation::write;
  greeting.mtu_bytes = 4096;
  greeting.lid = 0x1234;
  gid_of("10.77.0.1", greeting.gid);
  greeting.queue_pair = 0x000017;
  greeting.first_packet = 0xfedcba;
  greeting.reads = 16;
  greeting.slots = 64;
  greeting.slot_bytes = 65536;
  greeting.ring = 0x7f00'1234'5678'9abc;
  greeting.ring_key = 0x8000'0001;
  return greeting;
}

/// The words with which the bytes are refused; empty when they are taken.
std::string refusal(const std::string& bytes) {
  try {
    decode(bytes);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.kind(), ErrorKind::invalid);
    return failure.what();
  }
  return "";
}

TEST(Greeting, ComesOutAsItWentIn) {
  const Greeting out = decode(encode(sample()));
  EXPECT_EQ(encode(out), encode(sample()));
  EXPECT_EQ(out.operation, Operation::write);
  EXPECT_EQ(out.ring, 0x7f00'1234'5678'9abcU);
  EXPECT_EQ(out.first_packet, 0xfedcbaU);
  EXPECT_EQ(text(out.gid), "10.77.0.1");
}

TEST(Greeting, OtherLengthsAndProtocolsAreRefused) {
  const std::string good = encode(sample());
  for (std::size_t size = 0; size < good.size(); size++) EXPECT_NE(refusal(good.substr(0, size)), "") << size;
  EXPECT_NE(refusal(good + "x").find("expected 63 bytes"), std::string::npos) << refusal(good + "x");
  std::string other = good;
  other[7] = 2;
  EXPECT_NE(refusal(other).find("another version"), std::string::npos);
}

TEST(Greeting, NumbersOutOfRangeAreRefused) {
  const auto refused = [](auto change) {
    Greeting greeting = sample();
    change(greeting);
    return refusal(encode(greeting));
  };
  EXPECT_NE(refused([](Greeting& g) { g.operation = static_cast<Operation>(9); }).find("operation is 9"),
            std::string::npos);
  EXPECT_NE(refused([](Greeting& g) { g.mtu_bytes = 1500; }).find("MTU is 1500"), std::string::npos);
  EXPECT_NE(refused([](Greeting& g) { g.queue_pair = 1U << 24; }).find("24 bits"), std::string::npos);
  EXPECT_NE(refused([](Greeting& g) { g.first_packet = ~0U; }).find("24 bits"), std::string::npos);
  EXPECT_NE(refused([](Greeting& g) { g.reads = 0; }).find("reads is 0"), std::string::npos);
  EXPECT_NE(refused([](Greeting& g) { g.slots = 0; }).find("slots is 0"), std::string::npos);
  EXPECT_NE(refused([](Greeting& g) { g.slots = 1U << 20; }).find("slots is 1048576"), std::string::npos);
  EXPECT_NE(refused([](Greeting& g) { g.slot_bytes = 1U << 30; }).find("size of its slots"),
            std::string::npos);
}

TEST(Gid, OfAddressesOfBothKinds) {
  Gid gid{};
  ASSERT_TRUE(gid_of("fe80::1", gid));
  EXPECT_EQ(text(gid), "fe80::1");
  ASSERT_TRUE(gid_of("::ffff:10.0.0.7", gid));
  EXPECT_EQ(text(gid), "10.0.0.7");
  EXPECT_FALSE(gid_of("rxe0", gid));
  EXPECT_FALSE(gid_of("", gid));
}

}  // namespace
}  // namespace netdyno::verbs
