// The rings of the uring worker for HTTP/2.
//
// Layer: above uring.
#pragma once

#include <vector>

#include "uring/ends.h"

namespace netdyno::h2 {

/// The rings' options, without sending by MSG_ZEROCOPY: a session's buffers are filled again
/// before the network card need be done with them.
inline std::vector<contract::Option> ring_options() {
  std::vector<contract::Option> options = uring_worker::setting_options();
  std::erase_if(options, [](const contract::Option& option) { return option.name == "send"; });
  return options;
}

inline Engine rings() {
  return uring_worker::engine([](const contract::Setup& setup) {
    contract::Setup plain = setup;
    plain.options["send"] = "plain";
    return uring_worker::Settings::of(plain);
  });
}

}  // namespace netdyno::h2
