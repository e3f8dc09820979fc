package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"netdyno/test/programs"
)

// No process of a run shows a secret to others: not in its arguments, not in its environment,
// and it would not in a core.
func TestNobodySeesSecrets(t *testing.T) {
	netdyno := programs.Path(t, "netdyno")
	var cores unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &cores); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: cores.Max, Max: cores.Max}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Setrlimit(unix.RLIMIT_CORE, &cores) }()
	secrets := []string{"sesame-header", "sesame-password", "sesame-cookie", "sesame-body", "sesame-login", "sesame-taken"}
	var mu sync.Mutex
	seen, asked, pid := map[string]bool{}, 0, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if asked++; asked < 50 {
			for _, one := range processes(pid) {
				seen[shows(t, one, secrets)] = true
			}
		}
		w.Header().Set("Token", "sesame-taken")
	}))
	defer server.Close()
	c := exec.Command(netdyno, "run", server.URL, "-c", "2", "-q", "20", "-d", "sesame-body", "-H", "Authorization: Bearer {t}", "-H", "X-Key: sesame-header",
		"-usomebody:sesame-password", "--cookie=id=sesame-cookie", "--before", "curl -d sesame-login "+server.URL+"/login", "--take", "t=header:Token",
		"--duration", "2s", "--out", filepath.Join(t.TempDir(), "run"))
	c.Env = append(os.Environ(), "HOME="+t.TempDir())
	mu.Lock()
	err := c.Start()
	if err == nil {
		pid = c.Process.Pid
	}
	mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // the verdict does not matter here
	worker := func(name string) bool { return strings.HasPrefix(name, "netdyno-worker-http") }
	if asked < 10 || !seen["netdyno"] || !slices.ContainsFunc(slices.Collect(maps.Keys(seen)), worker) {
		t.Errorf("%d requests came, and processes were looked at of %v", asked, seen)
	}
}

// shows tells of each secret that a process shows, and returns the process's name.
func shows(t *testing.T, pid int, secrets []string) string {
	at := fmt.Sprintf("/proc/%d/", pid)
	exe, _ := os.Readlink(at + "exe") // a process that has ended has none, and shows nothing
	for _, file := range []string{"cmdline", "environ"} {
		text, _ := os.ReadFile(at + file)
		for _, secret := range secrets {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s of %s has %s", file, filepath.Base(exe), secret)
			}
		}
	}
	if limits, _ := os.ReadFile(at + "limits"); len(limits) > 0 {
		for line := range strings.Lines(string(limits)) {
			if rest, is := strings.CutPrefix(line, "Max core file size"); is && strings.Fields(rest)[0] != "0" {
				t.Errorf("%s writes cores: %s", filepath.Base(exe), line)
			}
		}
	}
	return filepath.Base(exe)
}

// processes are one and all that it and its children started.
func processes(pid int) []int {
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", all[i]))
		for _, task := range tasks {
			text, _ := os.ReadFile(task)
			for _, word := range strings.Fields(string(text)) {
				child, _ := strconv.Atoi(word)
				all = append(all, child)
			}
		}
	}
	return all
}
