#include "grpcpp/handler.h"

#include <grpcpp/grpcpp.h>

namespace netdyno::grpc_worker {
namespace {

using grpc::internal::RpcMethod;
using grpc::internal::RpcServiceMethod;

/// RPCs of one method that find a handler waiting on a lane at once; more make
/// it begin more handlers.
constexpr int kWaiting = 64;

}  // namespace

TrialService::TrialService(const Methods& methods) {
  for (const std::string& name : {methods.unary, methods.talk, methods.chunks}) {
    if (!name.empty()) names_.push_back(full_name(name));
  }
  for (int i = 0; i < static_cast<int>(names_.size()); i++) {
    const auto type = i == kUnary ? RpcMethod::NORMAL_RPC : RpcMethod::BIDI_STREAMING;
    AddMethod(new RpcServiceMethod(names_[static_cast<std::size_t>(i)].c_str(), type,
                                   nullptr));  // the base owns it
    MarkMethodAsync(i);
  }
}

Lane::Lane(Service& of, std::unique_ptr<grpc::ServerCompletionQueue> events)
    : service(of), queue(std::move(events)), unary(*this), talk(*this), chunks(*this), others(*this) {}

void Lane::begin() {
  for (int i = 0; i < kWaiting; i++) {
    unary.expect();
    talk.expect();
    if (service.chunks) chunks.expect();
  }
  others.expect();
}

void Lane::run() {
  while (unary.out() + talk.out() + chunks.out() + others.out() > 0) take_event(*queue, Agenda::kNever);
}

void Lane::count(std::int64_t bytes) {
  exchanges.add(1);
  received.add(bytes);
  sent.add(service.down_bytes);
}

grpc::Status Lane::refuse(const Refused& refused) {
  invalid.add(1);
  return {refused.code(), refused.what()};
}

void UnaryHandler::expect() {
  room_.emplace();
  lane_.service.trial.expect(*room_, *lane_.queue, arrived_.tag());
}

void UnaryHandler::arrived(bool ok) {
  if (!ok) return finished(ok);  // the server ends
  lane_.replace(lane_.unary);
  try {
    lane_.count(lane_.service.form->take(room_->request));
  } catch (const Refused& refused) {
    return room_->writer.FinishWithError(lane_.refuse(refused), finished_.tag());
  }
  room_->writer.Finish(lane_.service.form->outgoing(), grpc::Status::OK, finished_.tag());
}

void UnaryHandler::finished(bool) {
  room_.reset();
  lane_.unary.rest(*this);
}

void TalkHandler::expect() {
  room_.emplace();
  lane_.service.trial.expect(TrialService::kTalk, *room_, *lane_.queue, arrived_.tag());
}

void TalkHandler::arrived(bool ok) {
  if (!ok) return finished(ok);
  lane_.replace(lane_.talk);
  room_->stream.Read(&request_, read_.tag());
}

void TalkHandler::read(bool ok) {
  if (!ok)
    return room_->stream.Finish(grpc::Status::OK, finished_.tag());  // the client has finished, or is gone
  try {
    lane_.count(lane_.service.form->take(request_));
  } catch (const Refused& refused) {
    return room_->stream.Finish(lane_.refuse(refused), finished_.tag());
  }
  room_->stream.Write(lane_.service.form->outgoing(), written_.tag());
}

void TalkHandler::written(bool ok) {
  if (!ok) return room_->stream.Finish(grpc::Status::OK, finished_.tag());
  room_->stream.Read(&request_, read_.tag());
}

void TalkHandler::finished(bool) {
  room_.reset();
  lane_.talk.rest(*this);
}

ChunkHandler::ChunkHandler(Lane& lane)
    : lane_(lane),
      arrived_(*this),
      read_(*this),
      written_(*this),
      finished_(*this),
      joiner_(*lane.service.chunks),
      cutter_(*lane.service.chunks) {}

void ChunkHandler::expect() {
  room_.emplace();
  lane_.service.trial.expect(TrialService::kChunks, *room_, *lane_.queue, arrived_.tag());
}

void ChunkHandler::arrived(bool ok) {
  if (!ok) return finished(ok);
  lane_.replace(lane_.chunks);
  joiner_.restart();
  room_->stream.Read(&chunk_, read_.tag());
}

void ChunkHandler::read(bool ok) {
  try {
    if (ok) joiner_.add(chunk_);
  } catch (const Refused& refused) {
    return refuse(refused);
  }
  if (ok && lane_.service.joins) return room_->stream.Read(&chunk_, read_.tag());
  answer();
}

void ChunkHandler::answer() {
  try {
    lane_.count(joiner_.take());
  } catch (const Refused& refused) {
    return refuse(refused);
  }
  cutter_.restart();
  write();
}

/// Writes the next message; the last one takes the status with it.
void ChunkHandler::write() {
  const grpc::ByteBuffer message = cutter_.next();
  if (cutter_.more()) return room_->stream.Write(message, written_.tag());
  room_->stream.WriteAndFinish(message, grpc::WriteOptions(), grpc::Status::OK, finished_.tag());
}

void ChunkHandler::written(bool ok) {
  ok ? write() : room_->stream.Finish(grpc::Status::OK, finished_.tag());
}

void ChunkHandler::refuse(const Refused& refused) {
  room_->stream.Finish(lane_.refuse(refused), finished_.tag());
}

void ChunkHandler::finished(bool) {
  room_.reset();
  lane_.chunks.rest(*this);
}

void OtherHandler::expect() {
  room_.emplace();
  lane_.service.others.RequestCall(&room_->context, &room_->stream, lane_.queue.get(), lane_.queue.get(),
                                   arrived_.tag());
}

void OtherHandler::arrived(bool ok) {
  if (!ok) return finished(ok);
  lane_.replace(lane_.others);
  const std::string text = "method " + room_->context.method() + lane_.service.refusal;
  room_->stream.Finish({grpc::StatusCode::UNIMPLEMENTED, text}, finished_.tag());
}

void OtherHandler::finished(bool) {
  room_.reset();
  lane_.others.rest(*this);
}

}  // namespace netdyno::grpc_worker
