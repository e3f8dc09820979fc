#include "mpi/engine.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "kit/options.h"
#include "kit/system.h"
#include "mpi/environment.h"

namespace netdyno::mpi_worker {

using contract::ErrorKind;
using contract::Failure;
using contract::Role;

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int size = 0;
  MPI_Error_string(code, text.data(), &size);
  throw Failure(ErrorKind::peer,
                std::string(call) + ": " + std::string(text.data(), static_cast<std::size_t>(size)));
}

/// Where a message is sent from.
const char* Sends::lying(std::span<const char> bytes) {
  return on_device_ ? copies_.of(bytes).data() : bytes.data();
}

void Sends::send(int tag, std::span<const char> bytes, std::size_t times) {
  const auto size = static_cast<int>(bytes.size());
  const char* const from = lying(bytes);
  for (; times > 0; times--) {
    check_mpi(MPI_Isend(from, size, MPI_BYTE, other_, tag, MPI_COMM_WORLD, &requests_[count_]), "MPI_Isend");
    count_++;
  }
}

bool Sends::reap() {
  if (count_ == 0) return false;
  int gone = 0;
  check_mpi(
      MPI_Testsome(static_cast<int>(count_), requests_.data(), &gone, gone_.data(), MPI_STATUSES_IGNORE),
      "MPI_Testsome of sends");
  if (gone <= 0) return false;
  // What has gone is null now.
  const auto first = requests_.begin();
  const auto last = first + static_cast<std::ptrdiff_t>(count_);
  count_ -= static_cast<std::size_t>(gone);
  if (count_ > 0) (void)std::remove(first, last, MPI_REQUEST_NULL);
  return true;
}

Receives::Receives(int other, std::size_t max_message, const Store& store)
    : other_(other), buffer_(store, max_message) {
  post();
}

void Receives::post() {
  while (count_ < wanted()) {
    MPI_Request& request = requests_[(oldest_ + count_) % kOutstanding];
    check_mpi(MPI_Irecv(buffer_.data(), static_cast<int>(buffer_.size()), MPI_BYTE, other_, MPI_ANY_TAG,
                        MPI_COMM_WORLD, &request),
              "MPI_Irecv");
    count_++;
  }
}

void Receives::withdraw() {
  while (count_ > 0) {
    MPI_Request& request = requests_[(oldest_ + count_ - 1) % kOutstanding];
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    count_--;
  }
}

/// Whether the next message has arrived; then it is in the buffer.
bool Receives::arrived(MPI_Status& status) {
  int done = 0;
  check_mpi(MPI_Test(&requests_[oldest_], &done, &status), "MPI_Test of a receive");
  if (done == 0) return false;
  oldest_ = (oldest_ + 1) % kOutstanding;
  count_--;
  return true;
}

/// Takes what has arrived, each by a question of its own. Returns how many.
std::size_t Receives::one_by_one() {
  std::size_t taken = 0;
  while (taken < most_ && arrived(statuses_[taken])) taken++;
  return taken;
}

/// Messages that every library copies when it matches them, in bytes.
constexpr std::size_t kSmall = 1024;

/// Completes a row of the oldest receives if they are done. Small messages lie in the buffer before a
/// later one of the same end is there, so that MPI_Waitall waits for none of them; in MPICH it takes
/// 17 ns less for each than MPI_Testall.
int Receives::completed(std::size_t row, MPI_Status* statuses, int& done) {
  const auto count = static_cast<int>(row);
  if (buffer_.size() > kSmall) return MPI_Testall(count, &requests_[oldest_], &done, statuses);
  done = 1;
  return MPI_Waitall(count, &requests_[oldest_], statuses);
}

/// Takes the next so many messages if all have arrived, else none. The last of them is asked for
/// first: messages of one end are matched in their order, so the others are there, or nearly.
std::size_t Receives::together(std::size_t count) {
  int done = 0;
  check_mpi(MPI_Request_get_status(requests_[(oldest_ + count - 1) % kOutstanding], &done, MPI_STATUS_IGNORE),
            "MPI_Request_get_status of a receive");
  if (done == 0) return 0;
  std::size_t taken = 0;
  while (taken < count) {  // twice where they lie around the end of the ring
    const std::size_t row = std::min(count - taken, kOutstanding - oldest_);
    check_mpi(completed(row, &statuses_[taken], done), "complete receives");
    if (done == 0) break;
    taken += row;
    oldest_ = (oldest_ + row) % kOutstanding;
    count_ -= row;
  }
  return taken;
}

std::size_t Receives::size_of(const MPI_Status& status) const {
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  return static_cast<std::size_t>(std::max(size, 0));
}

std::optional<Receives::Message> Receives::take() {
  MPI_Status status;
  if (!arrived(status)) return std::nullopt;
  return Message{status.MPI_TAG, buffer_.read(0, size_of(status))};
}

void Receives::release() { post(); }

void Receives::compare(bool yes) {
  if (comparing_ == yes) return;
  comparing_ = yes;
  if (yes) withdraw();  // nothing is under way: a connection is opened before there is load
  post();
}

