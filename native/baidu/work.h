// The work of wire baidu_std for the kit's loop ends. Layer: above client, server.
#pragma once

#include <memory>

#include "kit/work.h"

namespace netdyno::baidu {

/// The wire's name.
inline constexpr char kBaiduStd[] = "baidu_std";

/// Throws Failure{setup} for an exchange that does not fit, Failure{unsupported}
/// for one that this transport cannot carry. The setup's options are complete.
std::unique_ptr<const Work> work_of(const contract::Setup& setup);

}  // namespace netdyno::baidu
