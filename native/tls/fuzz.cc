// Gives any bytes to encrypted ends, and meddles with what passes between two that do converse.
// None may crash, hoard, break a flow's promises or count wrong.
//
//   tls-fuzz -max_total_time=600 CORPUS
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tls/test_parties.h"

namespace netdyno::tls::fuzz {
namespace {

/// A connection of two ends, and what the input does to it.
class Conversation {
 public:
  using MakeServer = std::function<std::unique_ptr<Party>()>;

  Conversation(Party& client, MakeServer make) : client_(client), make_(std::move(make)), server_(make_()) {}

  /// As the input says, and then until both are silent.
  void runs(Choices& choices) {
    while (!choices.is_used_up()) does(choices);
    for (int round = 0; round < kMostRounds; round++) {
      const bool up = passes(0);
      const bool down = passes(1);
      if (!up && !down) return;
    }
    require(false);  // they are never done
  }
  /// Whether bytes passed as they were said so far.
  bool is_intact() const { return intact_; }

 private:
  static constexpr int kMostRounds = 1'000;
  static constexpr std::size_t kMostPassed = 2'000;

  Party& end(std::size_t way) { return way == 0 ? client_ : *server_; }

  void does(Choices& choices) {
    const std::uint8_t what = choices.next();
    const std::size_t way = what >> 4 & 1;
    const int kind = what & 0x0f;
    if (kind < 8) {
      passes(way);
    } else if (kind == 8) {
      passes(way, choices.below(kMostPassed) + 1);
    } else {
      intact_ = false;
      meddles(way, what, choices);
    }
  }

  void meddles(std::size_t way, std::uint8_t what, Choices& choices) {
    std::string& bytes = said_[way];
    switch (what & 0x0f) {
      case 9:
        return end(way).acts(choices);
      case 10:
        bytes += choices.record();
        return;
      case 11:
        bytes += said_[1 - way];
        return;
      case 12:
        end(1 - way).ends();
        return;
      case 13:
        if (!bytes.empty()) bytes[choices.below(bytes.size())] ^= static_cast<char>(1 << what / 0x20);
        return;
      case 14:
        if (!bytes.empty()) bytes.erase(choices.below(bytes.size()), choices.next() + std::size_t{1});
        return;
      default:
        bytes += bytes.substr(0, choices.next() + std::size_t{1});
    }
  }

  /// Passes on what one end says. Returns whether anything changed.
  bool passes(std::size_t way, std::size_t most = SIZE_MAX) {
    std::string& bytes = said_[way];
    const std::string more = end(way).says(most);
    bytes += more;
    const std::size_t taken = end(1 - way).takes(std::string_view(bytes).substr(0, most));
    bytes.erase(0, taken);
    const bool ends = bytes.empty() && end(way).is_gone() && !ended_[way];
    if (ends) {
      ended_[way] = true;
      end(1 - way).ends();
    }
    return begins_again() || ends || taken > 0 || !more.empty();
  }

  bool begins_again() {
    if (!client_.is_gone() || !client_.reopens()) return false;
    server_ = make_();
    said_ = {};
    ended_ = {};
    return true;
  }

  Party& client_;
  MakeServer make_;
  std::unique_ptr<Party> server_;
  std::array<std::string, 2> said_;  // to the server, to the client
  std::array<bool, 2> ended_ = {false, false};
  bool intact_ = true;
};

/// Gives an end any bytes, in pieces of any size.
void accosts(Party& party, Choices& choices) {
  const std::uint8_t how = choices.next();
  std::uint64_t seed = how;
  std::string bytes;
  while (!choices.is_used_up()) {
    bytes += how % 2 == 0 ? choices.record() : std::string(choices.bytes(SIZE_MAX));
  }
  while (!bytes.empty() && (!party.is_gone() || party.reopens())) {
    party.says(split_mix(seed) % 400 + 1);
    const std::size_t taken = party.takes(std::string_view(bytes).substr(0, split_mix(seed) % 64 + 1));
    if (taken == 0) break;
    bytes.erase(0, taken);
  }
  party.says(SIZE_MAX);
  if (how % 4 < 2) party.ends();
}

void verify(Client& client, Party& server) {
  while (!client.is_verified()) {
    server.takes(client.says(SIZE_MAX));
    client.takes(server.says(SIZE_MAX));
  }
}

/// A client of netdyno's. As long as nobody meddles, every exchange is made.
void converse(const Kind& kind, const Totals& totals, const Conversation::MakeServer& make,
              Choices& choices) {
  bool intact = false;
  {
    Client client(kind);
    Conversation conversation(client, make);
    try {
      conversation.runs(choices);
      intact = conversation.is_intact();
    } catch (const contract::Failure&) {  // of the client's, which says what was wrong
      require(!conversation.is_intact());
    }
  }
  if (intact) require(totals.exchanges == kAmount + 1 && totals.invalid == 0);
}

void play(std::uint8_t what, Kind kind, Choices& choices) {
  const std::size_t buffer = choices.next() + std::size_t{1};
  Totals totals;
  const auto server = [&] { return std::make_unique<Server>(kind, buffer, totals); };
  const auto outsider = [&](int version) {
    return [&, version] { return std::make_unique<Outsider>(version, kind.message(), totals); };
  };
  switch (what % 8) {
    case 0:
      return accosts(*server(), choices);
    case 1: {
      Client client(kind);
      return accosts(client, choices);
    }
    case 2: {
      Client client(kind);
      verify(client, *server());
      return accosts(client, choices);
    }
    case 3: {
      Outsider client;
      return Conversation(client, server).runs(choices);
    }
    case 4:
      return converse(kind, totals, outsider(TLS1_3_VERSION), choices);
    case 5:
      kind.foreign = true;
      return converse(kind, totals, outsider(TLS1_2_VERSION), choices);
    default:
      return converse(kind, totals, server, choices);
  }
}

}  // namespace
}  // namespace netdyno::tls::fuzz

/// The first byte says what is tried and with which ends, the second how large a server's buffer
/// is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace netdyno::tls::fuzz;
  if (size == 0) return 0;
  const std::uint8_t first = data[0];
  Choices choices({reinterpret_cast<const char*>(data) + 1, size - 1});
  try {
    play(first, {(first & 0x40) != 0, (first & 0x80) != 0}, choices);
  } catch (const netdyno::contract::Failure&) {  // of a client's, which says what was wrong
  }
  return 0;
}
