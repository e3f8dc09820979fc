// netdyno-worker-libevent: transport libevent, wires echo and stream.
#include <event2/event.h>

#include "kit/ends.h"
#include "libevent/ends.h"

int main() {
  using namespace netdyno;
  using namespace netdyno::libevent_worker;
  LoopTransport transport(paced(loop_transport("libevent", "libevent, one event_base per thread")),
                          Engine::of<EventServerLoop, EventClientLoop>());
  return run_worker({"netdyno-worker-libevent", NETDYNO_VERSION, {{"libevent", event_get_version()}}},
                    {&transport});
}
