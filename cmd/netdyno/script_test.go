package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"netdyno/test/programs"
	"netdyno/test/trials"
)

// python returns the directory of the interpreter itself: a shim in front of
// it may want more of the environment than a script has.
var python = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	return filepath.Dir(strings.TrimSpace(string(out))), err
})

// TestScripts runs the command line as a user types it. Each script is a
// family: nothing that it started may outlive it.
func TestScripts(t *testing.T) {
	programs.Whole(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			directory, err := python()
			if err != nil {
				return err
			}
			t := e.T().(testing.TB)
			mine := newFamily(t)
			e.Setenv("PATH", installed(t)+string(os.PathListSeparator)+directory+string(os.PathListSeparator)+e.Getenv("PATH"))
			server, err := filepath.Abs("testdata/server.py")
			if err != nil {
				return err
			}
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, ".cache"))
			e.Vars = append(e.Vars, string(mine), "SERVER="+server, "LC_ALL=C.UTF-8")
			e.Defer(func() { mine.mustEnd(t) })
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "root" {
				return false, fmt.Errorf("unknown condition %s", name)
			}
			return os.Geteuid() == 0, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "website": website, "grpcsite": grpcsite},
	})
}

// exits runs a command that must end with the given status: exits 2 netdyno run.
// A run of which a busy machine disturbed a trial is made again, from what it went on with.
func exits(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND [ARGS…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	directory, goesOn := runOf(args[1:])
	before := ts.MkAbs(".before")
	if _, err := os.Stat(ts.MkAbs(directory)); err != nil {
		goesOn = false // of what is not there
	}
	if goesOn {
		ts.Check(errors.Join(os.RemoveAll(before), os.CopyFS(before, os.DirFS(ts.MkAbs(directory)))))
	}
	trials.Repeat(func() bool {
		got = ended(ts, args[1:])
		said := ts.ReadFile("stdout")
		spoiled := strings.Contains(said, " invalid") || strings.Contains(said, " without rates") || strings.Contains(said, "growing queue")
		if directory == "" || !spoiled || got == want && !trials.Disturbed(said) {
			return false
		}
		ts.Logf("a trial stood still on a busy machine: once more")
		ts.Check(os.RemoveAll(ts.MkAbs(directory)))
		if goesOn {
			ts.Check(os.CopyFS(ts.MkAbs(directory), os.DirFS(before)))
		}
		return true
	})
	if got != want {
		ts.Fatalf("%s ended with status %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// ended runs a command and returns the status that it ended with.
func ended(ts *testscript.TestScript, args []string) int {
	err := ts.Exec(args[0], args[1:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	ts.Check(err)
	return 0
}

// runOf returns the directory of the run that a command begins or goes on with, or "".
func runOf(args []string) (directory string, goesOn bool) {
	if i := slices.Index(args, "--out"); i >= 0 && i+1 < len(args) {
		return args[i+1], slices.Contains(args, "--resume")
	}
	if slices.Contains(args, "--continue") && len(args) > 2 && args[1] == "run" {
		return args[2], true
	}
	return "", false
}
