#include "grpcpp/options.h"

#include <grpcpp/resource_quota.h>
#include <sys/socket.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "kit/options.h"
#include "kit/system.h"

namespace netdyno::grpc_worker {

using contract::Option;
using contract::Options;
using contract::Role;

namespace {

// The library's defaults, which the options repeat.
constexpr std::int64_t kMaxMessage = 4 << 20;
constexpr std::int64_t kWindow = 65'535;
constexpr std::int64_t kFrame = 16'384;
constexpr std::int64_t kMaxFrame = 16'777'215;  // RFC 9113, SETTINGS_MAX_FRAME_SIZE
constexpr std::int64_t kReadChunk = 8'192;

/// Channel arguments that both ends have, with their values.
std::vector<std::pair<const char*, int>> arguments(const Options& options) {
  const auto number = [&options](const char* name) { return options.at(name).get<int>(); };
  std::vector<std::pair<const char*, int>> list = {
      {GRPC_ARG_HTTP2_BDP_PROBE, options.at("bdp_probe").get<bool>()},
      {GRPC_ARG_TCP_TX_ZEROCOPY_ENABLED, options.at("zerocopy").get<bool>()}};
  // Options at the library's default are not set.
  if (number("window") != kWindow) list.emplace_back(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, number("window"));
  if (number("max_frame") != kFrame) list.emplace_back(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, number("max_frame"));
  if (number("read_chunk") != kReadChunk)
    list.emplace_back(GRPC_ARG_TCP_READ_CHUNK_SIZE, number("read_chunk"));
  return list;
}

/// An option that is a channel argument of both ends, with the values that a race tries.
Option argument(Option option, const std::vector<std::string>& grid, const std::string& name) {
  return raced(std::move(option), grid,
               {{Role::server, "ServerBuilder::AddChannelArgument(" + name + ", {value})"},
                {Role::client, "ChannelArguments::SetInt(" + name + ", {value})"}});
}

}  // namespace

std::vector<Option> options() {
  return {
      choice_option(
          "codec", {"proto", "raw"},
          "how codec bytes travels: proto in a protobuf Block; raw as the message itself, received into one "
          "contiguous piece of memory; give both ends the same"),
      bytes_option(
          "max_message", {0, 0, INT_MAX},
          "largest message this end receives; 0 takes the library's 4 MiB, raised to what the exchange "
          "needs"),
      argument(bytes_option("window", {kWindow, 1, INT_MAX},
                            "flow-control window that a stream begins with; with bdp_probe the library "
                            "raises it to the link's bandwidth-delay product"),
               {"1MiB", "16MiB"}, "GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES"),
      argument(boolean_option("bdp_probe", true,
                              "measure the link's bandwidth-delay product by pings and fit windows to it"),
               {"no"}, "GRPC_ARG_HTTP2_BDP_PROBE"),
      argument(bytes_option("max_frame", {kFrame, kFrame, kMaxFrame},
                            "largest HTTP/2 frame this end asks its peer for"),
               {"256KiB", "1MiB"}, "GRPC_ARG_HTTP2_MAX_FRAME_SIZE"),
      argument(bytes_option("read_chunk", {kReadChunk, 256, 32 << 20},
                            "bytes of one buffer that the socket is read into"),
               {"32KiB", "128KiB"}, "GRPC_ARG_TCP_READ_CHUNK_SIZE"),
      boolean_option("zerocopy", false, "send by MSG_ZEROCOPY what has 16 KiB or more"),
      bytes_option(
          "memory_quota", {0, 0, std::int64_t{1} << 40},
          "bytes that the library's buffers may take together before it slows down (ResourceQuota); 0 is "
          "without bound"),
      only(Role::server,
           bytes_option("max_concurrent_streams", {0, 0, INT_MAX},
                        "RPCs at once on a connection, the others wait in the client; 0 is without bound")),
      only(Role::client,
           choice_option("verify", {"content", "length"},
                         "what is compared before ready: the content that our servers send, or only its "
                         "length, for a server of yours; a message only has to decode then")),
  };
}

Options effective(const contract::Setup& setup, const Contents& contents) {
  Options options = setup.options;
  if (options.at("max_message") == 0)
    options["max_message"] = std::max(kMaxMessage, largest_message(setup, contents));
  require_agreement(setup, contents);
  return options;
}

grpc::ChannelArguments channel_arguments(const Options& options) {
  grpc::ChannelArguments args;
  for (const auto& [name, value] : arguments(options)) args.SetInt(name, value);
  args.SetMaxReceiveMessageSize(options.at("max_message").get<int>());
  if (const auto quota = options.at("memory_quota").get<std::size_t>(); quota > 0) {
    args.SetResourceQuota(grpc::ResourceQuota("netdyno").Resize(quota));
  }
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);      // else channels to one address share a connection
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);              // connect to the trial's peer, not to a proxy
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);  // a server that starts late is tried again
  args.SetInt(GRPC_ARG_CLIENT_IDLE_TIMEOUT_MS, INT_MAX);   // connections without load must stay open
  return args;
}

void configure(grpc::ServerBuilder& builder, const Options& options) {
  for (const auto& [name, value] : arguments(options)) builder.AddChannelArgument(name, value);
  builder.SetMaxReceiveMessageSize(options.at("max_message").get<int>());
  if (const auto quota = options.at("memory_quota").get<std::size_t>(); quota > 0) {
    builder.SetResourceQuota(grpc::ResourceQuota("netdyno").Resize(quota));
  }
  if (const int streams = options.at("max_concurrent_streams").get<int>(); streams > 0) {
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, streams);
  }
}

void require_own_source(const Route& route) {
  if (route.source.empty()) return;
  const Endpoint peer = endpoint(route.peer, "setup.peers");
  // Connecting a datagram socket sends nothing and chooses the address as TCP does.
  const Descriptor probe(socket(peer.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  Endpoint own;
  const bool known =
      connect(probe.get(), peer.get(), peer.size) == 0 && getsockname(probe.get(), own.get(), &own.size) == 0;
  if (!known) return;  // connecting reports the reason later
  const std::string wanted = endpoint({route.source, 0}, "setup.sources").address().host;
  const std::string chosen = own.address().host;
  if (wanted == chosen) return;
  throw contract::Failure(contract::ErrorKind::unsupported,
                          "setup.sources has " + wanted + " and gRPC connects to " + route.peer.host +
                              " from " + chosen +
                              ": the library offers no choice; use fewer connections, or transport go-grpc");
}

}  // namespace netdyno::grpc_worker
