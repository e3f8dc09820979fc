// UCX's context and worker of one loop, as a trial configures them.
//
// Layer: above settings. One thread at a time.
#pragma once

#include <ucp/api/ucp.h>

#include <string>

#include "ucx/settings.h"

namespace netdyno::ucx {

class Context {
 public:
  /// host is this end's address: UCX keeps to the devices of its network. Throws
  /// Failure{unsupported} or {setup} with UCX's reason.
  Context(const Settings& settings, const std::string& host);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  ucp_context_h context() const { return context_; }
  ucp_worker_h worker() const { return worker_; }
  /// The worker's address, as other workers connect to it.
  std::string address() const;
  /// Destroys the worker. Nothing but memory is used afterwards.
  void end();

 private:
  void make_worker();

  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
};

/// Version of the library that runs, for instance "1.13.1".
std::string version();
/// What a failed call of UCX is called in errors.
std::string reason(ucs_status_t status);

}  // namespace netdyno::ucx
