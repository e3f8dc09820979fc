package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"netdyno/internal/run/session"
	"netdyno/test/programs"
)

// TestMain lets this test binary act as netdyno, and as a worker that breaks
// the contract when it is called by such a name.
func TestMain(m *testing.M) {
	if name, ok := strings.CutPrefix(filepath.Base(os.Args[0]), faultyPrefix); ok {
		pretend(name)
	}
	testscript.Main(withWorkers{m}, map[string]func(){"netdyno": main})
}

// withWorkers puts the real workers beside the acting netdyno, once.
type withWorkers struct{ tests testscript.TestingM }

func (w withWorkers) Run() int {
	flag.Parse()
	// What is printed does not depend on the locale of whoever tests.
	if err := os.Setenv("LC_ALL", "C.UTF-8"); err != nil {
		fmt.Fprintln(os.Stderr, "set up the tests:", err)
		return 1
	}
	// Most tests wait for processes: more of them run at once than there are CPUs.
	if err := flag.Set("test.parallel", strconv.Itoa(max(8, runtime.GOMAXPROCS(0)))); err != nil {
		fmt.Fprintln(os.Stderr, "set up the tests:", err)
		return 1
	}
	netdyno, err := exec.LookPath("netdyno")
	if err == nil && !testing.Short() {
		err = copyWorkers(filepath.Dir(netdyno))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "set up the tests:", err)
		return 1
	}
	programs.Hangups()
	return w.tests.Run()
}

func copyWorkers(directory string) error {
	err := programs.Copy(session.HostProgram, directory)
	for _, family := range []string{"net", "exec", "http", "grpc", "connect"} {
		err = errors.Join(err, programs.Copy("netdyno-worker-"+family, directory))
	}
	return err
}

// installed is the directory where the acting netdyno and the real workers lie.
func installed(t testing.TB) string {
	t.Helper()
	programs.Whole(t)
	path, err := exec.LookPath("netdyno")
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(path)
}
