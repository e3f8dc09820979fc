// The way that a connection's messages really take: over TCP, through shared memory,
// or by RDMA. A library that is asked for one may silently take another; counters of
// the kernel and of the network cards tell.
//
// Layer: above contract. Any thread.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "kit/contract.h"

namespace netdyno {

/// Bytes that this process has moved by means that can be counted from outside the
/// library.
struct PathCounters {
  std::int64_t tcp_bytes = 0;   // sent and received over TCP sockets, without those that are left out
  std::int64_t rdma_bytes = 0;  // by all ports of all RDMA devices of this host, other processes' included
};

/// Reads the counters. Sockets in `without` (by descriptor) are not counted. Costs a
/// system call for each open descriptor.
PathCounters read_path(const std::set<int>& without);

/// What the growth of the counters says about payload bytes that went there and back:
/// "tcp" or "rdma" when these counted at least half of it, empty when neither did.
std::string path_over(const PathCounters& before, const PathCounters& after, std::int64_t payload);

/// Identity of this host's kernel since it booted; empty when there is none.
std::string boot_id();

}  // namespace netdyno
