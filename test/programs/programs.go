// Package programs finds the programs that tests run: netdyno and its workers,
// in the directory bin of the repository. It also starts somebody's servers. It is for
// tests and benchmarks alone.
package programs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// built names the environment variable by which the Makefile says that it has
// just built everything.
const built = "NETDYNO_BUILT"

// Bin returns the absolute path of the directory of the programs. It first
// builds there what is written in Go and out of date, once in a process.
// Programs in C++ are there only if `make build` could build them. Any goroutine
// may call it.
var Bin = sync.OnceValues(func() (string, error) {
	root, err := repository()
	if err != nil {
		return "", err
	}
	bin := filepath.Join(root, "bin")
	if os.Getenv(built) != "" {
		return bin, nil
	}
	return bin, build(root, bin)
})

// Whole skips a test that starts programs where only the others are asked for, as make
// test does by -short. make test-all runs it.
func Whole(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts programs: make test-all, or go test without -short")
	}
}

// Path returns the path of a program, such as "netdyno-worker-net". It skips the
// test if there is no such program: then a library that it needs is missing.
func Path(t testing.TB, name string) string {
	t.Helper()
	Whole(t)
	bin, err := Bin()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(bin, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%v: `make build` builds it where its library is installed", err)
	}
	return path
}

// Copy copies a program into another directory, for tests that tell their own
// processes by the path of the program.
func Copy(name, directory string) error {
	bin, err := Bin()
	if err != nil {
		return err
	}
	program, err := os.ReadFile(filepath.Join(bin, name))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(directory, name), program, 0o755)
}

// repository returns the directory of the main module, above the directory that
// the test runs in. workers/gin is a module of its own inside it.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "layers_test.go")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("find the repository: no directory above holds layers_test.go")
		}
	}
}

// build builds as the Makefile does, so that neither finds the other's programs
// out of date. One process at a time builds: another's test must not start a
// program that is half written.
func build(root, bin string) error {
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(bin, ".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer lock.Close() // this unlocks it
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	if err := command("run", "-C", root, "./tools/pack"); err != nil {
		return err
	}
	if err := command("build", "-C", root, "-buildvcs=auto", packed, "-ldflags=-s -w", "-o", bin+"/", "./cmd/..."); err != nil {
		return err
	}
	gin := filepath.Join(root, "workers", "gin")
	if command("list", "-C", gin, "-deps", "./...") != nil {
		return nil // what it imports is not on this machine, and cannot be fetched
	}
	return command("build", "-C", gin, "-buildvcs=auto", packed, "-ldflags=-s -w", "-o", bin+"/", "./...")
}

// packed is by which workers carry their sources packed.
const packed = "-tags=nomsgpack,grpcnotrace,validator_novalidatefn,packed"

// command runs go without cgo and with the Makefile's flags.
func command(argv ...string) error {
	c := exec.Command("go", argv...)
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath -tags=nomsgpack,grpcnotrace,validator_novalidatefn -gcflags=all=-dwarf=false")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w: %s", argv[0], err, out)
	}
	return nil
}
