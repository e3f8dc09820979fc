// The engine of transport verbs. Layer: above channel.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kit/contract.h"
#include "kit/messages.h"
#include "verbs/channel.h"

namespace netdyno::verbs {

/// The engine of transport verbs: one device and one completion queue for a loop.
///
/// Its loop's thread.
class Engine final : public MessageEngine {
 public:
  /// Throws Failure when no device here can carry the trial, with the reason.
  explicit Engine(const MessageTerms& terms);

  std::unique_ptr<MessageChannel> open(int control, std::uint32_t number) override;
  bool progress(Arrivals& arrivals) override;
  void wait(std::int64_t until_ns, int wake) override;
  bool polls() const override { return !settings_.waits; }
  std::string path(const MessageChannel& channel) const override;

 private:
  void open_card(const std::string& address);
  void make_room(std::uint32_t completions);

  Settings settings_;
  Store store_;
  std::size_t max_message_;
  std::unique_ptr<Shared> shared_;  // none before the address is known
  std::uint32_t expected_ = 0;      // completions that may wait
  bool armed_ = false;              // the card will tell of the next completion
};

}  // namespace netdyno::verbs
