#include "kit/staging.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "kit/contract.h"
#include "kit/cuda.h"

namespace netdyno {

using contract::Failure;

namespace {

class StagedChannel;

class StagedEngine final : public MessageEngine, private MessageEngine::Arrivals, Pinned {
 public:
  StagedEngine(const Store& staged, const MakeEngine& make, const MessageTerms& terms)
      : staged_(staged),
        sources_({Place::device, staged.cuda}),
        arrival_({Place::device, staged.cuda}, terms.max_message),
        library_(make(terms)) {}

  std::unique_ptr<MessageChannel> open(int control, std::uint32_t number) override;
  bool progress(MessageEngine::Arrivals& arrivals) override {
    arrivals_ = &arrivals;
    return library_->progress(*this);
  }
  void wait(std::int64_t until_ns, int wake) override { library_->wait(until_ns, wake); }
  bool polls() const override { return library_->polls(); }
  std::string path(const MessageChannel& channel) const override;

  // What follows is for channels.

  /// A message's bytes in pinned memory, as they have just come from the device. A message is
  /// always copied to one place, as it is always sent from one where it is not staged: what is
  /// under way from there is the same bytes.
  std::span<const char> fetched(std::span<const char> message) {
    const Block& source = sources_.of(message);
    auto& pinned = pinned_[&source];
    if (!pinned) pinned = std::make_unique<Block>(staged_, source.size());
    const std::span<char> to(pinned->data(), message.size());
    staged_.cuda->to_host(to, source.data());
    return to;
  }
  void forget(std::size_t index) { channels_[index] = nullptr; }

 private:
  std::size_t arrived(MessageChannel& channel, std::span<const char> message,
                      std::size_t times) noexcept override;
  void lost(MessageChannel& channel, const std::string& text) noexcept override;

  Store staged_;
  BlockCopies sources_;                                    // on the device
  std::map<const Block*, std::unique_ptr<Block>> pinned_;  // by its source: where the library sends from
  Block arrival_;  // on the device; all messages go there, as all of a thread's receives do
  MessageEngine::Arrivals* arrivals_ = nullptr;
  std::vector<StagedChannel*> channels_;  // by the index of the library's own; null once closed
  std::unique_ptr<MessageEngine> library_;
};

class StagedChannel final : public MessageChannel, Pinned {
 public:
  StagedChannel(StagedEngine& engine, std::unique_ptr<MessageChannel> library)
      : engine_(engine), library_(std::move(library)) {}
  ~StagedChannel() override { engine_.forget(library_->index); }

  bool full() const override { return library_->full(); }
  void send(std::span<const char> message) override { library_->send(engine_.fetched(message)); }
  void flush() override { library_->flush(); }
  void only_count() override {
    counting_ = true;
    library_->only_count();
  }

  bool counting() const { return counting_; }
  const MessageChannel& library() const { return *library_; }

 private:
  StagedEngine& engine_;
  std::unique_ptr<MessageChannel> library_;
  bool counting_ = false;
};

std::unique_ptr<MessageChannel> StagedEngine::open(int control, std::uint32_t number) {
  auto library = library_->open(control, number);
  library->index = channels_.size();
  auto channel = std::make_unique<StagedChannel>(*this, std::move(library));
  channels_.push_back(channel.get());
  return channel;
}

std::string StagedEngine::path(const MessageChannel& channel) const {
  return library_->path(static_cast<const StagedChannel&>(channel).library());
}

/// What arrives is copied to the device, and while somebody compares it, read back from there. A
/// stream's bytes may be more than a message.
std::size_t StagedEngine::arrived(MessageChannel& library, std::span<const char> message,
                                  std::size_t times) noexcept {
  StagedChannel* const channel = channels_[library.index];
  if (channel == nullptr) return 0;
  std::size_t missing = 0;
  try {
    for (; times > 0; times--) {
      for (auto rest = message; !rest.empty();) {
        const auto part = rest.first(std::min(rest.size(), arrival_.size()));
        arrival_.write(part);
        missing = arrivals_->arrived(*channel, channel->counting() ? part : arrival_.read(0, part.size()));
        rest = rest.subspan(part.size());
      }
    }
  } catch (const Failure& failure) {
    arrivals_->lost(*channel, failure.what());
  }
  return missing;
}

void StagedEngine::lost(MessageChannel& library, const std::string& text) noexcept {
  if (StagedChannel* const channel = channels_[library.index]) arrivals_->lost(*channel, text);
}

}  // namespace

std::unique_ptr<MessageEngine> in_memory(const MakeEngine& make, const MessageTerms& terms) {
  if (terms.setup.options.value("memory", "host") != "cuda-staged") return make(terms);
  return std::make_unique<StagedEngine>(Store::of(terms.setup.options), make, terms);
}

}  // namespace netdyno
