#include "grpcpp/client.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <string>
#include <utility>

#include "grpcpp/options.h"
#include "kit/system.h"
#include "kit/work.h"

namespace netdyno::grpc_worker {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// Connections of one loop that are being opened at a time.
constexpr std::int64_t kMaxUnderWay = 128;

/// How long nothing may be connected or verified before that is an error.
constexpr std::int64_t kTimeoutNs = 10'000'000'000;

std::shared_ptr<grpc::Channel> dial(const Trial& trial, std::int64_t connection) {
  const Address& peer = trial.routes[static_cast<std::size_t>(connection) % trial.routes.size()].peer;
  const bool six = peer.host.find(':') != std::string::npos;
  return grpc::CreateCustomChannel((six ? "ipv6:" : "ipv4:") + peer.text(),
                                   grpc::InsecureChannelCredentials(), trial.arguments);
}

grpc::internal::RpcMethod registered(const Plan& plan, const std::shared_ptr<grpc::Channel>& channel) {
  using grpc::internal::RpcMethod;
  const auto type = plan.chunks ? RpcMethod::BIDI_STREAMING : RpcMethod::NORMAL_RPC;
  return RpcMethod(plan.method.c_str(), type, channel);
}

Target target(const Trial& trial, std::int64_t connection, grpc::CompletionQueue& queue) {
  auto channel = dial(trial, connection);
  return {channel, registered(trial.plan, channel), queue};
}

}  // namespace

Connection::SlotCall::SlotCall(Connection& connection, std::uint32_t number, Slot* slot)
    : connection_(connection),
      number_(number),
      slot_(slot),
      call_(make_call(connection.loop_.trial_.plan, connection.target_)) {}

void Connection::SlotCall::ask(std::int64_t now) {
  if (connection_.loop_.agenda_.ask(*slot_, now, connection_.number_, number_)) send();
}

void Connection::SlotCall::send() {
  sent_ = now_ns();
  slot_->goes_out();
  call_->begin(*this, false);
}

void Connection::SlotCall::completed(const Outcome& outcome) {
  if (connection_.loop_.discarding_) return;  // cancelled at the end: it stays unfinished
  const std::int64_t now = now_ns();
  auto failed = outcome.failed;
  // An exchange that completes after the loss may have used another TCP connection.
  if (connection_.lost_) failed = ErrorKind::peer;
  if (!failed) {
    slot_->done(sent_, now, outcome.received);
    return ask(now);
  }
  slot_->fail(*failed, now, outcome.text);
  // A status of the server's own leaves the connection as it is.
  if (*failed != ErrorKind::peer) return ask(now);
  if (connection_.state() == GRPC_CHANNEL_READY) return outcome.lost ? connection_.hold(number_) : ask(now);
  connection_.loop_.agenda_.let_go();
  call_->close();
  connection_.slot_lost();
}

Connection::Connection(ClientLoop& loop, std::uint32_t number, std::int64_t trial_index,
                       std::span<Slot> slots)
    : loop_(loop),
      number_(number),
      trial_index_(trial_index),
      active_(!slots.empty()),
      target_(target(loop.trial_, trial_index, loop.queue_)),
      verifier_(*this),
      again_(*this),
      watch_(*this),
      doubt_(*this) {
  for (Slot& slot : slots)
    slot_calls_.push_back(std::make_unique<SlotCall>(*this, slot_calls_.size(), &slot));
  if (!active_) slot_calls_.push_back(std::make_unique<SlotCall>(*this, 0, nullptr));
}

void Connection::verify() { slot_calls_.front()->call().begin(verifier_, loop_.trial_.compare); }

