// MPI as the kit's engine: two ranks, of which each connection uses one tag.
//
// Layer: above rank, transfers. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kit/messages.h"
#include "mpi/memory.h"
#include "mpi/options.h"
#include "mpi/rank.h"
#include "mpi/transfers.h"

namespace netdyno::mpi_worker {

class Channel;

class Engine final : public MessageEngine {
 public:
  /// Throws Failure{unsupported} for wishes that cannot be carried out.
  explicit Engine(const MessageTerms& terms);
  ~Engine() override;

  std::unique_ptr<MessageChannel> open(int control, std::uint32_t number) override;
  bool progress(Arrivals& arrivals) override;
  void wait(std::int64_t, int) override {}  // it polls
  bool polls() const override { return true; }
  std::string path(const MessageChannel& channel) const override;

 private:
  void introduce(int control);
  bool receive(Arrivals& arrivals);

  contract::Role role_;
  Wishes wishes_;
  std::string library_;  // what both ends must agree on
  Device device_;
  std::size_t max_message_;
  std::string client_;  // which client process it is, once the first connection told
  std::unique_ptr<Rank> rank_;
  std::optional<Sends> sends_;
  std::unique_ptr<Receives> receives_;
  bool broken_ = false;             // the library said so
  std::vector<Channel*> channels_;  // by number; null where there is none
};

}  // namespace netdyno::mpi_worker
