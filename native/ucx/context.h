// What a trial asks of UCX, the configuration that follows, and UCX's context and worker with
// the memory that they know.
//
// Layer: above the kit's contract. Settings and functions: any thread; the rest: one at a time.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kit/contract.h"
#include "kit/cuda.h"
#include "kit/message_ends.h"
#include "kit/system.h"

namespace netdyno::ucx {

/// The operations of UCP that can carry messages.
enum class Operation { tag, stream, put, get };

struct Settings {
  Operation operation = Operation::tag;
  std::string tls;         // option tls as it was given
  bool cuda = false;       // UCX is given device memory
  bool event = false;      // an idle worker sleeps
  std::size_t window = 0;  // messages outstanding on a connection

  /// options are complete.
  static Settings of(const contract::Options& options);
};

std::vector<contract::Option> setting_options();
std::string name(Operation operation);

/// What the trial demands of the messages' way. UCX has a worker per loop.
MessageDemands demands(const Settings& settings);

/// The devices of UCX that belong to the network of an address: its interface, and the
/// RDMA ports whose interface it is. Empty when no interface has it.
std::vector<std::string> devices_of(const std::string& host);

/// UCX's settings by name, without their prefix UCX_. Throws Failure{unsupported} for a
/// way that this host does not have.
std::vector<std::pair<std::string, std::string>> configuration(const Settings& settings,
                                                               const std::vector<std::string>& devices);

/// The variables UCX_… of this process's environment, as "NAME=value NAME=value"; empty
/// when there are none. UCX heeds them where the trial sets nothing else.
std::string environment();

/// Numbers as active messages carry them: eight bytes each, the lowest first.
std::string words(std::span<const std::uint64_t> numbers);
/// The numbers of bytes; an incomplete one at the end is left out.
std::vector<std::uint64_t> numbers(std::string_view words);

/// The transports and devices of an endpoint's lanes, as ucp_ep_print_info names them:
/// "tcp/lo", or "posix/memory cma/memory" where several carry messages. Each is named
/// once, in their order; empty when the text has none.
std::string lanes_of(std::string_view printed);

/// UCX's context and worker of one loop, as a trial configures them.
///
/// One thread at a time.
class Context : Pinned {
 public:
  /// host is this end's address: UCX keeps to the devices of its network. Throws
  /// Failure{unsupported} or {setup} with UCX's reason.
  Context(const Settings& settings, const std::string& host);
  ~Context();

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

/// What memory is made of: a context of UCX, and where it lies.
struct Memories {
  ucp_context_h context = nullptr;
  Store store = {};

  ucs_memory_type_t type() const { return store.on_device() ? UCS_MEMORY_TYPE_CUDA : UCS_MEMORY_TYPE_HOST; }
};

/// A block of memory that UCX knows. The context outlives it.
class Memory : Pinned {
 public:
  /// Throws Failure{setup} when there is not so much.
  Memory(const Memories& of, std::size_t bytes);
  /// Memory of the host that lies still and lives longer.
  Memory(const Memories& of, std::span<const char> there);
  ~Memory();

  char* data() const { return data_; }
  std::size_t size() const { return size_; }
  void write(std::span<const char> bytes);
  /// size bytes from at on, where the host can read them: until the next call.
  std::span<const char> read(std::size_t at, std::size_t size);
  /// What another end needs to reach the block: opaque bytes.
  std::string key() const;

 private:
  void map();

  Memories of_;
  std::size_t size_;
  char* data_ = nullptr;          // none: UCX allocates
  std::unique_ptr<Block> block_;  // where a GPU has to do with it
  ucp_mem_h handle_ = nullptr;
};

/// Messages as they are sent, in memory that UCX knows, made once for each, since a flow's messages
/// never change: copies, or those in pinned memory themselves.
class Sources {
 public:
  explicit Sources(const Memories& of) : of_(of) {}

  struct Source {
    const Memory* memory;
    std::size_t number;  // counts from 0 in the order in which they were made
  };
  /// The memory of a message. Throws Failure{setup} when there is none.
  Source of(std::span<const char> message);
  /// The memory with a number.
  const Memory& at(std::size_t number) const { return *copies_[number].memory; }

 private:
  struct Copy {
    const char* message;
    std::unique_ptr<Memory> memory;
  };
  Memories of_;
  std::vector<Copy> copies_;
};

}  // namespace netdyno::ucx
