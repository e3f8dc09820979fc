#!/bin/sh
# A netdyno worker in Java: this text, and behind it the jar that it runs. JVM options: NETDYNO_JAVA_OPTS;
# another runtime: NETDYNO_JAVA (its java, or the directory that has bin/java) or JAVA_HOME.
java=${NETDYNO_JAVA:-${JAVA_HOME:-java}}
if [ -d "$java" ]; then java=$java/bin/java; fi
if ! command -v "$java" >/dev/null 2>&1; then
  echo "no Java runtime of 17 or later ($java): apt-get install default-jre-headless" >&2
  exit 127
fi
# A runtime's file "release" names its version; asking java itself would take a tenth of a second.
home=$(readlink -f "$(command -v "$java")")
home=${home%/bin/java}
if [ -r "$home/release" ]; then
  while IFS='"' read -r key version rest; do
    [ "$key" = JAVA_VERSION= ] && version=${version#1.} && if [ "${version%%[!0-9]*}" -lt 17 ]; then
      echo "no Java runtime of 17 or later ($java is Java $version): apt-get install default-jre-headless" >&2
      exit 127
    fi
  done <"$home/release"
fi
exec "$java" -XX:+DisplayVMOutputToStderr -XX:-UsePerfData $NETDYNO_JAVA_OPTS -jar "$0" "$@"
exit
