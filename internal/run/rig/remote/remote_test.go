package remote

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/run/rig"
)

// here is a host that a shell of this host reaches, as ssh reaches another's.
func here(t *testing.T, name string) rig.Host {
	t.Helper()
	tmp := t.TempDir()
	return rig.Host{Name: name, Shell: true, Prefix: []string{
		"sh", "-c", `TMPDIR=$1; export TMPDIR; shift; eval "$*"`, "sh", tmp,
	}}
}

// temporary is where such a host keeps what it is brought.
func temporary(h rig.Host) string { return h.Prefix[len(h.Prefix)-1] }

// program is a file to be delivered.
func program(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "it's a program")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func contents(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestDeliveredFilesRunAndGo(t *testing.T) {
	h := here(t, "a")
	file := program(t, "#!/bin/sh\necho here: \"$1\"\n")
	r := New("test", []rig.Host{h}, false)
	if err := r.Deploy(t.Context(), []string{file}); err != nil {
		t.Fatal(err)
	}
	got, err := r.Hosts()[0].Ask(t.Context(), nil, file, "a word; with 'quotes'")
	if err != nil || string(got) != "here: a word; with 'quotes'\n" {
		t.Errorf("the delivered program says %q, %v", got, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if left := contents(t, temporary(h)); len(left) > 0 {
		t.Errorf("after the end there are still %v", left)
	}
}

// A host that has lost its files gets them again. Their paths change, also in copies of
// the Host.
func TestMendBringsBackWhatIsGone(t *testing.T) {
	lost, kept := here(t, "lost"), here(t, "kept")
	file := program(t, "#!/bin/sh\necho runs\n")
	r := New("test", []rig.Host{lost, kept}, false)
	if err := r.Deploy(t.Context(), []string{file}); err != nil {
		t.Fatal(err)
	}
	copies := r.Hosts()
	before := []string{copies[0].Files[file], copies[1].Files[file]}
	for _, name := range contents(t, temporary(lost)) {
		if err := os.RemoveAll(filepath.Join(temporary(lost), name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := copies[0].Ask(t.Context(), nil, file); err == nil {
		t.Error("a removed program runs")
	}
	if err := r.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, h := range copies {
		if got, err := h.Ask(t.Context(), nil, file); string(got) != "runs\n" {
			t.Errorf("the program at %s says %q, %v", h.Name, got, err)
		}
	}
	if copies[0].Files[file] == before[0] || copies[1].Files[file] != before[1] {
		t.Errorf("the programs lie at %s and %s, before at %v; want the lost one elsewhere", copies[0].Files[file], copies[1].Files[file], before)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	for _, h := range copies {
		if left := contents(t, temporary(h)); len(left) > 0 {
			t.Errorf("at %s there are still %v", h.Name, left)
		}
	}
}

// A line may be cut at any moment, also before the host has said a word: what
// it made it removes although nobody hears it.
func TestNothingStaysThatNobodyHears(t *testing.T) {
	for name, arguments := range map[string][]string{
		"the directory's name": {keep},
		"a complaint":          {put, "sh", "cache/0/program", "another sum"},
	} {
		t.Run(name, func(t *testing.T) {
			tmp := t.TempDir()
			if err := os.Mkdir(filepath.Join(tmp, "cache"), 0o700); err != nil {
				t.Fatal(err)
			}
			deaf, words, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			c := exec.Command("sh", append([]string{"-c"}, arguments...)...)
			c.Dir, c.Stdout, c.Stderr = tmp, words, words
			c.Env = append(os.Environ(), "TMPDIR="+tmp)
			if err := errors.Join(deaf.Close(), c.Start(), words.Close()); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := c.Wait(); !errors.As(err, &exit) || !exit.Exited() {
				t.Errorf("it ended with %v, want a status of its own", err)
			}
			for _, dir := range []string{"netdyno-*", "cache/*/*"} {
				if left, err := filepath.Glob(filepath.Join(tmp, dir)); err != nil || len(left) > 0 {
					t.Errorf("there are still %v, %v", left, err)
				}
			}
		})
	}
}

// What cannot be reached or used says where, and what was seen.
func TestRefusals(t *testing.T) {
	file := program(t, "")
	for name, c := range map[string]struct {
		prefix []string
		says   []string
	}{
		"no such launcher":   {[]string{"/no/launcher"}, []string{"reach x", "/no/launcher"}},
		"a launcher's words": {[]string{"sh", "-c", "echo it is broken >&2; exit 7", "sh"}, []string{"reach x", "it is broken", "status 7"}},
		"a greeting":         {[]string{"sh", "-c", `echo Welcome; exec "$@"`, "sh"}, []string{"reach x", `"Welcome"`, "expected the path of a directory", "at login"}},
		"no room":            {[]string{"sh", "-c", `exec env PATH=/nowhere /bin/sh -c "$3" "$4" "$5"`, "sh"}, []string{"reach x", "no directory for temporary files that can be written", "set TMPDIR"}},
		"no sha256sum":       {[]string{"sh", "-c", `case $3 in *sha256sum*) exec env PATH=/nowhere /bin/sh -c "$3" "$4" "$5" "$6";; esac; exec "$@"`, "sh"}, []string{"copy it's a program to x", "sha256sum is missing"}},
		"a cut transfer":     {[]string{"sh", "-c", `case $3 in *sha256sum*) printf cut | "$@"; exit;; esac; exec "$@"`, "sh"}, []string{"copy it's a program to x", "damaged or incomplete"}},
	} {
		t.Run(name, func(t *testing.T) {
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			r := New("test", []rig.Host{{Name: "x", Prefix: c.prefix}}, false)
			err := r.Deploy(t.Context(), []string{file})
			for _, part := range c.says {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("the error is %v, want in it %q", err, part)
				}
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			if left := contents(t, tmp); len(left) > 0 {
				t.Errorf("there are still %v", left)
			}
		})
	}
}

// A host may say anything of where its directory is; only what bears our name is
// removed by a command of ours.
func TestOnlyOurDirectoryIsRemoved(t *testing.T) {
	dir := t.TempDir()
	h := rig.Host{Name: "liar", Prefix: []string{"sh", "-c", `case $1 in rm) exec "$@";; esac; echo ` + dir + `; exit 3`, "sh"}}
	r := New("test", []rig.Host{h}, false)
	if err := r.Deploy(t.Context(), []string{program(t, "")}); err == nil {
		t.Error("a file was delivered to a place that keeps nothing")
	}
	_ = r.Close() // whatever it says of this host
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}
