package dev.netdyno.kit;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What hello says of a transport (CONTRACT.md, section hello). */
public final class Description {
  public final String name;
  final Map<String, Object> fields = new LinkedHashMap<>();
  final List<String> roles;
  final Set<String> features = new LinkedHashSet<>();
  final List<Option> options = new ArrayList<>();

  /** A transport with both roles, codec bytes, and whole messages. */
  public Description(String name, String wire, String doc) {
    this(name, wire, doc, List.of("server", "client"));
  }

  public Description(String name, String wire, String doc, List<String> roles) {
    this.name = name;
    this.roles = roles;
    fields.put("name", name);
    fields.put("doc", doc);
    fields.put("wire", wire);
    fields.put("roles", roles);
    fields.put("delivery", "message");
  }

  public Description delivery(String delivery) {
    fields.put("delivery", delivery);
    return this;
  }

  public Description codecs(String... codecs) {
    fields.put("codecs", List.of(codecs));
    return this;
  }

  public Description features(String... more) {
    features.addAll(List.of(more));
    return this;
  }

  public Description option(Option option) {
    options.add(option);
    return this;
  }

  Map<String, Object> toMap() {
    Map<String, Object> m = new LinkedHashMap<>(fields);
    m.put("features", features);
    List<Object> all = new ArrayList<>();
    for (Option o : options) all.add(o.toMap());
    m.put("options", all);
    return m;
  }

  /** Whether a reply is as long as its request. */
  boolean echoes() {
    return fields.get("wire").equals("echo");
  }

  /** Throws a Failure of kind unsupported where a setup asks for what the transport does not declare. */
  void able(Setup s) {
    if (!roles.contains(s.role)) throw Failure.unsupported("transport " + name + " has no role \"" + s.role + "\", it has " + roles);
    need(s.tls != null, "setup.tls is given", "tls");
    need(s.load.fresh, "load.fresh is true", "fresh");
    need(s.exchange.upSizes.length + s.exchange.downSizes.length > 0, "exchange.up_sizes or down_sizes is given", "sizes");
    need(s.load.phases.length > 0 || s.load.arrival.equals("drawn"), "load.phases is given, or load.arrival drawn", "arrivals");
    need(!s.load.classes.isEmpty(), "load.classes is given", "mix");
    need(s.load.deadlines(), "a class has a deadline", "deadline");
    need(s.load.thinks(), "a class has think_ns", "think");
    need(s.load.classes.stream().anyMatch(c -> c.method.startsWith("/")), "the method of a class is of gRPC", "methods");
    need(s.load.trace, "load.trace is given", "trace");
    need(s.work != null && s.isServer(), "setup.work is given", s.work == null ? "" : "work-" + s.work.by);
    need(!s.exchange.stream.isEmpty(), "exchange.stream is \"" + s.exchange.stream + "\"", "stream-" + s.exchange.stream);
    if (!s.exchange.plain() && !(fields.get("codecs") instanceof List<?> l && l.contains(s.exchange.codec))) {
      throw Failure.unsupported("no codec \"" + s.exchange.codec + "\" in transport " + name + ", it has "
          + fields.getOrDefault("codecs", List.of("bytes")));
    }
  }

  private void need(boolean asked, String by, String feature) {
    if (asked && !features.contains(feature)) {
      throw Failure.unsupported(by + ": transport " + name + " does not have feature " + feature + ", it has " + features);
    }
  }

  /** Checks given options and fills in defaults. */
  Map<String, Object> complete(String role, Map<String, Object> given) {
    Map<String, Object> out = new LinkedHashMap<>();
    List<String> names = new ArrayList<>();
    for (Option o : options) {
      if (!o.roles.isEmpty() && !o.roles.contains(role)) continue;
      names.add(o.name);
      Object v = given.get(o.name);
      try {
        out.put(o.name, o.convert(v == null ? o.standard : v));
      } catch (IllegalArgumentException e) {
        throw Failure.setup("option " + o.name + " of " + name + ": " + e.getMessage());
      }
    }
    for (String k : given.keySet()) {
      if (!out.containsKey(k)) {
        throw Failure.setup("option \"" + k + "\": " + name + " as " + role + " has none of that name; " + Names.hint(k, names));
      }
    }
    return out;
  }
}
