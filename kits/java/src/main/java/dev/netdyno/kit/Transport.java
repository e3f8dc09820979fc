package dev.netdyno.kit;

import java.util.List;
import java.util.Map;

/** One named way to move data. The worker has checked the role, the features and the options of a setup. */
public interface Transport {
  Description describe();

  /** Listens and serves until the process ends. */
  Server server(Setup setup) throws Exception;

  /** Connects everything, verifies one message on each connection, and returns with no load running. */
  Client client(Setup setup) throws Exception;

  /** A listening end. Any thread may call its methods. */
  interface Server {
    /** What ready says: at least addresses. */
    Map<String, Object> ready();

    /** Sums since ready. */
    Counts counts();
  }

  /** A server that counts what its connections moved, at these addresses. */
  record Listening(List<String> addresses, Traffic.All traffic) implements Server {
    @Override
    public Map<String, Object> ready() {
      return Map.of("addresses", addresses);
    }

    @Override
    public Counts counts() {
      return traffic.counts();
    }
  }

  /** A connected end. */
  interface Client {
    /** What ready says beside connections and verified. */
    default Map<String, Object> ready() {
      return Map.of();
    }

    Load load();

    /** Issues the load until every slot is let go or close is called. A Failure means that no connection is left. */
    void run() throws Exception;

    /** Makes run return soon, leaving what is in flight unfinished. */
    void close();

    /** How many connections were made again. */
    default long redialled() {
      return 0;
    }

    /** How often a request went out again. */
    default long again() {
      return 0;
    }
  }
}
