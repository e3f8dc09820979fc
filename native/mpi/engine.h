// Transports mpi and mpich as the kit's engine: their options, and what a rank has under way to the
// other and from it.
//
// Layer: above rank. One thread at a time.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kit/contract.h"
#include "kit/cuda.h"
#include "kit/messages.h"
#include "kit/system.h"
#include "mpi/rank.h"

namespace netdyno::mpi_worker {

/// Messages that may be outstanding each way: the window of OSU's osu_bw.
constexpr std::size_t kOutstanding = 64;

/// Throws Failure{peer} for a code that is not MPI_SUCCESS, with the library's own words.
void check_mpi(int code, const char* call);

/// Messages that go out. Their bytes belong to the caller until they have gone. The order in which they
/// have gone is nobody's concern.
class Sends {
 public:
  Sends(int other, const Store& store) : other_(other), on_device_(store.on_device()), copies_(store) {}

  std::size_t room() const { return kOutstanding - count_; }
  /// So many times the same, and no more than there is room for.
  void send(int tag, std::span<const char> bytes, std::size_t times);
  /// Forgets the messages that have gone. True when there were any.
  bool reap();

 private:
  const char* lying(std::span<const char> bytes);

  int other_;
  bool on_device_;
  BlockCopies copies_;                                // of messages that lie on the device
  std::array<MPI_Request, kOutstanding> requests_{};  // the first count_
  std::array<int, kOutstanding> gone_{};
  std::size_t count_ = 0;
};

/// Messages that come in, in their order, by receives that were posted before.
///
/// All receives share one buffer, as those of OSU's programs do: whoever only counts
/// what arrives needs no more, and a buffer for each would measure the caches. While
/// somebody compares what arrives, only one receive is posted.
class Receives : Pinned {
 public:
  Receives(int other, std::size_t max_message, const Store& store);

  struct Message {
    int tag;
    std::span<const char> bytes;  // valid until release; only their number, unless they are compared
  };
  /// The next message if it has arrived. Call release when it was looked at.
  std::optional<Message> take();
  void release();

  bool comparing() const { return comparing_; }
  /// Messages that arrived one behind the other, on one connection and of one length.
  struct Run {
    int tag = 0;
    std::span<const char> bytes{};  // of each, only their number
    std::size_t times = 0;
  };
  /// Takes what has arrived, up to half of what may be under way, calls tell(run) for each run, and
  /// then sure(), which returns how many messages are sure to follow: those are taken together, once
  /// the last of them is there. Their receives are posted again by the next call, so that whoever is
  /// told answers first. Only while nobody compares. True when anything arrived.
  template <class Tell, class Sure>
  bool count(Tell tell, Sure sure);
  /// Nothing is sure to follow any more: a connection has ended.
  void doubt() { sure_ = 0; }

  /// Whether a message must stay whole until it is released.
  void compare(bool yes);

  /// Takes back what is posted. What has begun to arrive still does, so that the buffer
  /// has to live until MPI is finalized.
  void withdraw();

 private:
  std::size_t wanted() const { return comparing_ ? 1 : kOutstanding; }
  bool arrived(MPI_Status& status);
  std::size_t one_by_one();
  std::size_t together(std::size_t count);
  int completed(std::size_t row, MPI_Status* statuses, int& done);
  std::size_t size_of(const MPI_Status& status) const;
  void post();

  int other_;
  bool comparing_ = true;
  Block buffer_;
  std::array<MPI_Request, kOutstanding> requests_{};  // a ring
  std::array<MPI_Status, kOutstanding> statuses_{};   // of what was taken last
  std::size_t oldest_ = 0;
  std::size_t count_ = 0;
  std::size_t sure_ = 0;                 // messages that are sure to follow
  std::size_t most_ = kOutstanding / 2;  // that are taken one by one
};

template <class Tell, class Sure>
bool Receives::count(Tell tell, Sure sure) {
  post();
  const std::size_t taken = sure_ > 1 ? together(std::min(sure_, count_)) : one_by_one();
  if (taken == 0) return false;
  const MPI_Status* first = nullptr;  // of the run
  Run run;
  for (const MPI_Status& status : std::span(statuses_).first(taken)) {
    // Equal statuses are of one tag and length. To ask for each length takes 5 % of the time.
    if (first == nullptr || std::memcmp(first, &status, sizeof status) != 0) {
      if (first != nullptr) tell(run);
      first = &status;
      run = {status.MPI_TAG, {buffer_.data(), size_of(status)}, 0};
    }
    run.times++;
  }
  tell(run);
  sure_ = sure();
  if (sure_ > 1) most_ = 1;  // the first of an exchange tells that the others follow
  return true;
}

/// The options with their defaults.
std::vector<contract::Option> options();

/// What one trial wants of the library.
struct Wishes {
  std::string fabric;   // a level of option fabric
  bool device = false;  // the library is given a GPU's memory
};

/// Reads a setup's complete options. Throws Failure{unsupported} for what this library or
/// this host cannot carry out, with the reason.
Wishes wishes_of(const contract::Setup& setup);

/// The way that messages have to take then, as contract::Path::over; empty for any.
std::string demanded_path(const Wishes& wishes);

class Channel;

/// A connection that may be open.
struct Place {
  Channel* channel = nullptr;
  std::size_t missing = 0;  // bytes of its exchange that are sure to follow
};

/// MPI as the kit's engine: two ranks, of which each connection uses one tag.
///
/// One thread at a time.
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
  std::size_t tell(Arrivals& arrivals, const Receives::Run& run);
  std::size_t least_missing() const;

  contract::Role role_;
  Wishes wishes_;
  std::string library_;  // what both ends must agree on
  Store store_;
  std::size_t max_message_;
  std::string client_;  // which client process it is, once the first connection told
  std::unique_ptr<Rank> rank_;
  std::optional<Sends> sends_;
  std::unique_ptr<Receives> receives_;
  bool broken_ = false;        // the library said so
  std::vector<Place> places_;  // by number of the connection
};

}  // namespace netdyno::mpi_worker
