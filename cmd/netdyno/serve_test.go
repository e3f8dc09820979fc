package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

var servedAt = regexp.MustCompile(`^serve   (http://\S+/)(?:\?token=(\S+))?\n$`)

// startServe starts netdyno serve over a run that goes on, and returns where it is.
func startServe(t *testing.T, argv ...string) (c *exec.Cmd, address, token string) {
	t.Helper()
	dir := t.TempDir()
	header, trials, _ := synthetic.Run(synthetic.Options{Blocks: 1, Bare: true})
	if err := record.WriteTrials(filepath.Join(dir, record.TrialsFile), trials); err != nil {
		t.Fatal(err)
	}
	f, err := record.Create(filepath.Join(dir, record.RecordsFile), header)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	c = exec.CommandContext(t.Context(), filepath.Join(installed(t), "netdyno"), append([]string{"serve", dir}, argv...)...)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() }) // it has ended, as a rule
	line, err := bufio.NewReader(out).ReadString('\n')
	found := servedAt.FindStringSubmatch(line)
	if err != nil || found == nil {
		t.Fatalf("it printed %q, %v", line, err)
	}
	return c, found[1] + "runs/" + filepath.Base(dir) + "/", found[2]
}

// asked returns the status of an answer and its body, which is closed with the test.
func asked(t *testing.T, address, token string) (status int, body io.Reader) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer.StatusCode, answer.Body
}

// A server ends in order while a browser follows a run, and another one cannot take
// its port.
func TestServeEndsInOrder(t *testing.T) {
	t.Parallel()
	c, address, token := startServe(t)
	if token != "" {
		t.Errorf("on loopback it made up the token %q", token)
	}
	status, page := asked(t, address, "")
	if line, err := bufio.NewReader(page).ReadString('\n'); err != nil || status != http.StatusOK {
		t.Fatalf("status %d, %q, %v", status, line, err)
	}
	host := strings.Split(address, "/")[2]
	second, err := exec.CommandContext(t.Context(), filepath.Join(installed(t), "netdyno"), "serve", t.TempDir(), "--listen", host).CombinedOutput()
	if err == nil || !strings.Contains(string(second), "address already in use") {
		t.Errorf("a second server on the port: %v: %s", err, second)
	}
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("after Ctrl-C: %v", err)
	}
}

// Where others can reach it, it asks for a token.
func TestServeElsewhereNeedsAToken(t *testing.T) {
	t.Parallel()
	c, address, token := startServe(t, "--listen", "0.0.0.0:0")
	if len(token) < 16 {
		t.Fatalf("the token is %q", token)
	}
	_, port, err := net.SplitHostPort(strings.Split(address, "/")[2])
	if err != nil {
		t.Fatal(err)
	}
	here := "http://127.0.0.1:" + port + "/"
	for given, want := range map[string]int{"": 401, token + "x": 401, token: 200} {
		if got, _ := asked(t, here, given); got != want {
			t.Errorf("with token %q: status %d, want %d", given, got, want)
		}
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}
