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
	r := New("test", []rig.Host{h}, Options{})
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

// A cache keeps the files of a content, mends a damaged one, and stays.
func TestCache(t *testing.T) {
	h := here(t, "a")
	cache := filepath.Join(t.TempDir(), "cache")
	file := program(t, "#!/bin/sh\necho whole\n")
	for _, damage := range []bool{false, false, true} {
		r := New("test", []rig.Host{h}, Options{Cache: cache})
		if damage {
			stored, err := filepath.Glob(filepath.Join(cache, "*", "*"))
			if err != nil || len(stored) != 1 {
				t.Fatalf("the cache has %v, %v, want one file", stored, err)
			}
			if err := os.WriteFile(stored[0], []byte("#!/bin/sh\necho damaged\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Deploy(t.Context(), []string{file}); err != nil {
			t.Fatal(err)
		}
		if got, err := r.Hosts()[0].Ask(t.Context(), nil, file); string(got) != "whole\n" {
			t.Errorf("the program says %q, %v, want whole", got, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := contents(t, cache); len(got) != 1 {
		t.Errorf("the cache has %v, want one content", got)
	}
}

// A cache that somebody else could write holds whatever they like.
func TestACacheOfOthersIsRefused(t *testing.T) {
	file := program(t, "#!/bin/sh\necho whole\n")
	for name, c := range map[string]struct {
		own, above os.FileMode
		owner      int
		says       string
	}{
		"our own":                            {0o700, 0o755, 0, ""},
		"readable":                           {0o755, 0o755, 0, ""},
		"in a directory like /tmp":           {0o700, 0o777 | os.ModeSticky, 0, ""},
		"writable by all":                    {0o777, 0o755, 0, "others can write"},
		"writable by all, sticky":            {0o777 | os.ModeSticky, 0o755, 0, "others can write"},
		"writable by a group":                {0o770, 0o755, 0, "others can write"},
		"in a directory writable by all":     {0o700, 0o777, 0, "others can write"},
		"in a directory writable by a group": {0o700, 0o775, 0, "others can write"},
		"of another user":                    {0o755, 0o755, 65533, "belongs to user 65533"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.owner != 0 && os.Geteuid() != 0 {
				t.Skip("only root gives a directory away")
			}
			above := filepath.Join(t.TempDir(), "above")
			cache := filepath.Join(above, "cache")
			err := errors.Join(os.MkdirAll(cache, 0o700), os.Chmod(cache, c.own), os.Chmod(above, c.above))
			if c.owner != 0 {
				err = errors.Join(err, os.Chown(cache, c.owner, -1))
			}
			if err != nil {
				t.Fatal(err)
			}
			link := filepath.Join(t.TempDir(), "link") // where it leads to is looked at
			if err := os.Symlink(cache, link); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{cache, link} {
				r := New("test", []rig.Host{here(t, "a")}, Options{Cache: path})
				err = r.Deploy(t.Context(), []string{file})
				switch {
				case c.says == "" && err != nil:
					t.Error(err)
				case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "may be left")):
					t.Errorf("error %v, want in it %q", err, c.says)
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
				if left, err := filepath.Glob(filepath.Join(cache, ourName+"*")); err != nil || len(left) > 0 {
					t.Errorf("there are still %v, %v", left, err)
				}
			}
		})
	}
}

// Whoever changes a cache's file, and whenever: what runs is what was compared.
func TestWhatRunsIsWhatWasCompared(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	file := program(t, "#!/bin/sh\necho whole\n")
	deliver := func() (*Rig, error) {
		r := New("test", []rig.Host{here(t, "a")}, Options{Cache: cache})
		return r, r.Deploy(t.Context(), []string{file})
	}
	r, err := deliver()
	if err = errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	stored, err := filepath.Glob(filepath.Join(cache, "*", "*"))
	if err != nil || len(stored) != 1 {
		t.Fatalf("the cache has %v, %v, want one file", stored, err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { // an intruder, who changes the program all the time
		defer close(stopped)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			text, beside := []string{"whole", "evil!"}[n%2], stored[0]+".intruder"
			_ = errors.Join(os.WriteFile(beside, []byte("#!/bin/sh\necho "+text+"\n"), 0o755), os.Rename(beside, stored[0])) // the next time, then
		}
	}()
	for delivered, tries := 0, 0; delivered < 10; tries++ {
		r, err := deliver()
		if err != nil {
			if tries == 100 || !strings.Contains(err.Error(), "replaced while being copied") { // as cp refuses what changes under it
				t.Fatal(err)
			}
			continue
		}
		delivered++
		if got, err := r.Hosts()[0].Ask(t.Context(), nil, file); string(got) != "whole\n" {
			t.Errorf("the program says %q, %v, want whole", got, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	<-stopped
}

// A host that has lost its files gets them again. Their paths change, also in copies of
// the Host.
func TestMendBringsBackWhatIsGone(t *testing.T) {
	lost, kept := here(t, "lost"), here(t, "kept")
	file := program(t, "#!/bin/sh\necho runs\n")
	r := New("test", []rig.Host{lost, kept}, Options{})
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
		"the directory's name": {keep, "sh", ""},
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
			r := New("test", []rig.Host{{Name: "x", Prefix: c.prefix}}, Options{})
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
	r := New("test", []rig.Host{h}, Options{})
	if err := r.Deploy(t.Context(), []string{program(t, "")}); err == nil {
		t.Error("a file was delivered to a place that keeps nothing")
	}
	_ = r.Close() // whatever it says of this host
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}
