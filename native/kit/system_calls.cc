// recv, send and epoll_wait in the place of the C library's, for event loops.
//
// In a process of several threads the C library turns cancellation of the calling thread on
// and off around each of them, by two atomic operations; in one of one thread it does not. A
// worker has a second thread, which converses with netdyno and never cancels another, while a
// bare program on the same library has none. Of an asio client that took 2.4 % of its time.
//
// Layer: bottom; linked into workers that need it. Not with sanitizers, which have their own.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

extern "C" {

ssize_t recv(int fd, void* to, std::size_t size, int flags) {
  return syscall(SYS_recvfrom, fd, to, size, flags, nullptr, nullptr);
}

ssize_t send(int fd, const void* from, std::size_t size, int flags) {
  return syscall(SYS_sendto, fd, from, size, flags, nullptr, 0);
}

int epoll_wait(int fd, epoll_event* events, int most, int timeout_ms) {
  return static_cast<int>(syscall(SYS_epoll_pwait, fd, events, most, timeout_ms, nullptr, std::size_t{0}));
}

}  // extern "C"
