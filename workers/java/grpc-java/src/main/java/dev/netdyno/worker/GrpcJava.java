package dev.netdyno.worker;

import dev.netdyno.kit.Description;
import dev.netdyno.kit.Option;
import dev.netdyno.kit.Setup;
import dev.netdyno.kit.Transport;
import dev.netdyno.kit.Worker;
import java.util.List;

/** Transport grpc-java: gRPC by grpc-java on its shaded Netty, messages by protobuf-java's generated code. */
public final class GrpcJava implements Transport {
  public static void main(String[] arguments) {
    new Worker("netdyno-worker-grpc-java", "0.1.0", new GrpcJava())
        .library("grpc-java", "1.85.1").library("protobuf-java", "3.25.8").main();
  }

  @Override
  public Description describe() {
    return new Description("grpc-java", "grpc:netdyno.v1", "gRPC by grpc-java: one connection is one ManagedChannel, exchanges in flight are concurrent calls")
        .codecs("bytes", "proto")
        .features("tls", "sizes", "arrivals", "mix", "deadline", "think", "fresh", "work-cpu", "work-sleep", "stream-up", "stream-down", "stream-both")
        .option(Option.choice("mode", List.of("unary", "stream"),
            "unary: one call for each exchange; stream: one bidirectional stream for each slot, with one message each way for each exchange").of("client"))
        .option(Option.choice("executor", List.of("pool", "direct"),
            "where calls are handled: pool, on the library's threads, its default; direct, on Netty's event loops").of("server").grid("pool", "direct"))
        .option(Option.choice("io", List.of("epoll", "nio"), "what event loops wait by; epoll is the library's choice where it can").grid("epoll", "nio"))
        .option(Option.bytes("window", 1 << 20, 65535, 1 << 30, "flow-control window at the beginning, which follows the bandwidth-delay product")
            .grid("64KiB", "1MiB", "8MiB"));
  }

  @Override
  public Transport.Server server(Setup setup) {
    return new GrpcServer(setup, new Messages(setup));
  }

  @Override
  public Transport.Client client(Setup setup) throws Exception {
    GrpcClient client = new GrpcClient(setup, new Messages(setup));
    client.connect();
    return client;
  }
}
