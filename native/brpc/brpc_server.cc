#include "brpc/brpc_server.h"

#include <brpc/closure_guard.h>
#include <brpc/errno.pb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace netdyno::brpc_worker {

using contract::ErrorKind;
using contract::Failure;
using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

namespace {

/// Returns a free port. Some versions of brpc do not report the port that the kernel chose
/// for port 0.
std::uint16_t free_port(const std::string& host) {
  Endpoint at = endpoint({host, 0}, "setup.listen");
  const int fd = ::socket(at.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool bound =
      fd >= 0 && ::bind(fd, at.get(), at.size) == 0 && ::getsockname(fd, at.get(), &at.size) == 0;
  const int failed = errno;
  if (fd >= 0) ::close(fd);
  if (!bound) throw Failure(ErrorKind::setup, "listen on " + host + ": " + std::strerror(failed));
  return at.address().port;
}

const Message& prototype(const google::protobuf::Descriptor* type) {
  return *google::protobuf::MessageFactory::generated_factory()->GetPrototype(type);
}

}  // namespace

void Exchange::CallMethod(const MethodDescriptor* method, google::protobuf::RpcController* controller,
                          const Message* request, Message* response, google::protobuf::Closure* done) {
  const brpc::ClosureGuard guard(done);  // sends the reply at the end
  auto& call = *static_cast<brpc::Controller*>(controller);
  if (method != content_.method()) {
    invalid_.fetch_add(1, std::memory_order_relaxed);
    call.SetFailed(brpc::ENOMETHOD, "%s does not serve this trial, expected %s", method->full_name().c_str(),
                   content_.method()->full_name().c_str());
    return;
  }
  const auto taken = content_.take(*request, call.request_attachment());
  if (!taken.wrong.empty()) {
    invalid_.fetch_add(1, std::memory_order_relaxed);
    call.SetFailed(brpc::EREQUEST, "%s", taken.wrong.c_str());
    return;
  }
  exchanges_.fetch_add(1, std::memory_order_relaxed);
  received_.fetch_add(taken.received, std::memory_order_relaxed);
  response->CopyFrom(content_.outgoing());  // brpc sends only the message that it made
  content_.attach(call.response_attachment());
}

const Message& Exchange::GetRequestPrototype(const MethodDescriptor* method) const {
  return prototype(method->input_type());
}

const Message& Exchange::GetResponsePrototype(const MethodDescriptor* method) const {
  return prototype(method->output_type());
}

contract::Counts Exchange::counts() const {
  contract::Counts counts;
  counts.exchanges = exchanges_.load(std::memory_order_relaxed);
  counts.received_bytes = received_.load(std::memory_order_relaxed);
  counts.sent_bytes = counts.exchanges * content_.down_bytes();
  counts.errors[static_cast<std::size_t>(ErrorKind::invalid)] = invalid_.load(std::memory_order_relaxed);
  return counts;
}

int AllowedClients::VerifyCredential(const std::string&, const butil::EndPoint& client,
                                     brpc::AuthContext*) const {
  if (!allow_.empty() && !allow_.contains(butil::ip2str(client.ip).c_str())) return -1;
  if (started_) wait_until_counted();
  return 0;
}

void AllowedClients::wait_until_counted() const {
  const std::int64_t expected = ++expected_;
  for (int i = 0; i < 10; i++) {
    if (open_() >= expected) return;
    bthread_usleep(1000);
  }
  expected_ = open_();  // earlier connections were closed meanwhile
}

BrpcServer::BrpcServer(const contract::Setup& setup)
    : options_(setup.options),
      exchange_(setup),
      allowed_clients_(setup.allow, [this] { return open_connections(); }) {
  set_threads(setup);
  brpc::FLAGS_max_body_size = setup.options.at("max_body").get<std::uint64_t>();
  brpc::ServerOptions options;
  options.num_threads = 0;               // set_threads set them; brpc would add to those
  options.has_builtin_services = false;  // status pages, which any client could read
  options.enabled_protocols = "baidu_std";
  options.auth = &allowed_clients_;
  Address at = parse_address(setup.listen, "setup.listen");
  for (std::int64_t i = 0; i < setup.listeners; i++) {
    Address one = at;
    one.port = static_cast<std::uint16_t>(at.port == 0 ? free_port(at.host) : at.port + i);
    start(one, options);
  }
  allowed_clients_.start();
}

void BrpcServer::start(const Address& at, const brpc::ServerOptions& options) {
  auto server = std::make_unique<brpc::Server>();
  if (server->AddService(&exchange_, brpc::SERVER_DOESNT_OWN_SERVICE) != 0 ||
      server->Start(at.text().c_str(), &options) != 0) {
    throw Failure(ErrorKind::setup, "listen on " + at.text() + ": " + std::strerror(errno));
  }
  addresses_.push_back(at.text());
  servers_.push_back(std::move(server));
}

BrpcServer::~BrpcServer() {
  for (const auto& server : servers_) server->Stop(0);
  for (const auto& server : servers_) server->Join();
}

contract::Ready BrpcServer::ready() const {
  contract::Ready ready;
  ready.addresses = addresses_;
  ready.options = options_;
  ready.threads = bthread_getconcurrency();
  if (exchange_.content().structured()) {
    ready.up_bytes = exchange_.content().up_bytes();
    ready.down_bytes = exchange_.content().down_bytes();
  }
  return ready;
}

std::int64_t BrpcServer::open_connections() const {
  std::int64_t open = 0;
  for (const auto& server : servers_) {
    brpc::ServerStatistics statistics;
    server->GetStat(&statistics);
    open += static_cast<std::int64_t>(statistics.connection_count);
  }
  return open;
}

contract::Counts BrpcServer::counts() const {
  contract::Counts counts = exchange_.counts();
  counts.connections = open_connections();
  return counts;
}

}  // namespace netdyno::brpc_worker
