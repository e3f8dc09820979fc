// Package brpcjava pairs both ends of transport baidu-std with a real brpc program:
// brpc-java, by Maven. It builds Java and fetches its libraries, so it runs when
// it is asked for:
//
//	NETDYNO_BRPC_JAVA=1 go test ./test/brpcjava
package brpcjava

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/transport/baidu"
	"netdyno/internal/work/worker/workertest"
)

const calls = 2000

// build compiles the peer and returns the command that begins a program of it.
func build(t *testing.T) (java []string) {
	t.Helper()
	if os.Getenv("NETDYNO_BRPC_JAVA") != "1" {
		t.Skip("NETDYNO_BRPC_JAVA is not 1: brpc-java would have to be fetched by Maven")
	}
	for _, need := range []string{"mvn", "java"} {
		if _, err := exec.LookPath(need); err != nil {
			t.Fatalf("%s is not on PATH, and NETDYNO_BRPC_JAVA=1 asks for it (Debian packages maven, openjdk-17-jdk-headless)", need)
		}
	}
	to := t.TempDir()
	libraries := filepath.Join(to, "lib")
	out, err := exec.CommandContext(t.Context(), "mvn", "-q", "-B", "-Dto="+to, "package", "dependency:copy-dependencies", "-DoutputDirectory="+libraries).CombinedOutput()
	if err != nil {
		t.Fatalf("build the peer: %v\n%s", err, out)
	}
	// cglib 3.2 defines classes by a method that a JDK since 16 hides.
	return []string{"java", "--add-opens=java.base/java.lang=ALL-UNNAMED", "-cp", filepath.Join(to, "classes") + ":" + filepath.Join(libraries, "*")}
}

// serve starts the Java server and returns its address.
func serve(t *testing.T, java []string) string {
	t.Helper()
	command := exec.Command(java[0], append(java[1:], "netdyno.Server")...)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe() // its end ends the server
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := command.Wait(); err != nil {
			t.Errorf("the server: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	port, listens := strings.CutPrefix(strings.TrimSpace(line), "listening ")
	if err != nil || !listens {
		t.Fatalf("the server says %q (%v), expected its port", line, err)
	}
	return "127.0.0.1:" + port
}

// text is an exchange whose content Java knows.
func text(up, down string) contract.Exchange {
	content := func(text string) contract.Content {
		return contract.Content{Type: "netdyno.v1.Text", JSON: fmt.Sprintf(`{"text":%q}`, text)}
	}
	return contract.Exchange{Codec: "proto", Message: &contract.Structure{Name: "simple", Up: content(up), Down: content(down)}}
}

func blocks(n int64) contract.Exchange { return contract.Exchange{UpBytes: n, DownBytes: n} }

func TestBrpcJava(t *testing.T) {
	java := build(t)
	t.Run("our client and a Java server", func(t *testing.T) { callJava(t, serve(t, java)) })
	t.Run("a Java client and our server", func(t *testing.T) { callFromJava(t, java) })
}

func callJava(t *testing.T, address string) {
	t.Helper()
	length := map[string]any{"verify": "length"} // an echo, where ours have contents of their own
	attached := map[string]any{"verify": "length", "payload": "attachment"}
	for _, c := range []struct {
		name     string
		exchange contract.Exchange
		options  map[string]any
		each     int64 // per connection
	}{
		{"text", text("echo", "echo"), nil, calls / 4},
		{"100 B", blocks(100), length, calls / 4},
		{"100 B attached", blocks(100), attached, calls / 4},
		{"1 MiB", blocks(1 << 20), length, 10},
		{"1 MiB attached", blocks(1 << 20), attached, 10},
	} {
		for connection, inFlight := range map[string]int{"single": 8, "pooled": 1} {
			options := map[string]any{"connection": connection}
			for name, value := range c.options {
				options[name] = value
			}
			client := workertest.Start(t, baidu.Transport{})
			client.Setup(contract.Setup{
				Transport: "baidu-std", Role: contract.Client, Peers: []string{address}, Exchange: c.exchange, Options: options,
				Load: contract.Load{Connections: 4, InFlight: inFlight, Amount: c.each},
			})
			client.Start()
			r := client.Expect("result").Result
			t.Logf("%s, %s: %d of %d calls right", c.name, connection, r.Counts.Exchanges, 4*c.each)
			if r.Counts.Exchanges != 4*c.each || len(r.Counts.Errors) > 0 {
				t.Errorf("%s, %s: counts %+v", c.name, connection, r.Counts)
			}
		}
	}
}

func callFromJava(t *testing.T, java []string) {
	t.Helper()
	for _, c := range []struct {
		kind     string
		exchange contract.Exchange
		options  map[string]any
		up, down string
	}{
		{"simple", text("what is asked", "what is answered"), nil, "what is asked", "what is answered"},
		{"block", contract.Exchange{UpBytes: 100, DownBytes: 200}, nil, "100", "200"},
		{"block", contract.Exchange{UpBytes: 100, DownBytes: 64 << 10}, nil, "100", "65536"},
		{"attachment", contract.Exchange{UpBytes: 4096, DownBytes: 64 << 10}, map[string]any{"payload": "attachment"}, "4096", "65536"},
	} {
		for _, connection := range []string{"single", "pooled"} {
			server := workertest.Start(t, baidu.Transport{})
			ready := server.Setup(contract.Setup{
				Transport: "baidu-std", Role: contract.Server, Listen: "127.0.0.1:0", Exchange: c.exchange, Options: c.options,
			})
			_, port, _ := strings.Cut(ready.Addresses[0], ":")
			out, err := exec.CommandContext(t.Context(), java[0], append(java[1:], "netdyno.Client",
				port, connection, "4", fmt.Sprint(calls), c.kind, c.up, c.down)...).Output()
			said := strings.TrimSpace(string(out))
			t.Logf("%s of %s up and %s down, %s: %s", c.kind, c.up, c.down, connection, said)
			if want := fmt.Sprintf("%d of %[1]d calls right", calls); err != nil || said != want {
				t.Errorf("%s, %s: the client says %q (%v), want %q", c.kind, connection, said, err, want)
			}
			if counts := server.Settled(contract.Counts{}, calls); counts.Exchanges != calls || len(counts.Errors) > 0 {
				t.Errorf("%s, %s: the server counts %+v, want %d exchanges", c.kind, connection, counts, calls)
			}
		}
	}
}
