// What became of the sends by MSG_ZEROCOPY of one process.
// Layer: threads worker, bottom. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace netdyno::threads_worker {

struct Account {
  std::atomic<std::int64_t> sends{0};
  /// Of them, those that the kernel has said to be over: it no longer uses their pages.
  std::atomic<std::int64_t> completed{0};
  /// Of these, those whose bytes it copied after all (SO_EE_CODE_ZEROCOPY_COPIED).
  std::atomic<std::int64_t> copied{0};
  /// Sends for which the kernel had no room to keep account (ENOBUFS): they were plain.
  std::atomic<std::int64_t> plain{0};

  /// One line for people, or nothing where there was no such send.
  std::string text() const;
};

/// The one of this process.
Account& account();

}  // namespace netdyno::threads_worker