void Connection::verified(const Outcome& outcome) {
  if (loop_.discarding_) return;
  asked_ = !outcome.failed || state() != GRPC_CHANNEL_TRANSIENT_FAILURE;
  const bool later = outcome.failed && may_repeat(*outcome.failed);
  const bool chance = outcome.failed && contract::is_of_exchange(*outcome.failed) &&
                      repeats_ + 1 < contract::tries(loop_.trial_.max_errors);
  if (later || chance) {
    const std::int64_t at = now_ns() + (later ? Work::kRepeatMs[repeats_] : 0) * 1'000'000;
    repeats_++;
    loop_.repeated_++;
    alarm_.Set(&loop_.queue_, gpr_time_from_nanos(at, GPR_CLOCK_MONOTONIC), again_.tag());
    return;
  }
  if (outcome.failed) {
    const Address& peer =
        loop_.trial_.routes[static_cast<std::size_t>(trial_index_) % loop_.trial_.routes.size()].peer;
    throw Failure(*outcome.failed, "connection " + std::to_string(trial_index_ + 1) + " of " +
                                       std::to_string(loop_.trial_.connections) + ": verify " + peer.text() +
                                       " by " + loop_.trial_.plan.method + ": " + outcome.text +
                                       outcome.advice);
  }
  if (!active_) slot_calls_.front()->call().close();
  loop_.open_++;
  loop_.active_ += active_ ? 1 : 0;
  loop_.verified_++;
  watching_ = true;
  target_.channel->NotifyOnStateChange(GRPC_CHANNEL_READY, gpr_inf_future(GPR_CLOCK_MONOTONIC), &loop_.queue_,
                                       watch_.tag());
}

/// With another's server, as long as no connection was made: nothing was sent then.
bool Connection::may_repeat(ErrorKind failed) const {
  return failed == ErrorKind::peer && !loop_.trial_.compare && repeats_ < Work::kRepeatMs.size() &&
         state() == GRPC_CHANNEL_TRANSIENT_FAILURE;
}

void Connection::again(bool) {
  if (!loop_.discarding_) verify();
}

void Connection::begin() {
  if (!active_ || lost_) return;
  loop_.agenda_.hold(slot_calls_.size());
  const std::int64_t now = now_ns();
  for (const auto& slot_call : slot_calls_) slot_call->ask(now);
}

grpc_connectivity_state Connection::state() const {
  return target_.channel ? target_.channel->GetState(false) : GRPC_CHANNEL_SHUTDOWN;
}

/// The channel lost its connection. The library would silently connect again for an
/// exchange that began just before. This event comes before any reply on the new
/// connection, so nothing of it is counted.
void Connection::left_ready(bool) {
  watching_ = false;
  if (!loop_.discarding_) lose();
}

/// The library may fail exchanges before it says that the connection is gone. A slot that asked for
/// another one meanwhile would have it fail, too, though it never was on a connection.
void Connection::hold(std::uint32_t slot) {
  constexpr std::int64_t kDoubtNs = 1'000'000'000;
  held_.push_back(slot);
  if (std::exchange(doubted_, true)) return;
  doubt_alarm_.Set(&loop_.queue_, gpr_time_from_nanos(now_ns() + kDoubtNs, GPR_CLOCK_MONOTONIC),
                   doubt_.tag());
}

/// The connection is there all the same, so the text was the server's.
void Connection::stayed_ready(bool) {
  doubted_ = false;
  if (lost_ || loop_.discarding_) return;
  const std::int64_t now = now_ns();
  for (const std::uint32_t slot : std::exchange(held_, {})) slot_calls_[slot]->ask(now);
}

void Connection::slot_lost() {
  if (++slots_lost_ == slot_calls_.size()) lose();
}

void Connection::lose() {
  if (std::exchange(lost_, true)) return;
  loop_.open_--;
  loop_.active_ -= active_ ? 1 : 0;
  loop_.agenda_.forget(number_);
  loop_.agenda_.let_go(std::exchange(held_, {}).size());
  for (const auto& slot_call : slot_calls_) {
    slot_call->call().cancel();
    if (!slot_call->call().busy()) slot_call->call().close();
  }
  target_.channel.reset();  // destroyed with the last of its calls
}

void Connection::release() {
  alarm_.Cancel();
  doubt_alarm_.Cancel();
  for (const auto& slot_call : slot_calls_) slot_call->call().cancel();
  for (const auto& slot_call : slot_calls_) {
    while (slot_call->call().busy() && take_event(loop_.queue_, Agenda::kNever)) {
    }
    slot_call->call().close();
  }
  target_.channel.reset();  // ends the watch too
}

ClientLoop::ClientLoop(const Trial& trial, Load& load, int shard)
    : trial_(trial), load_(load), shard_(shard), end_event_(*this), stop_event_(*this) {}

ClientLoop::~ClientLoop() {
  discarding_ = true;
  for (const auto& connection : connections_) connection->release();
  drain(queue_);
}

