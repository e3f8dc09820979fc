#include "kit/schedule.h"

#include "kit/random.h"

namespace netdyno {

Schedule::Schedule(const contract::Load& load, std::uint64_t seed, SlotPosition position)
    : poisson_(load.arrival == contract::Arrival::poisson) {
  constexpr double kSecond = 1e9;
  first_ = (static_cast<double>(position.slot) + 0.5) / load.rate * kSecond;
  step_ = static_cast<double>(position.slots) / load.rate * kSecond;
  // Neighbouring slots get unrelated streams: the slot's number is mixed first.
  random_ = seed ^ mix(static_cast<std::uint64_t>(position.slot) + 1);
  at_ = poisson_ ? exponential() * step_ : first_;
}

std::uint64_t Schedule::draw() { return split_mix(random_); }

}  // namespace netdyno
