package dev.netdyno.worker;

import dev.netdyno.kit.Worker;

/** Worker netdyno-worker-netty. */
public final class NettyWorker {
  private NettyWorker() {}

  public static void main(String[] arguments) {
    new Worker("netdyno-worker-netty", "0.1.0", new NettyEcho(), new Http1()).library("netty", "4.2.18.Final").main();
  }
}
