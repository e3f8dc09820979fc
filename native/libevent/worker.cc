// netdyno-worker-libevent: transport libevent, wires echo and stream.
#include <event2/event.h>

#include "kit/ends.h"
#include "kit/options.h"
#include "kit/stream.h"
#include "libevent/ends.h"

int main() {
  using namespace netdyno;
  using namespace netdyno::libevent_worker;
  contract::Option api = choice_option(
      "api", {"event", "bufferevent"},
      "event: readiness events and plain reads and writes; bufferevent: libevent's buffers, one copy more "
      "each way");
  LoopTransport transport(loop_transport("libevent", "libevent, one event_base per thread",
                                         joined({api, lowat_option()}, pace_options())),
                          Engine::of<EventServerLoop, EventClientLoop>([](const contract::Setup& setup) {
                            return parse_api(setup.options.at("api").get<std::string>());
                          }));
  return run_worker({"netdyno-worker-libevent", NETDYNO_VERSION, {{"libevent", event_get_version()}}},
                    {&transport});
}
