// Messages of a GPU's memory, moved by a library that is given the host's: what a program does where
// the library reaches no GPU, or the card does not.
//
// Layer: above messages, cuda. Threads: as kit/messages.h says.
#pragma once

#include <memory>

#include "kit/messages.h"

namespace netdyno {

/// The engine of a trial: make's own, or where option memory is cuda-staged one that copies each
/// message from the device before make's sends it, and to the device when it has arrived. Throws
/// Failure{unsupported} where a GPU is asked for and none can be used.
std::unique_ptr<MessageEngine> in_memory(const MakeEngine& make, const MessageTerms& terms);

}  // namespace netdyno
