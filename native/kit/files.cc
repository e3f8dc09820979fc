#include "kit/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "kit/contract.h"
#include "kit/descriptor.h"

namespace netdyno {

std::string read_file(const std::string& what, const std::string& name, std::size_t most) {
  const auto refuse = [&what](const std::string& text) {
    throw contract::Failure(contract::ErrorKind::setup, what + ": " + text);
  };
  const auto reason = [] { return std::generic_category().message(errno); };
  // A pipe that nobody writes to would hold up the open.
  const Descriptor file(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0) refuse("open " + name + ": " + reason());
  if (!S_ISREG(status.st_mode)) refuse(name + " is no regular file");
  std::string text;
  std::array<char, 64 << 10> piece;
  while (text.size() <= most) {
    const ssize_t n = read(file.get(), piece.data(), piece.size());
    if (n < 0) refuse("read " + name + ": " + reason());
    if (n == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
  refuse(name + " has more than " + std::to_string(most) + " bytes, the most that are taken");
  return {};
}

}  // namespace netdyno
