#include "grpcpp/handler.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>

namespace netdyno::grpc_worker {
namespace {

using grpc::internal::RpcMethod;
using grpc::internal::RpcServiceMethod;

/// Handlers of one method that a loop keeps waiting. More RPCs at once make it add more.
constexpr int kWaiting = 64;

}  // namespace

TrialService::TrialService(const Methods& methods) {
  for (const std::string& name : {methods.unary, methods.chunks}) {
    if (!name.empty()) names_.push_back(full_name(name));
  }
  for (int i = 0; i < static_cast<int>(names_.size()); i++) {
    const auto type = i == kUnary ? RpcMethod::NORMAL_RPC : RpcMethod::BIDI_STREAMING;
    AddMethod(new RpcServiceMethod(names_[static_cast<std::size_t>(i)].c_str(), type,
                                   nullptr));  // the base owns it
    MarkMethodAsync(i);
  }
}

ServerLoop::ServerLoop(Service& of, std::unique_ptr<grpc::ServerCompletionQueue> events)
    : service(of), queue(std::move(events)), unary(*this), chunks(*this), others(*this) {}

void ServerLoop::begin() {
  for (int i = 0; i < kWaiting; i++) {
    unary.await();
    if (service.chunks) chunks.await();
  }
  others.await();
}

void ServerLoop::run() {
  while (unary.busy() + chunks.busy() + others.busy() > 0) take_event(*queue, Agenda::kNever);
}

void ServerLoop::count(std::int64_t up, std::int64_t down) {
  exchanges.add(1);
  received.add(up);
  sent.add(down);
}

grpc::Status ServerLoop::refuse(const Refused& refused) {
  invalid.add(1);
  return {refused.code(), refused.what()};
}

template <class Handler>
void Working<Handler>::begin() {
  netdyno::Service* const work = loop_.service.work.get();
  if (work == nullptr) return handler_.worked();
  if (!work->sleeps()) {
    work->serve();
    return handler_.worked();
  }
  until_ns_ = now_ns() + work->next();
  rest();
}

/// Sleeps in pieces, so that a server that ends waits for none.
template <class Handler>
void Working<Handler>::rest() {
  constexpr std::int64_t kMostNs = 100'000'000;
  const std::int64_t at = std::min(until_ns_, now_ns() + kMostNs);
  alarm_.Set(loop_.queue.get(), gpr_time_from_nanos(at, GPR_CLOCK_MONOTONIC), rang_.tag());
}

template <class Handler>
void Working<Handler>::rang(bool) {
  now_ns() < until_ns_ && !loop_.service.stopping ? rest() : handler_.worked();
}

void UnaryHandler::await() {
  rpc_.emplace();
  loop_.service.trial.await(*rpc_, *loop_.queue, arrived_.tag());
}

void UnaryHandler::arrived(bool ok) {
  if (!ok) return finished(ok);  // the server ends
  const Service& service = loop_.service;
  loop_.replace(loop_.unary);
  try {
    up_ = service.payload->take(rpc_->request);
  } catch (const Refused& refused) {
    return rpc_->writer.FinishWithError(loop_.refuse(refused), finished_.tag());
  }
  working_.begin();
}

void UnaryHandler::worked() {
  const Service& service = loop_.service;
  loop_.count(up_, service.down_bytes);
  rpc_->writer.Finish(service.payload->outgoing(), grpc::Status::OK, finished_.tag());
}

void UnaryHandler::finished(bool) {
  rpc_.reset();
  loop_.unary.release(*this);
}

ChunkHandler::ChunkHandler(ServerLoop& loop)
    : loop_(loop),
      arrived_(*this),
      read_(*this),
      written_(*this),
      finished_(*this),
      joiner_(*loop.service.chunks),
      chunker_(*loop.service.chunks),
      working_(*this, loop) {}

void ChunkHandler::await() {
  rpc_.emplace();
  loop_.service.trial.await(*rpc_, *loop_.queue, arrived_.tag());
}

void ChunkHandler::arrived(bool ok) {
  if (!ok) return finished(ok);
  loop_.replace(loop_.chunks);
  joiner_.restart();
  rpc_->stream.Read(&chunk_, read_.tag());
}

void ChunkHandler::read(bool ok) {
  try {
    if (ok) joiner_.add(chunk_);
  } catch (const Refused& refused) {
    return refuse(refused);
  }
  if (ok && loop_.service.joins) return rpc_->stream.Read(&chunk_, read_.tag());
  answer();
}

void ChunkHandler::answer() {
  try {
    up_ = joiner_.take();
  } catch (const Refused& refused) {
    return refuse(refused);
  }
  working_.begin();
}

void ChunkHandler::worked() {
  loop_.count(up_, loop_.service.down_bytes);
  chunker_.restart();
  write();
}

/// Writes the next message, and the status together with the last one.
void ChunkHandler::write() {
  const grpc::ByteBuffer message = chunker_.next();
  if (chunker_.more()) return rpc_->stream.Write(message, written_.tag());
  rpc_->stream.WriteAndFinish(message, grpc::WriteOptions(), grpc::Status::OK, finished_.tag());
}

void ChunkHandler::written(bool ok) { ok ? write() : rpc_->stream.Finish(grpc::Status::OK, finished_.tag()); }

void ChunkHandler::refuse(const Refused& refused) {
  rpc_->stream.Finish(loop_.refuse(refused), finished_.tag());
}

void ChunkHandler::finished(bool) {
  rpc_.reset();
  loop_.chunks.release(*this);
}

void OtherHandler::await() {
  rpc_.emplace();
  loop_.service.others.RequestCall(&rpc_->context, &rpc_->stream, loop_.queue.get(), loop_.queue.get(),
                                   arrived_.tag());
}

void OtherHandler::arrived(bool ok) {
  if (!ok) return finished(ok);
  loop_.replace(loop_.others);
  const std::string text = "method " + rpc_->context.method() + loop_.service.refusal;
  rpc_->stream.Finish({grpc::StatusCode::UNIMPLEMENTED, text}, finished_.tag());
}

void OtherHandler::finished(bool) {
  rpc_.reset();
  loop_.others.release(*this);
}

}  // namespace netdyno::grpc_worker
