#!/bin/sh
# Prints what the kit costs: Next and Done in ns, and arms against bare programs on the same library, interleaved.
set -eu
cd "$(dirname "$0")"
netdyno=${NETDYNO:-../../bin/netdyno}
mvn -q -B test-compile
java -cp target/classes:target/test-classes dev.netdyno.kit.Overhead
mkdir -p target/bench
javac -d target/bench -cp ../../workers/java/netty/target/worker.jar bench/*.java
here=$PWD
for arm in netty java-threads; do
  case $arm in
    netty) class=NettyBare path=$here/target/bench:$here/../../workers/java/netty/target/worker.jar options=', opt.server.io: epoll' ;;
    *) class=ThreadsBare path=$here/target/bench options='' ;;
  esac
  cat > "target/bench/$arm.yaml" <<Y
study: bare-$arm
question: What does netdyno's kit cost an arm, against a bare program?
hold: {client: asio, connections: 50, window: 2s, warmup: 3s}
vary: {arm: {bare: {server: exec, opt.server.command: "java -XX:-UsePerfData -cp $path $class {port}"}, $arm: {server: $arm$options}}}
compare: {primary: [exchanges_per_s, server.cpu_us_per_exchange]}
Y
  "$netdyno" run "target/bench/$arm.yaml" "blocks=${BLOCKS:-6}" --out "target/bench/$arm-$(date +%s)"
done