std::vector<contract::Option> options() {
  return {
      choice_option(
          "fabric", {"auto", "tcp", "shm", "rdma", "ucx", "ofi"},
          "what the library is asked to move messages by: auto, its own choice; tcp, sockets on the "
          "interface of the trial's address; shm, memory that both ends share; rdma, an RDMA device; ucx "
          "and ofi, those libraries. With tcp, shm and rdma a trial whose messages take another way fails"),
      memory_option(),
  };
}

Wishes wishes_of(const contract::Setup& setup) {
  const Wishes wishes{setup.options.at("fabric").get<std::string>(), setup.options.at("memory") == "cuda"};
  if (const std::string lack = library_lacks(wishes.fabric); !lack.empty()) {
    throw Failure(ErrorKind::unsupported, "option fabric is " + wishes.fabric + ": " + lack);
  }
  if (wishes.fabric == "rdma" && !has_rdma()) {
    throw Failure(ErrorKind::unsupported, "option fabric is rdma: this host has no RDMA device");
  }
  return wishes;
}

std::string demanded_path(const Wishes& wishes) {
  const bool told = wishes.fabric == "tcp" || wishes.fabric == "shm" || wishes.fabric == "rdma";
  return told ? wishes.fabric : "";
}

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
  Channel(Sends& sends, Receives& receives, std::vector<Place>& places, std::uint32_t number)
      : sends_(sends), receives_(receives), places_(places), number_(number) {
    places_[number_].channel = this;
  }
  ~Channel() override {
    places_[number_] = {};
    receives_.doubt();
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  bool full() const override { return sends_.room() == 0; }
  std::size_t room() const override { return sends_.room(); }
  void send(std::span<const char> message) override { send(message, 1); }
  void send(std::span<const char> message, std::size_t times) override {
    sends_.send(static_cast<int>(number_), message, times);
  }
  /// Connections are opened and compared one after the other, before there is load: when
  /// one only counts, all that are open do.
  void only_count() override { receives_.compare(false); }

 private:
  Sends& sends_;
  Receives& receives_;
  std::vector<Place>& places_;
  std::uint32_t number_;
};

Engine::Engine(const MessageTerms& terms)
    : role_(terms.setup.role),
      wishes_(wishes_of(terms.setup)),
      library_(library_name() + " " + library_version() + ", fabric " + wishes_.fabric),
      store_(Store::of(terms.setup.options)),
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
    if (store_.on_device() && !knows_devices()) {
      throw Failure(ErrorKind::unsupported, "option memory is cuda: this " + library_name() + " " +
                                                library_version() +
                                                " is not CUDA-aware (MPIX_Query_cuda_support)");
    }
    sends_.emplace(rank_->other(), store_);
    receives_ = std::make_unique<Receives>(rank_->other(), max_message_, store_);
  }
  if (number >= places_.size()) places_.resize(number + 1);
  if (places_[number].channel != nullptr) {
    throw Failure(ErrorKind::invalid, "open connection " + std::to_string(number) + ": it is open already");
  }
  return std::make_unique<Channel>(*sends_, *receives_, places_, number);
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
  if (store_.on_device()) store_.cuda->use();  // the library copies in this thread
  try {
    const bool received = receive(arrivals);
    return sends_->reap() || received;
  } catch (const Failure& failure) {
    broken_ = true;
    for (const Place& place : places_) {
      if (place.channel != nullptr) arrivals.lost(*place.channel, failure.what());
    }
    return true;
  }
}

/// Tells of messages of one connection. Returns and notes how many bytes are sure to follow on it.
std::size_t Engine::tell(Arrivals& arrivals, const Receives::Run& run) {
  const auto number = static_cast<std::size_t>(run.tag);
  if (number >= places_.size() || places_[number].channel == nullptr) return 0;
  const std::size_t missing = arrivals.arrived(*places_[number].channel, run.bytes, run.times);
  return places_[number].missing = missing;
}

/// The messages that the exchange nearest to its end lacks. No other can be complete before as many have
/// come, so that to wait for all of them delays no answer.
std::size_t Engine::least_missing() const {
  constexpr auto kNone = std::numeric_limits<std::size_t>::max();
  std::size_t least = kNone;
  for (const Place& place : places_) {
    if (place.missing > 0) least = std::min(least, place.missing);
  }
  return least == kNone ? 0 : (least - 1) / max_message_ + 1;
}

bool Engine::receive(Arrivals& arrivals) {
  if (!receives_->comparing()) {
    bool begun = false;
    return receives_->count([&](const Receives::Run& run) { begun = tell(arrivals, run) > 0 || begun; },
                            [&] { return begun ? least_missing() : 0; });
  }
  bool received = false;
  for (std::size_t i = 0; i < kOutstanding; i++) {
    const auto message = receives_->take();
    if (!message) break;
    received = true;
    tell(arrivals, {message->tag, message->bytes, 1});
    receives_->release();
  }
  return received;
}

std::string Engine::path(const MessageChannel&) const { return library_path(); }

}  // namespace netdyno::mpi_worker
