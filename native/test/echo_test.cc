#include "kit/echo.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <set>
#include <string>

namespace netdyno {
namespace {

contract::Setup setup_of(std::int64_t bytes) {
  contract::Setup setup;
  setup.seed = 3;
  setup.exchange = {bytes, bytes, ""};
  return setup;
}

TEST(EchoPayload, IsTheSeedsAndDoesNotCompress) {
  const EchoPayload a(setup_of(100'000));
  const EchoPayload b(setup_of(100'000));
  contract::Setup other = setup_of(100'000);
  other.seed = 4;
  const EchoPayload c(other);
  const std::string text(a.copies().data(), a.size());
  EXPECT_EQ(text, std::string(b.copies().data(), b.size()));
  EXPECT_NE(text, std::string(c.copies().data(), c.size()));
  std::string packed(200'000, '\0');
  uLongf size = packed.size();
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
           text.size());
  EXPECT_GE(size, text.size());
}

TEST(EchoPayload, CopiesAreBounded) {
  contract::Setup setup = setup_of(1000);
  setup.load.in_flight = 4;
  EXPECT_EQ(EchoPayload(setup).copies().size(), 4000U);
  setup.load.in_flight = 4000;
  EXPECT_EQ(EchoPayload(setup).copies().size(), 65'000U);
  EXPECT_EQ(EchoPayload(setup_of(1 << 20)).copies().size(), std::size_t{1} << 20);
}

TEST(EchoPayload, VerifiesEachConnectionByItself) {
  for (const std::int64_t bytes : {1, 7, 8, 9, 1000}) {
    const EchoPayload payload(setup_of(bytes));
    std::set<std::uint32_t> checksums;
    for (std::int64_t connection = 0; connection < 20; connection++) {
      const auto sent = payload.stamped(connection);
      std::string echoed(sent.stamp.data(), sent.stamp_size);
      echoed.append(payload.after_stamp(sent).data(), payload.after_stamp(sent).size());
      ASSERT_EQ(echoed.size(), static_cast<std::size_t>(bytes));
      EXPECT_NO_THROW(payload.verify(sent, EchoPayload::sum_of(echoed)));
      checksums.insert(sent.sum);
      echoed.back() = static_cast<char>(echoed.back() ^ 1);
      EXPECT_THROW(payload.verify(sent, EchoPayload::sum_of(echoed)), contract::Failure);
    }
    if (bytes >= 7) {
      EXPECT_EQ(checksums.size(), 20U) << bytes;
    }
  }
}

TEST(EchoPayload, RefusesWhatTheWireCannotCarry) {
  contract::Setup unequal = setup_of(10);
  unequal.exchange.down_bytes = 11;
  contract::Setup fresh = setup_of(10);
  fresh.load.fresh = true;
  contract::Setup coded = setup_of(10);
  coded.exchange.codec = "json";
  const std::vector<std::pair<contract::Setup, contract::ErrorKind>> bad = {
      {unequal, contract::ErrorKind::setup},
      {setup_of(0), contract::ErrorKind::setup},
      {setup_of(1LL << 40), contract::ErrorKind::setup},
      {fresh, contract::ErrorKind::unsupported},
      {coded, contract::ErrorKind::unsupported},
  };
  for (const auto& [setup, kind] : bad) {
    try {
      EchoPayload::check(setup);
      FAIL() << "accepted";
    } catch (const contract::Failure& failure) {
      EXPECT_EQ(failure.kind(), kind) << failure.what();
    }
  }
}

}  // namespace
}  // namespace netdyno
