#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <span>
#include <string>
#include <utility>

#include "grpcpp/grpc_client.h"
#include "kit/clock.h"

namespace netdyno::grpc_worker {
namespace {

using contract::ErrorKind;
using contract::Failure;

/// Connections under way on one loop.
constexpr std::int64_t kMaxUnderWay = 128;

/// Nothing connected or verified for this long: the peer is silent.
constexpr std::int64_t kPatienceNs = 10'000'000'000;

std::shared_ptr<grpc::Channel> dial(const Trial& trial, std::int64_t connection) {
  const Address& peer = trial.routes[static_cast<std::size_t>(connection) % trial.routes.size()].peer;
  const bool six = peer.host.find(':') != std::string::npos;
  return grpc::CreateCustomChannel((six ? "ipv6:" : "ipv4:") + peer.text(),
                                   grpc::InsecureChannelCredentials(), trial.arguments);
}

grpc::internal::RpcMethod registered(const Plan& plan, const std::shared_ptr<grpc::Channel>& channel) {
  using grpc::internal::RpcMethod;
  const auto type = plan.streams || plan.chunks ? RpcMethod::BIDI_STREAMING : RpcMethod::NORMAL_RPC;
  return RpcMethod(plan.method.c_str(), type, channel);
}

Target target(const Trial& trial, std::int64_t connection, grpc::CompletionQueue& queue) {
  auto channel = dial(trial, connection);
  return {channel, registered(trial.plan, channel), queue};
}

}  // namespace

Connection::Place::Place(Connection& connection, std::uint32_t number, Slot* slot)
    : connection_(connection),
      number_(number),
      slot_(slot),
      call_(make_call(connection.loop_.trial_.plan, connection.target_)) {}

void Connection::Place::ask(std::int64_t now) {
  if (connection_.loop_.agenda_.ask(*slot_, now, connection_.number_, number_)) send();
}

void Connection::Place::send() {
  sent_ = now_ns();
  call_->begin(*this, false);
}

void Connection::Place::completed(const Outcome& outcome) {
  if (connection_.loop_.muted_) return;  // cut at the end: it stays unfinished
  const std::int64_t now = now_ns();
  // What completes after the loss may have come on another connection.
  const auto failed = connection_.lost_ ? ErrorKind::peer : outcome.failed;
  if (!failed) {
    slot_->done(sent_, now, outcome.received);
    return ask(now);
  }
  slot_->fail(*failed, now);
  if (*failed != ErrorKind::peer) return ask(now);
  connection_.loop_.agenda_.let_go();
  call_->close();
  connection_.slot_lost();
}

Connection::Connection(ClientLoop& loop, std::uint32_t number, std::int64_t of_trial, std::span<Slot> slots)
    : loop_(loop),
      number_(number),
      of_trial_(of_trial),
      active_(!slots.empty()),
      target_(target(loop.trial_, of_trial, loop.queue_)),
      verdict_(*this),
      watch_(*this) {
  for (Slot& slot : slots) places_.push_back(std::make_unique<Place>(*this, places_.size(), &slot));
  if (!active_) places_.push_back(std::make_unique<Place>(*this, 0, nullptr));
}

void Connection::verify() { places_.front()->call().begin(verdict_, loop_.trial_.compare); }

void Connection::verified(const Outcome& outcome) {
  if (loop_.muted_) return;
  if (outcome.failed) {
    const Address& peer =
        loop_.trial_.routes[static_cast<std::size_t>(of_trial_) % loop_.trial_.routes.size()].peer;
    throw Failure(*outcome.failed, "connection " + std::to_string(of_trial_) + " of " +
                                       std::to_string(loop_.trial_.connections) + ": verify " + peer.text() +
                                       " by " + loop_.trial_.plan.method + ": " + outcome.text);
  }
  if (!active_) places_.front()->call().close();
  // Opening them now keeps it out of the first exchanges' times.
  for (std::size_t i = 1; i < places_.size(); i++) places_[i]->call().open();
  loop_.open_++;
  loop_.active_ += active_ ? 1 : 0;
  loop_.verified_++;
  watching_ = true;
  target_.channel->NotifyOnStateChange(GRPC_CHANNEL_READY, gpr_inf_future(GPR_CLOCK_MONOTONIC), &loop_.queue_,
                                       watch_.tag());
}

void Connection::begin() {
  if (!active_ || lost_) return;
  loop_.agenda_.hold(places_.size());
  const std::int64_t now = now_ns();
  for (const auto& place : places_) place->ask(now);
}

/// An exchange that began just before would have the library connect again, in
/// silence. This is told before anything can come on another connection, so
/// nothing of one is counted.
void Connection::left_ready(bool) {
  watching_ = false;
  if (!loop_.muted_) lose();
}

void Connection::slot_lost() {
  if (++slots_lost_ == places_.size()) lose();
}

void Connection::lose() {
  if (std::exchange(lost_, true)) return;
  loop_.open_--;
  loop_.active_ -= active_ ? 1 : 0;
  loop_.agenda_.forget(number_);
  for (const auto& place : places_) {
    place->call().cancel();
    if (!place->call().busy()) place->call().close();
  }
  target_.channel.reset();  // gone with the last of its calls
}

void Connection::release() {
  for (const auto& place : places_) place->call().cancel();
  for (const auto& place : places_) {
    while (place->call().busy() && take_event(loop_.queue_, Agenda::kNever)) {
    }
    place->call().close();
  }
  target_.channel.reset();  // ends the watch too
}

ClientLoop::ClientLoop(const Trial& trial, Load& load, int lane)
    : trial_(trial), load_(load), lane_(lane), end_event_(*this), stop_event_(*this) {}

ClientLoop::~ClientLoop() {
  muted_ = true;
  for (const auto& connection : connections_) connection->release();
  drain(queue_);
}

void ClientLoop::open() {
  const std::int64_t wanted = (trial_.connections - lane_ + load_.lanes() - 1) / load_.lanes();
  const auto all = static_cast<std::size_t>(wanted);
  while (verified_ < all && !stopped_) {
    while (connections_.size() < all && connections_.size() - verified_ < kMaxUnderWay) {
      const auto number = static_cast<std::uint32_t>(connections_.size());
      const std::int64_t of_trial = lane_ + std::int64_t{number} * load_.lanes();
      connections_.push_back(std::make_unique<Connection>(*this, number, of_trial, load_.slots(of_trial)));
      connections_.back()->verify();
    }
    if (take_event(queue_, now_ns() + kPatienceNs)) continue;
    throw Failure(ErrorKind::timeout, "verify connections: " + std::to_string(verified_) + " of " +
                                          std::to_string(all) + " done and nothing came for " +
                                          std::to_string(kPatienceNs / 1'000'000'000) + " s");
  }
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

}  // namespace netdyno::grpc_worker
