#include "brpc/brpc_client.h"

#include <brpc/errno.pb.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "kit/address.h"
#include "kit/system.h"

namespace netdyno::brpc_worker {

using contract::ErrorKind;
using contract::Failure;

namespace {

constexpr int kTimeoutMs = 10'000;  // of connecting, and of the verified exchange

/// The contract's kind of a brpc error code (src/brpc/errno.proto).
ErrorKind kind_of(int code) {
  switch (code) {
    case 0:  // a reply with the wrong content
    case brpc::ENOSERVICE:
    case brpc::ENOMETHOD:
    case brpc::EREQUEST:
    case brpc::EINTERNAL:
    case brpc::ERESPONSE:
    case brpc::ELIMIT:
    case brpc::EOVERCROWDED:
      return ErrorKind::invalid;
    case brpc::ERPCTIMEDOUT:
      return ErrorKind::timeout;
    default:
      return ErrorKind::peer;
  }
}

void refuse_what_brpc_cannot(const contract::Setup& setup) {
  if (setup.options.at("connection") == "pooled" && setup.load.in_flight > 1) {
    throw Failure(ErrorKind::unsupported,
                  "load.in_flight is " + std::to_string(setup.load.in_flight) +
                      " and option connection is pooled: a pooled connection carries one "
                      "call at a time; use more connections or connection=single");
  }
  if (setup.sources.size() > 1) {
    throw Failure(ErrorKind::unsupported, "setup.sources lists " + std::to_string(setup.sources.size()) +
                                              " addresses; brpc leaves the local address to the kernel");
  }
}

}  // namespace

BrpcClient::BrpcClient(const contract::Setup& setup, Load& load)
    : load_(load),
      content_(setup),
      options_(setup.options),
      shards_(static_cast<std::size_t>(load.shards())) {
  refuse_what_brpc_cannot(setup);
  load.encoded(content_.up_bytes(), content_.down_bytes());
  brpc::FLAGS_max_body_size = setup.options.at("max_body").get<std::uint64_t>();
  set_threads(setup);
  connect(setup);
  for (std::int64_t i = 0; i < setup.load.connections; i++) verify(i);
}

void BrpcClient::connect(const contract::Setup& setup) {
  const auto to = routes(setup);
  for (std::int64_t i = 0; i < setup.load.connections; i++) {
    const std::string peer = to[static_cast<std::size_t>(i) % to.size()].peer.text();
    brpc::ChannelOptions options;
    options.protocol = "baidu_std";
    options.connection_type = setup.load.fresh ? "short" : setup.options.at("connection").get<std::string>();
    options.connection_group = std::to_string(i);
    options.connect_timeout_ms = kTimeoutMs;
    options.timeout_ms = -1;
    options.max_retry = 0;  // a call that is sent again would be counted once
    auto& connection = *connections_.emplace_back(std::make_unique<Connection>());
    if (connection.channel.Init(peer.c_str(), &options) != 0) {
      throw Failure(ErrorKind::setup, "make a channel to " + peer + ": brpc refuses it");
    }
  }
  open_ = setup.load.connections;
}

void BrpcClient::verify(std::int64_t connection) {
  const auto outcome = call(*connections_[static_cast<std::size_t>(connection)], nullptr, true);
  if (outcome.wrong.empty()) return;
  throw Failure(kind_of(outcome.code), "verify connection " + std::to_string(connection + 1) + " of " +
                                           std::to_string(connections_.size()) + ": " + outcome.wrong);
}

BrpcClient::Outcome BrpcClient::call(Connection& connection, std::atomic<std::uint64_t>* id,
                                     bool compare) const {
  brpc::Controller controller;
  if (id != nullptr) {
    *id = controller.call_id().value;
    if (closed_) return {0, ECANCELED, "the trial is over"};
  }
  if (compare) controller.set_timeout_ms(kTimeoutMs);
  content_.attach(controller.request_attachment());
  const auto reply = empty(content_.method()->output_type());
  connection.channel.CallMethod(content_.method(), &controller, &content_.outgoing(), reply.get(), nullptr);
  if (controller.Failed()) return {0, controller.ErrorCode(), controller.ErrorText()};
  const auto taken = content_.take(*reply, controller.response_attachment());
  if (taken.wrong.empty() && compare && options_.at("verify") == "content" &&
      !content_.same(*reply, controller.response_attachment())) {
    return {0, 0, "the reply has another content than expected"};
  }
  return {taken.received, 0, taken.wrong};
}

contract::Ready BrpcClient::ready() const {
  contract::Ready ready;
  ready.connections = ready.verified = static_cast<std::int64_t>(connections_.size());
  ready.options = options_;
  ready.threads = bthread_getconcurrency();
  if (content_.structured()) {
    ready.up_bytes = content_.up_bytes();
    ready.down_bytes = content_.down_bytes();
  }
  return ready;
}

void BrpcClient::run() {
  {
    const std::lock_guard lock(starting_);
    for (std::size_t i = 0; i < connections_.size(); i++) {
      for (Slot& slot : load_.slots(static_cast<std::int64_t>(i))) {
        auto& caller =
            *callers_.emplace_back(new Caller{*this, *connections_[i], shards_[i % shards_.size()], slot});
        if (bthread_start_background(&caller.thread, nullptr, drive, &caller) != 0) {
          throw Failure(ErrorKind::setup, "start a bthread for each slot: brpc has no more");
        }
      }
    }
  }
  for (const auto& caller : callers_) bthread_join(caller->thread, nullptr);
  const auto lost = [](const auto& connection) { return connection->lost.load(); };
  if (!closed_ &&
      std::all_of(connections_.begin(), connections_.begin() + load_.active_connections(), lost)) {
    throw Failure(ErrorKind::peer, "run load: every connection was lost");
  }
}

void* BrpcClient::drive(void* argument) {
  auto& caller = *static_cast<Caller*>(argument);
  const BrpcClient& client = caller.client;
  std::int64_t due = 0;
  while (!caller.connection.lost && caller.slot.next(now_ns(), due) && client.until(due))
    client.exchange(caller);
  return nullptr;
}

/// Sleeps until due. False when the load ended before that.
bool BrpcClient::until(std::int64_t due) const {
  for (std::int64_t now = now_ns(); now < due; now = now_ns()) {
    if (closed_ || due > load_.closing()) return false;
    bthread_usleep(static_cast<std::uint64_t>((due - now + 999) / 1000));  // ended interrupts it
  }
  return true;
}

void BrpcClient::exchange(Caller& caller) const {
  const std::int64_t sent = now_ns();
  const auto outcome = call(caller.connection, &caller.call, false);
  const std::int64_t now = now_ns();
  if (closed_ && !outcome.wrong.empty()) {
    caller.connection.lost = true;  // close cancelled it: the exchange stays unfinished
    return;
  }
  const std::lock_guard lock(caller.shard);
  caller.slot.goes_out();
  if (outcome.wrong.empty()) {
    caller.slot.done(sent, now, outcome.received);
    return;
  }
  const ErrorKind kind = kind_of(outcome.code);
  caller.slot.fail(kind, now);
  // Without this, brpc would connect again at the next call.
  if (kind == ErrorKind::peer) caller.client.lose(caller.connection);
}

void BrpcClient::lose(Connection& connection) {
  if (!connection.lost.exchange(true)) open_.fetch_sub(1, std::memory_order_relaxed);
}

void BrpcClient::ended() {
  const std::lock_guard lock(starting_);
  for (const auto& caller : callers_) bthread_interrupt(caller->thread);
}

void BrpcClient::close() {
  closed_ = true;
  const std::lock_guard lock(starting_);
  for (const auto& caller : callers_) {
    brpc::StartCancel(brpc::CallId{caller->call});
    bthread_interrupt(caller->thread);
  }
}

}  // namespace netdyno::brpc_worker
