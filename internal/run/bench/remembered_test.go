package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A program is asked once, until its file or the interpreter that runs it may be another; one
// that failed is asked each time.
func TestAHelloIsAskedOnce(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	asked := filepath.Join(dir, "asked")
	worker := filepath.Join(dir, "netdyno-worker-slow")
	write := func(name, delay, end string) {
		t.Helper()
		text := fmt.Sprintf("#!/bin/sh\necho x >>'%s'\nsleep %s\n%s\ncat >/dev/null\n", asked, delay, end)
		if err := os.WriteFile(worker, []byte(strings.ReplaceAll(text, "NAME", name)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const says = `echo '{"hello":{"contract":1,"worker":"NAME","version":"1","transports":[]}}'`
	times := func() int {
		text, err := os.ReadFile(asked)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "x")
	}
	introduced := func(want string, count int) {
		t.Helper()
		c := Discover(t.Context(), []string{dir})
		if len(c.Programs) != 1 || c.Programs[0].Hello.Worker != want || times() != count {
			t.Errorf("%+v after %d questions, want worker %s after %d", c, times(), want, count)
		}
	}
	write("first", "0", says)
	introduced("first", 1)
	introduced("first", 1)
	write("second", "0", says)
	introduced("second", 2)
	t.Setenv("JAVA_HOME", "/opt/other")
	introduced("second", 3)
	introduced("second", 3)
	write("third", "0", "echo broken; exit 1")
	for range 2 {
		if c := Discover(t.Context(), []string{dir}); len(c.Absent) != 1 {
			t.Errorf("a broken one: %+v", c)
		}
	}
	if times() != 5 {
		t.Errorf("asked %d times, want 5: a failure is not remembered", times())
	}
	write("fourth", "0", says)
	introduced("fourth", 6)
	kept, err := filepath.Glob(filepath.Join(dir, "cache", "netdyno", "hellos", "*"))
	if err != nil || len(kept) == 0 {
		t.Fatal(kept, err)
	}
	for _, place := range kept { // what is damaged is asked anew
		if err := os.WriteFile(place, []byte("{\"hello\":"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	introduced("fourth", 7)
	for _, place := range kept { // what is too old to be recalled goes when another is kept
		old := time.Now().Add(-2 * rememberedFor)
		if err := os.Chtimes(place, old, old); err != nil {
			t.Fatal(err)
		}
	}
	write("fifth", "0", says)
	introduced("fifth", 8)
	if left, err := filepath.Glob(filepath.Join(dir, "cache", "netdyno", "hellos", "*")); err != nil || len(left) != 1 {
		t.Errorf("%d hellos are kept, want that of the fifth alone (%v)", len(left), err)
	}
}
