package dev.netdyno.kit;

import java.util.Collection;

/** Finds the name that somebody meant. */
final class Names {
  private Names() {}

  static String hint(String name, Collection<String> names) {
    String nearest = null;
    int least = Integer.MAX_VALUE;
    for (String n : names) {
      int d = distance(name, n);
      if (d < least) {
        least = d;
        nearest = n;
      }
    }
    if (nearest == null) return "there are none";
    return least <= Math.max(2, name.length() / 2) ? "nearest is " + nearest : "expected one of " + names;
  }

  /** The Levenshtein distance, of the first 100 characters. */
  private static int distance(String a, String b) {
    a = a.substring(0, Math.min(100, a.length()));
    int[] row = new int[b.length() + 1];
    for (int j = 0; j < row.length; j++) row[j] = j;
    for (int i = 1; i <= a.length(); i++) {
      int corner = row[0];
      row[0] = i;
      for (int j = 1; j < row.length; j++) {
        int above = row[j];
        int replaced = corner + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(replaced, 1 + Math.min(above, row[j - 1]));
        corner = above;
      }
    }
    return row[b.length()];
  }
}
