package dev.netdyno.kit;

/** What an exchange asks for on wires of HTTP: as its class says, or as options do. It never changes. */
public final class Ask {
  public final String method;
  /** Whether the same request twice does no harm, so that it may go out again (RFC 9112, section 9.3.1). */
  public final boolean safe;
  private final String[] pieces; // of the path, between which the key stands
  private final int status; // 0 for any 2xx

  private Ask(String method, boolean content, String path, int status) {
    this.method = !method.isEmpty() ? method : content ? "POST" : "GET";
    safe = this.method.equals("GET") || this.method.equals("HEAD");
    pieces = path.split("\\{key}", -1);
    this.status = status;
  }

  /** One for each class, or the only one; path is of exchanges without a class or whose class names none. */
  public static Ask[] of(Setup s, String path) {
    require("option path", path);
    if (s.load.classes.isEmpty()) return new Ask[] {new Ask("", s.exchange.upBytes > 0, path, 200)};
    return s.load.classes.stream().map(c -> {
      if (!c.path.isEmpty()) require("class " + c.name + ": path", c.path);
      return new Ask(c.method, c.upBytes > 0, c.path.isEmpty() ? path : c.path, c.status);
    }).toArray(Ask[]::new);
  }

  private static void require(String what, String path) {
    if (path.startsWith("/")) return;
    throw Failure.setup(what + " is \"" + path.substring(0, Math.min(80, path.length())) + "\", expected a path that begins with a slash");
  }

  public String path(Draw d) {
    return pieces.length == 1 ? pieces[0] : String.join(Long.toString(d.key), pieces);
  }

  /** How long the reply to an exchange is. */
  public long down(Draw d) {
    return method.equals("HEAD") ? 0 : d.down;
  }

  /** Whether a reply may have a status. */
  public boolean takes(int got) {
    return status == 0 ? got / 100 == 2 : got == status;
  }

  public String expected() {
    return status == 0 ? "2xx" : String.valueOf(status);
  }
}
