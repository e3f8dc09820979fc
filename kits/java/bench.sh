#!/bin/sh
# Prints what the kit costs: Next and Done in ns, and each arm ÷ a bare program on the same library, in interleaved
# blocks, driven by one client. ARMS chooses among the arms; BLOCKS, WINDOW and WARMUP say how long.
set -eu
cd "$(dirname "$0")"
netdyno=${NETDYNO:-../../bin/netdyno}
arms=${ARMS:-overhead netty java-threads netty-http1 vertx-http1 grpc-java}
here=$PWD/target/bench
mkdir -p "$here"

# jar WORKER: its libraries.
jar() { echo "$PWD/../../workers/java/$1/target/worker.jar"; }

# compare ARM WORKER BARE CLIENT WIRE [OPTION-OF-THE-ARM [OPTIONS-OF-THE-CLIENT]]
compare() {
  javac -d "$here" -cp "$(jar "$2")" "bench/$3.java"
  cat >"$here/$1.yaml" <<Y
study: bare-$1
question: What does netdyno's kit cost $1, against a bare program?
hold: {client: $4, connections: 50, request: 100B, response: 100B, window: ${WINDOW:-1500ms}, warmup: ${WARMUP:-2500ms}${7:-}}
vary: {arm: {bare: {server: exec, opt.server.wire: "$5", opt.server.command: "java -XX:-UsePerfData -cp $here:$(jar "$2") $3 {port} 100"}, $1: {server: $1${6:-}}}}
compare: {primary: [exchanges_per_s, server.cpu_us_per_exchange]}
Y
  "$netdyno" run "$here/$1.yaml" "blocks=${BLOCKS:-8}" --out "$here/$1-$(date +%s)"
}

for arm in $arms; do
  case $arm in
    overhead)
      mvn -q -B test-compile
      java -cp target/classes:target/test-classes dev.netdyno.kit.Overhead ;;
    netty) compare netty netty NettyBare asio echo ', opt.server.io: epoll' ;;
    java-threads) compare java-threads java-threads ThreadsBare asio echo ;;
    netty-http1) compare netty-http1 netty HttpBare go-http1 http/1.1 ', opt.server.io: epoll' ', opt.client.verify: length' ;;
    vertx-http1) compare vertx-http1 vertx VertxBare go-http1 http/1.1 '' ', opt.client.verify: length' ;;
    grpc-java) compare grpc-java grpc-java GrpcBare go-grpc grpc:netdyno.v1 '' ', opt.client.verify: length' ;;
    *) echo "no arm $arm; there are overhead, netty, java-threads, netty-http1, vertx-http1, grpc-java" >&2; exit 2 ;;
  esac
done
