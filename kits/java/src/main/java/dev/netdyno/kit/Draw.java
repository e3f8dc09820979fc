package dev.netdyno.kit;

/** What one exchange carries. A slot has one, which next draws anew. */
public final class Draw {
  /** Sizes of its messages, in bytes. */
  public long up;
  public long down;
  /** The number of its class, and what stands for {key} in the class's path; 0 where there are none. */
  public int kind;
  public long key;
}