void ClientLoop::open() {
  const std::int64_t wanted = (trial_.connections - shard_ + load_.shards() - 1) / load_.shards();
  const auto all = static_cast<std::size_t>(wanted);
  while (verified_ < all && !stopped_) {
    while (connections_.size() < all && connections_.size() - verified_ < kMaxUnderWay) {
      const auto number = static_cast<std::uint32_t>(connections_.size());
      const std::int64_t trial_index = shard_ + std::int64_t{number} * load_.shards();
      connections_.push_back(
          std::make_unique<Connection>(*this, number, trial_index, load_.slots(trial_index)));
      connections_.back()->verify();
    }
    if (take_event(queue_, now_ns() + kTimeoutNs)) continue;
    throw Failure(ErrorKind::timeout, "verify connections: " + std::to_string(verified_) + " of " +
                                          std::to_string(all) + " done and nothing came for " +
                                          std::to_string(kTimeoutNs / 1'000'000'000) + " s");
  }
}

std::int64_t ClientLoop::asked() const {
  return std::count_if(connections_.begin(), connections_.end(),
                       [](const auto& connection) { return connection->asked(); });
}

void ClientLoop::run() {
  for (const auto& connection : connections_) connection->begin();
  while (agenda_.held() > 0 && !stopped_) {
    take_event(queue_, agenda_.next_due());
    while (agenda_.next_due() <= now_ns()) {
      const Agenda::Entry entry = agenda_.take();
      connections_[entry.connection]->send(entry.slot);
    }
  }
}

void ClientLoop::end(std::int64_t closing) {
  if (ending_.exchange(true)) return;
  closing_ = closing;
  end_alarm_.Set(&queue_, gpr_inf_past(GPR_CLOCK_MONOTONIC), end_event_.tag());
}

void ClientLoop::ended(bool) { agenda_.end(closing_); }

void ClientLoop::stop() {
  if (stopped_.exchange(true)) return;
  stop_alarm_.Set(&queue_, gpr_inf_past(GPR_CLOCK_MONOTONIC), stop_event_.tag());
}

GrpcClient::GrpcClient(const contract::Setup& setup, Load& load)
    : contents_(setup.exchange),
      options_(effective(setup, contents_)),
      routes_(netdyno::routes(setup)),
      arguments_(channel_arguments(options_)),
      trial_{plan_,
             routes_,
             arguments_,
             options_.at("verify") == "content",
             setup.load.connections,
             setup.load.max_errors},
      loops_(load) {
  require_descriptors(setup.load.connections);
  for (const Route& route : routes_) require_own_source(route);
  const Direction direction{contents_.up(), contents_.down(), "reply"};
  const Cutting cutting = Cutting::of(setup);
  const Methods methods = methods_of(setup.exchange);
  plan_.method = full_name(methods.unary);
  if (methods.chunks.empty()) {
    plan_.payload = std::make_unique<Payload>(direction, cutting.raw);
  } else {
    plan_.chunks = std::make_unique<Chunks>(direction, cutting);
    plan_.method = full_name(methods.chunks);
  }
  load.encoded(contents_.up().size, contents_.down().size);
  for (int shard = 0; shard < load.shards(); shard++) {
    loops_.add(std::make_unique<ClientLoop>(trial_, load, shard));
  }
  contract::telling([this] { return opened(); },
                    [this] {
                      run_all(
                          loops_.size(), [this](std::size_t i) { loops_[i].open(); },
                          [this] { loops_.stop(); });
                    });
}

contract::Sent GrpcClient::opened() const {
  contract::Sent sent;
  for (std::size_t i = 0; i < loops_.size(); i++) sent.verify += loops_[i].asked();
  return sent;
}

/// All loops cancel their exchanges at the same time, to end soon.
GrpcClient::~GrpcClient() {
  run_all(
      loops_.size(), [this](std::size_t i) { loops_.destroy(i); }, [] {});
}

contract::Ready GrpcClient::ready() const {
  contract::Ready ready;
  ready.connections = ready.verified = trial_.connections;
  for (std::size_t i = 0; i < loops_.size(); i++) ready.repeated += loops_[i].repeated();
  ready.options = options_;
  ready.threads = static_cast<std::int64_t>(loops_.size());
  if (contents_.structured()) {
    ready.up_bytes = contents_.up().size;
    ready.down_bytes = contents_.down().size;
  }
  return ready;
}

}  // namespace netdyno::grpc_worker
