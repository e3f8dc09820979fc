// light HOST PORT BYTES answers every request of HTTP/1.1 that has no body by as many bytes,
// always the same, and does nothing else, so that most load generators take more CPU than
// it does. One thread. make bench-table builds it.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SOCKETS = 4096 };
static int ended[SOCKETS]; // by socket: how many characters of a head's end came last

static void answer(int s, const char *reply, size_t size) {
  static char in[65536];
  ssize_t came = read(s, in, sizeof in);
  if (came <= 0) {
    close(s);
    return;
  }
  for (ssize_t i = 0; i < came; i++) {
    ended[s] = in[i] == "\r\n\r\n"[ended[s]] ? ended[s] + 1 : in[i] == '\r';
    if (ended[s] < 4) continue;
    ended[s] = 0;
    for (size_t sent = 0; sent < size;) {
      ssize_t n = send(s, reply + sent, size - sent, MSG_NOSIGNAL); // waits for a slow reader
      if (n < 0) return; // its end is read next
      sent += (size_t)n;
    }
  }
}

int main(int argc, char **argv) {
  struct sockaddr_in at = {.sin_family = AF_INET};
  if (argc != 4 || inet_pton(AF_INET, argv[1], &at.sin_addr) != 1 || atol(argv[3]) < 0) return 2;
  at.sin_port = htons((unsigned short)atoi(argv[2]));
  size_t body = (size_t)atol(argv[3]);
  char *reply = malloc(body + 100);
  if (!reply) return 1;
  size_t head = (size_t)sprintf(reply, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", body);
  memset(reply + head, 'x', body);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1, epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, ready[64];
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, SOCKETS) ||
      epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event)) {
    perror("light");
    return 1;
  }
  for (;;) {
    int n = epoll_wait(epoll, ready, 64, -1);
    for (int i = 0; i < n; i++) {
      if (ready[i].data.fd != listener) {
        answer(ready[i].data.fd, reply, head + body);
        continue;
      }
      event.data.fd = accept(listener, NULL, NULL);
      if (event.data.fd >= SOCKETS) close(event.data.fd);
      else if (event.data.fd >= 0 && !epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event)) ended[event.data.fd] = 0;
    }
  }
}
