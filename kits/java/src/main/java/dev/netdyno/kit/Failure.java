package dev.netdyno.kit;

import java.io.EOFException;
import java.io.FileInputStream;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.util.Locale;

/** A failure with the contract's kind for it (CONTRACT.md, section error). */
public class Failure extends RuntimeException {
  private static final long serialVersionUID = 1;
  private static final String[] UNITS = {"ns", "µs", "ms", "s"};

  /** Kinds of errors, in the order in which they are counted. */
  public enum Kind {
    PEER("peer"),
    TIMEOUT("timeout"),
    INVALID("invalid"),
    SETUP("setup"),
    UNSUPPORTED("unsupported"),
    BUG("bug");

    public final String text;

    Kind(String text) {
      this.text = text;
    }
  }

  public final Kind kind;
  private final String reason;

  public Failure(Kind kind, String text) {
    this(kind, text, text);
  }

  /** With a reason that is the same for equal causes, where the text has more. */
  public Failure(Kind kind, String text, String reason) {
    super(text);
    this.kind = kind;
    this.reason = reason;
  }

  /** What was thrown; where every file descriptor is open, whatever could not be done by that, a Failure of kind setup. */
  static Throwable explained(Throwable t) {
    if (t instanceof Failure) return t;
    try (FileInputStream unused = new FileInputStream("/dev/null")) {
      return t;
    } catch (IOException e) {
      return setup("too few file descriptors: all of them are open; raise `ulimit -n` (" + textOf(t) + ")");
    }
  }

  public static Failure setup(String text) {
    return new Failure(Kind.SETUP, text);
  }

  public static Failure unsupported(String text) {
    return new Failure(Kind.UNSUPPORTED, text);
  }

  public static Failure invalid(String text) {
    return new Failure(Kind.INVALID, text);
  }

  public static Failure peer(String text) {
    return new Failure(Kind.PEER, text);
  }

  /** Why an exchange failed whose class's deadline has passed. */
  public static Failure late(long deadlineNs) {
    double amount = deadlineNs;
    int unit = 0;
    for (; amount >= 999.5 && unit < UNITS.length - 1; unit++) amount /= 1000;
    int places = amount < 9.995 ? 2 : amount < 99.95 ? 1 : 0;
    String text = String.format(Locale.ROOT, "%." + (unit == 0 ? 0 : places) + "f %s", amount, UNITS[unit]);
    return new Failure(Kind.TIMEOUT, "no reply within the deadline of " + text);
  }

  /** The contract's kind of what was thrown: peer unless it says otherwise. */
  public static Kind kindOf(Throwable t) {
    if (t instanceof Failure f) return f.kind;
    if (t instanceof SocketTimeoutException) return Kind.TIMEOUT;
    return t instanceof IOException || t.getCause() instanceof IOException ? Kind.PEER : Kind.BUG;
  }

  /** Why an exchange failed, in words that are the same for the same cause. */
  public static String reasonOf(Throwable t) {
    if (t instanceof Failure f) return f.reason;
    String text = String.valueOf(t.getMessage());
    if (text.contains("reset") || text.contains("Broken pipe")) return "connection reset";
    if (text.contains("refused")) return "connection refused";
    if (t instanceof EOFException || text.contains("closed") || text.contains("Closed")) return "connection closed";
    if (t instanceof NoRouteToHostException) return "no route to the host";
    if (t instanceof SocketTimeoutException || text.contains("timed out")) return "timed out";
    return textOf(t);
  }

  /** The text of what was thrown, with its class where the text says nothing by itself. */
  public static String textOf(Throwable t) {
    if (t instanceof Failure && t.getMessage() != null) return t.getMessage();
    if ((t instanceof ConnectException || t instanceof BindException) && t.getMessage() != null) {
      return t.getMessage();
    }
    return t.getMessage() == null ? t.getClass().getSimpleName() : t.getClass().getSimpleName() + ": " + t.getMessage();
  }
}
