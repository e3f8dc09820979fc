#include "threads/account.h"

namespace netdyno::threads_worker {

std::string Account::text() const {
  if (sends == 0 && plain == 0) return "";
  return "MSG_ZEROCOPY: " + std::to_string(sends) + " sends, " + std::to_string(completed) + " completed, " +
         std::to_string(copied) + " of them copied by the kernel after all; " + std::to_string(plain) +
         " more were sent plainly, as the kernel could keep account of no more\n";
}

Account& account() {
  static Account one;
  return one;
}

}  // namespace netdyno::threads_worker
