package dev.netdyno.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The README's worker: it is compiled, packed, and holds the conversations of contract/vectors. */
class ReadmeTest {
  private static final Path READY = Path.of("target/readme");
  private static final Path JAR = READY.resolve("mine.jar");

  @BeforeAll
  static void pack() throws Exception {
    String readme = Files.readString(Path.of("README.md"));
    String source = readme.substring(readme.indexOf("```java\n") + 8);
    source = source.substring(0, source.indexOf("```"));
    assertTrue(source.lines().count() <= 80, "the README's worker has " + source.lines().count() + " lines");
    Vectors.write(READY.resolve("Mine.java"), source);
    int status = ToolProvider.getSystemJavaCompiler()
        .run(null, null, null, "--release", "17", "-cp", "target/classes", "-d", READY + "/classes", READY + "/Mine.java");
    assertEquals(0, status);
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, "Mine");
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(JAR), manifest)) {
      for (Path from : List.of(READY.resolve("classes"), Path.of("target/classes"))) {
        try (Stream<Path> files = Files.walk(from)) {
          for (Path f : files.filter(p -> p.toString().endsWith(".class")).toList()) {
            out.putNextEntry(new JarEntry(from.relativize(f).toString()));
            out.write(Files.readAllBytes(f));
          }
        }
      }
    }
  }

  private static Process start() throws Exception {
    return new ProcessBuilder(ProcessHandle.current().info().command().orElse("java"), "-jar", JAR.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  private static void say(Process p, String line) throws Exception {
    OutputStream out = p.getOutputStream();
    try {
      out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
      out.flush();
    } catch (java.io.IOException e) {
      // it has ended, which the next step sees
    }
  }

  private static String json(String name, Map<String, Object> body) {
    StringBuilder text = new StringBuilder();
    Json.write(text, Map.of(name, body));
    return text.toString();
  }

  private static Map<String, Object> setup(Fields step, String peer) {
    Map<String, Object> s = new LinkedHashMap<>(Map.of("trial", "vector", "seed", 1, "role", step.text("setup"),
        "transport", step.has("transport") ? step.text("transport") : "mine", "exchange", Map.of("up_bytes", 64, "down_bytes", 64)));
    boolean server = step.text("setup").equals("server");
    s.put("load", step.has("load") ? step.map("load") : Map.of("connections", server ? 0 : 2));
    s.put("options", step.map("options"));
    if (server) s.put("listen", "127.0.0.1:0");
    else s.put("peers", List.of(step.has("peer") ? step.text("peer") : peer));
    return s;
  }

  /** The next message but ticks; null at the end. */
  private static Lines.Message next(Lines lines, boolean ticks) throws Exception {
    Lines.Message m = lines.read();
    while (m != null && !ticks && "tick".equals(m.name())) m = lines.read();
    return m;
  }

  private static void contains(String where, Object want, Object got) {
    if (want instanceof Map<?, ?> map) {
      map.forEach((k, v) -> contains(where + "." + k, v, got == null ? null : ((Map<?, ?>) got).get(k)));
    } else if (!(got == null && (want.equals(0L) || want.equals(false)))) {
      assertEquals(want, got, where);
    }
  }

  @Test
  void conversations() throws Exception {
    Process server = start();
    Lines answers = new Lines(server.getInputStream());
    answers.read();
    say(server, json("setup", setup(new Fields(Map.of("setup", "server"), ""), "")));
    String peer = (String) new Fields(answers.read().body(), "").list("addresses").get(0);
    for (Fields v : Vectors.list("conversation")) converse(v, peer);
    server.getOutputStream().close();
    assertTrue(server.waitFor(2, TimeUnit.SECONDS));
  }

  private static void converse(Fields v, String peer) throws Exception {
    Process p = start();
    InputStream in = p.getInputStream();
    Lines lines = new Lines(in);
    boolean ended = false;
    for (Fields step : Vectors.fields(v.list("steps"))) {
      if (step.has("expect")) {
        Lines.Message m = next(lines, step.text("expect").equals("tick"));
        assertNotNull(m, v.text("name"));
        assertEquals(step.text("expect"), m.name(), v.text("name") + ": " + m);
        contains(v.text("name"), step.map("has"), Map.of(m.name(), m.body()));
        if (step.text("expect").equals("error")) assertEquals(step.truth("fatal"), new Fields(m.body(), "").truth("fatal"));
      } else if (step.has("setup")) {
        say(p, json("setup", setup(step, peer)));
      } else if (step.has("send")) {
        StringBuilder text = new StringBuilder();
        Json.write(text, step.map("send"));
        say(p, text.toString());
      } else if (step.has("eof")) {
        try {
          p.getOutputStream().close();
        } catch (java.io.IOException e) {
          // it has ended already
        }
        assertTrue(p.waitFor(5, TimeUnit.SECONDS), v.text("name") + ": no end after EOF");
        ended = true;
      } else if (step.has("none")) {
        for (Lines.Message m = lines.read(); m != null; m = lines.read()) assertTrue(!step.text("none").equals(m.name()));
      } else {
        say(p, Vectors.text(raw(step)));
      }
    }
    if (!ended) p.destroyForcibly();
    if (!v.has("exit")) assertEquals(0, p.waitFor(), v.text("name"));
  }

  /** What a command writes to stdout and stderr together, with these variables, before it ends. */
  private static String said(int status, Map<String, String> environment, String... argv) throws Exception {
    ProcessBuilder b = new ProcessBuilder(argv).redirectErrorStream(true);
    b.environment().putAll(environment);
    Process p = b.start();
    String text = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(status, p.waitFor(), text);
    return text;
  }

  @Test
  void aMissingToolchainIsOneLineWithItsCure() throws Exception {
    Path few = Files.createDirectories(READY.resolve("few"));
    for (String program : List.of("sh", "make", "awk")) {
      Path link = few.resolve(program);
      Files.deleteIfExists(link);
      for (String at : List.of("/bin/", "/usr/bin/")) {
        if (!Files.exists(link) && Files.exists(Path.of(at + program))) Files.createSymbolicLink(link, Path.of(at + program));
      }
    }
    String text = said(0, Map.of("PATH", few.toAbsolutePath().toString(), "MAKEFLAGS", ""), few.resolve("make").toString(), "--no-print-directory", "build");
    assertTrue(text.matches("absent: .*apt-get install openjdk-17-jdk-headless.*\n"), text);
  }

  @Test
  void aMissingOrOldRuntimeIsOneLineWithItsCure() throws Exception {
    Path old = READY.resolve("jre 8");
    Vectors.write(old.resolve("bin/java"), "#!/bin/sh\nexit 3\n");
    assertTrue(old.resolve("bin/java").toFile().setExecutable(true));
    Vectors.write(old.resolve("release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"1.8.0_402\"\n");
    for (Path java : List.of(READY.resolve("none"), old)) {
      String text = said(127, Map.of("NETDYNO_JAVA", java.toAbsolutePath().toString()), "sh", "launcher.sh");
      assertTrue(text.matches("no Java runtime of 17 or later .*apt-get install default-jre-headless\n"), text);
    }
    Vectors.write(old.resolve("release"), "JAVA_VERSION=\"17\"\n");
    assertEquals("", said(3, Map.of("NETDYNO_JAVA", old.toAbsolutePath().toString()), "sh", "launcher.sh"));
  }

  private static Object raw(Fields step) {
    try {
      return step.text("raw");
    } catch (Failure e) {
      return step.map("raw");
    }
  }
}
