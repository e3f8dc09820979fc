package main

import (
	"cmp"
	"fmt"
	"net"
	"strings"

	"netdyno/internal/record"
	"netdyno/internal/run/bench"
)

// wireSpoken is what the server speaks; of a foreign program its option says it.
func wireSpoken(catalog *bench.Catalog, w record.Worker) string {
	for _, o := range catalog.Offers() {
		if o.Name == w.Transport && o.Wire != "" {
			return o.Wire
		}
	}
	declared, _ := w.Ready.Options["wire"].(string)
	return cmp.Or(declared, "echo")
}

// drive says how programs that everybody has drive a server of this wire: one
// command a line. An unknown wire has none.
func drive(wire string, w record.Worker) []string {
	switch wire {
	case "echo":
		host, port, err := net.SplitHostPort(w.Ready.Addresses[0])
		if err != nil {
			return nil
		}
		return []string{fmt.Sprintf("head -c %d /dev/zero | nc -N %s %s | wc -c", w.Setup.Exchange.UpBytes, host, port)}
	case "http/1.1":
		return driveHTTP(w, "", "h2load --h1")
	case "h2c":
		return driveHTTP(w, " --http2-prior-knowledge", "h2load")
	case "grpc:netdyno.v1":
		return driveGRPC(w)
	}
	return nil
}

// driveHTTP has GET where nothing goes up; otherwise the body must have the
// trial's size, so it comes from a file that is made first.
func driveHTTP(w record.Worker, version, h2load string) []string {
	url := "http://" + w.Ready.Addresses[0] + "/exchange"
	if w.Setup.TLS != nil {
		url, version = "https://"+w.Ready.Addresses[0]+"/exchange", " -k" // HTTP's version is agreed on
	}
	prepare, body := requestBody(w)
	if body == "" {
		lines := []string{fmt.Sprintf("curl%s -o /dev/null %s", version, url)}
		if h2load == "h2load" {
			return append(lines, fmt.Sprintf("h2load -c 50 -n 100000 %s", url))
		}
		return append(lines, fmt.Sprintf("wrk -t 1 -c 50 -d 10s %s", url))
	}
	return []string{
		prepare,
		fmt.Sprintf("curl%s --data-binary @%s -o /dev/null %s", version, body, url),
		fmt.Sprintf("%s -c 50 -n 100000 -d %s %s", h2load, body, url),
	}
}

// requestBody returns the command that makes a request's file and its name;
// neither where nothing goes up.
func requestBody(w record.Worker) (command, file string) {
	x := w.Setup.Exchange
	size := cmp.Or(w.Ready.UpBytes, x.UpBytes)
	switch {
	case x.Message == nil && size == 0:
		return "", ""
	case x.Message == nil:
		return fmt.Sprintf("head -c %d /dev/urandom > up", size), "up"
	case x.Codec == "proto":
		return fmt.Sprintf("# FILE holds a %s of %d bytes, as protoc --encode=%s writes it", x.Message.Up.Type, size, x.Message.Up.Type), "FILE"
	case quotable(x.Message.Up.JSON):
		return fmt.Sprintf("printf %%s '%s' > up", x.Message.Up.JSON), "up"
	}
	return fmt.Sprintf("# FILE holds a %s of %d bytes in JSON", x.Message.Up.Type, size), "FILE"
}

// quotable reports whether text fits between single quotes on a line.
func quotable(text string) bool {
	const most = 300
	return len(text) <= most && !strings.ContainsAny(text, "'\n")
}

// driveGRPC asks the server's reflection for what it can do.
func driveGRPC(w record.Worker) []string {
	address, x := w.Ready.Addresses[0], w.Setup.Exchange
	security := "-plaintext"
	if w.Setup.TLS != nil {
		security = "-insecure"
	}
	lines := []string{fmt.Sprintf("grpcurl %s %s describe netdyno.v1.Exchange", security, address)}
	switch {
	case x.Message == nil && x.UpBytes == 0:
		return append(lines, fmt.Sprintf("grpcurl %s %s netdyno.v1.Exchange/Unary", security, address))
	case x.Message == nil:
		return append(lines, fmt.Sprintf(`printf '{"content":"%%s"}' $(head -c %d /dev/urandom | base64 -w 0) | grpcurl %s -d @ %s netdyno.v1.Exchange/Unary`,
			x.UpBytes, security, address))
	case x.Codec != "proto" || !quotable(x.Message.Up.JSON):
		return lines
	}
	method := map[string]string{"simple": "Simple", "complex": "Complex"}[x.Message.Name]
	return append(lines, fmt.Sprintf("grpcurl %s -d '%s' %s netdyno.v1.Exchange/%s", security, x.Message.Up.JSON, address, cmp.Or(method, "Own")))
}
