#include "ucx/operations.h"

namespace netdyno::ucx {

std::unique_ptr<Channel> make_channel(Engine& engine, std::uint64_t id) {
  switch (engine.settings().operation) {
    case Operation::tag:
      break;
    case Operation::am:
      return std::make_unique<AmChannel>(engine, id);
    case Operation::stream:
      return std::make_unique<StreamChannel>(engine, id);
    case Operation::put:
      return std::make_unique<PutChannel>(engine, id);
    case Operation::get:
      return std::make_unique<GetChannel>(engine, id);
  }
  return std::make_unique<TagChannel>(engine, id);
}

}  // namespace netdyno::ucx
