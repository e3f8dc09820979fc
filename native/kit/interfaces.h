// This host's network interfaces, as libraries look for them that open devices by name.
//
// Layer: above address. Plain functions.
#pragma once

#include <string>

namespace netdyno {

/// The network interface that has an address; empty when none has. Any thread.
std::string interface_of(const std::string& address);

/// Makes an interface visible where UCX looks for interfaces, below /sys/class/net.
/// There the kernel shows the network namespace of whoever mounted /sys, which need not
/// be this process's. If so, the calling thread gets mounts of its own with its own
/// /sys, and so do the threads that it starts afterwards. Throws Failure{unsupported}
/// when the kernel does not let it.
void show_interface(const std::string& name);

}  // namespace netdyno
