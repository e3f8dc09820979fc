#include "mpi/engine.h"

#include <dlfcn.h>
#include <unistd.h>

#include <utility>

#include "kit/clock.h"
#include "mpi/library.h"

namespace netdyno::mpi_worker {

using contract::ErrorKind;
using contract::Failure;
using contract::Role;

namespace {

/// The largest tag that every MPI library has.
constexpr std::uint32_t kMaxTag = 32'767;
/// The beginning of what the other end said, for an error.
std::string shortened(const std::string& text) {
  return text.substr(0, std::min<std::size_t>(text.find('\n'), 200));
}

/// Whether the library moves messages that lie in a GPU's memory: once MPI is
/// initialized. Both libraries have the call, in headers that not every build has.
bool knows_devices() {
  const auto query = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"));
  return query != nullptr && query() != 0;
}

}  // namespace

/// A connection: messages with its number as their tag.
class Channel final : public MessageChannel {
 public:
  Channel(Sends& sends, Receives& receives, std::vector<Channel*>& all, std::uint32_t number)
      : sends_(sends), receives_(receives), all_(all), number_(number) {
    all_[number_] = this;
  }
  ~Channel() override { all_[number_] = nullptr; }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  bool full() const override { return sends_.full(); }
  void send(std::span<const char> message) override { sends_.send(static_cast<int>(number_), message); }
  /// Connections are opened and compared one after the other, before there is load: when
  /// one only counts, all that are open do.
  void only_count() override { receives_.compare(false); }

 private:
  Sends& sends_;
  Receives& receives_;
  std::vector<Channel*>& all_;
  std::uint32_t number_;
};

Engine::Engine(const MessageTerms& terms)
    : role_(terms.setup.role),
      wishes_(wishes_of(terms.setup)),
      library_(library_name() + " " + library_version() + ", fabric " + wishes_.fabric),
      device_(wishes_.device ? Cuda::first_device() : nullptr),
      max_message_(terms.max_message) {
  if (role_ == Role::client) client_ = std::to_string(getpid()) + "@" + std::to_string(now_ns());
}

Engine::~Engine() {
  if (receives_) receives_->withdraw();
  rank_.reset();
}

std::unique_ptr<MessageChannel> Engine::open(int control, std::uint32_t number) {
  if (number > kMaxTag) {
    throw Failure(ErrorKind::unsupported, "open connection " + std::to_string(number) +
                                              ": MPI has tags up to " + std::to_string(kMaxTag) +
                                              ", one for each connection");
  }
  if (receives_) receives_->compare(true);  // before the other end can send
  introduce(control);
  if (!rank_) {
    rank_ = std::make_unique<Rank>(control, role_, wishes_.fabric);
    if (device_ && !knows_devices()) {
      throw Failure(ErrorKind::unsupported, "option memory is cuda: this " + library_name() + " " +
                                                library_version() +
                                                " is not CUDA-aware (MPIX_Query_cuda_support)");
    }
    sends_.emplace(rank_->other(), wishes_.blocking, device_);
    receives_ = std::make_unique<Receives>(rank_->other(), max_message_, wishes_.blocking, device_);
  }
  if (number >= channels_.size()) channels_.resize(number + 1);
  if (channels_[number] != nullptr) {
    throw Failure(ErrorKind::invalid, "open connection " + std::to_string(number) + ": it is open already");
  }
  return std::make_unique<Channel>(*sends_, *receives_, channels_, number);
}

/// Sees that the other end runs the same library, and that there is one client: there
/// are two ranks, and they are decided when the first connection is opened.
void Engine::introduce(int control) {
  const std::string theirs = exchange_addresses(control, library_ + "\n" + client_);
  if (shortened(theirs) != library_) {
    throw Failure(ErrorKind::setup,
                  "meet the other end: it has " + shortened(theirs) + ", expected " + library_ + " as here");
  }
  if (role_ == Role::client) return;
  const std::string client = theirs.substr(library_.size() + 1);
  if (client_.empty()) client_ = client;
  if (client != client_)
    throw Failure(ErrorKind::unsupported, "meet another client: MPI's two ranks are taken");
}

bool Engine::progress(Arrivals& arrivals) {
  if (!receives_ || broken_) return false;
  try {
    const bool received = receive(arrivals);
    return sends_->reap() || received;
  } catch (const Failure& failure) {
    broken_ = true;
    for (Channel* channel : channels_) {
      if (channel != nullptr) arrivals.lost(*channel, failure.what());
    }
    return true;
  }
}

bool Engine::receive(Arrivals& arrivals) {
  bool received = false;
  for (std::size_t i = 0; i < kOutstanding; i++) {
    const auto message = receives_->take();
    if (!message) break;
    received = true;
    const auto number = static_cast<std::size_t>(message->tag);
    if (number < channels_.size() && channels_[number] != nullptr) {
      arrivals.arrived(*channels_[number], message->bytes);
    }
    receives_->release();
  }
  return received;
}

std::string Engine::path(const MessageChannel&) const { return library_path(); }

}  // namespace netdyno::mpi_worker
