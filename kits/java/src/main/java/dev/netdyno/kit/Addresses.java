package dev.netdyno.kit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Addresses as the contract writes them: host:port with a numeric host, of IPv6 in brackets. */
public final class Addresses {
  public static final int BACKLOG = 4096;

  private Addresses() {}

  /** Where a connection goes, and from which local address; null is the system's choice. */
  public record Route(InetSocketAddress peer, InetAddress source) {}

  public static InetSocketAddress parse(String key, String text) {
    int colon = text.lastIndexOf(':');
    try {
      String host = text.substring(0, Math.max(0, colon));
      boolean six = host.startsWith("[") && host.endsWith("]");
      if (six) host = host.substring(1, host.length() - 1);
      int port = Integer.parseInt(text.substring(colon + 1));
      if (colon > 0 && port >= 0 && port <= 65535 && six == host.contains(":")) {
        return new InetSocketAddress(numeric(key, host), port);
      }
    } catch (NumberFormatException e) {
      // what the text lacks is said below
    }
    throw Failure.setup("read setup." + key + ": expected ADDRESS:PORT, found \"" + text + "\"");
  }

  private static InetAddress numeric(String key, String host) {
    try {
      // No letters but an IPv6 address's, so that no name is looked up.
      if (host.matches("[0-9.]+|[0-9a-fA-F.]*:[0-9a-fA-F:.]*(%.+)?")) return InetAddress.getByName(host);
    } catch (UnknownHostException e) {
      // no address
    }
    throw Failure.setup("read setup." + key + ": expected an IP address, found \"" + host + "\"");
  }

  /** Whether all addresses of a setup are of IPv4, so that sockets may be. */
  static boolean onlyFour(Setup s) {
    List<String> all = new ArrayList<>(s.peers);
    all.add(s.listen);
    return all.stream().noneMatch(a -> a.startsWith("["));
  }

  /** What a server is to bind: listen, and the ports behind it. */
  public static List<InetSocketAddress> binds(Setup s) {
    InetSocketAddress first = parse("listen", s.listen);
    List<InetSocketAddress> all = new ArrayList<>();
    for (int i = 0; i < Math.max(1, s.listeners); i++) {
      int port = first.getPort() == 0 ? 0 : first.getPort() + i;
      if (port > 65535) throw Failure.setup("setup.listen is " + s.listen + " with " + s.listeners + " listeners: no ports are left");
      all.add(new InetSocketAddress(first.getAddress(), port));
    }
    return all;
  }

  /** How ready names the port that was bound on the host of listen. */
  public static String bound(Setup s, int port) {
    return s.listen.substring(0, s.listen.lastIndexOf(':') + 1) + port;
  }

  public static Failure bindFailure(InetSocketAddress to, Throwable why) {
    return Failure.setup("listen on " + text(to) + ": " + Failure.textOf(why));
  }

  public static String text(InetSocketAddress a) {
    String host = a.getAddress().getHostAddress();
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + a.getPort();
  }

  /** Those that a server admits. */
  public static final class Allowed {
    private final Set<InetAddress> list = new HashSet<>();

    public Allowed(Setup s) {
      for (String a : s.allow) list.add(numeric("allow", a.replaceAll("^\\[|\\]$", "")));
    }

    public boolean admits(InetAddress address) {
      return list.isEmpty() || list.contains(address);
    }
  }

  /** Where each connection of a client goes. */
  public static List<Route> routes(Setup s) {
    if (s.peers.isEmpty()) throw Failure.setup("setup.peers is empty, expected addresses to connect to");
    List<InetSocketAddress> peers = s.peers.stream().map(p -> parse("peers", p)).toList();
    List<InetAddress> sources = s.sources.stream().map(a -> numeric("sources", a.replaceAll("^\\[|\\]$", ""))).toList();
    List<Route> all = new ArrayList<>();
    for (int i = 0; i < s.load.connections; i++) {
      all.add(new Route(peers.get(i % peers.size()), sources.isEmpty() ? null : sources.get(i % sources.size())));
    }
    return all;
  }

  /** Why connection i of so many could not be made. */
  public static Failure connectFailure(int i, int of, Route to, Throwable why) {
    if (why instanceof Failure f) return f;
    StringBuilder all = new StringBuilder(); // libraries wrap what the system said
    for (Throwable t = why; t != null && all.length() < 4096; t = t.getCause()) all.append(t.getMessage()).append('\n');
    String text = all.toString();
    Failure.Kind kind = Failure.Kind.PEER;
    String hint = "";
    if (text.contains("Too many open files")) {
      kind = Failure.Kind.SETUP;
      hint = ": too few file descriptors, " + of + " connections need as many; raise `ulimit -n`";
    } else if (text.contains("Cannot assign requested address") || text.contains("Address already in use")) {
      kind = Failure.Kind.SETUP;
      hint = ": no free local port; give several source addresses or widen net.ipv4.ip_local_port_range";
    } else if (text.contains("refused")) {
      hint = ": nothing listens there";
    } else if (text.contains("timed out") || why instanceof java.net.SocketTimeoutException) {
      kind = Failure.Kind.TIMEOUT;
      hint = ": no answer came from there";
    } else if (!(why instanceof IOException)) {
      kind = Failure.kindOf(why);
    }
    return new Failure(kind, "connect " + (i + 1) + " of " + of + " to " + text(to.peer) + ": " + Failure.textOf(why) + hint);
  }
}
