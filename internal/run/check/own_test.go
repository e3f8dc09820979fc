package check

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"netdyno/test/programs"
)

// natives are the project's workers of wire echo that CMake builds.
var natives = []string{"asio", "libevent", "threads", "uring"}

// ownWorkers are the paths of the project's workers. Native ones are absent
// without their Debian packages.
func ownWorkers(t *testing.T) map[string]string {
	t.Helper()
	program := programs.Path(t, "netdyno-worker-net")
	workers := map[string]string{"net": program}
	for _, name := range natives {
		native := filepath.Join(filepath.Dir(program), "netdyno-worker-"+name)
		switch _, err := os.Stat(native); {
		case err == nil:
			workers[name] = native
		case errors.Is(err, fs.ErrNotExist):
			t.Logf("%s is absent: it is checked only where `make build` can make it", native)
		default:
			t.Fatal(err)
		}
	}
	return workers
}

func TestOwnWorkersConform(t *testing.T) {
	t.Parallel()
	for name, program := range ownWorkers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of it is waiting
			outcomes, err := Run(t.Context(), []string{program}, Options{Stretch: stretch})
			if err != nil {
				t.Fatal(err)
			}
			passed := 0
			for _, o := range outcomes {
				switch {
				case o.Pass:
					passed++
				case !o.Skipped || name == "net" && o.Transport != "null":
					t.Errorf("%s %s: %s", o.Transport, o.Case, o.Text)
				}
			}
			if passed < len(workerRules)+len(transportRules) {
				t.Errorf("only %d cases passed", passed)
			}
		})
	}
}

func TestOwnWorkersHoldTheConversations(t *testing.T) {
	t.Parallel()
	peer := echoServer(t)
	for name, program := range ownWorkers(t) {
		for _, c := range readConversations(t) {
			t.Run(name+"/"+c.Name, func(t *testing.T) {
				if err := c.hold(&subject{ctx: t.Context(), argv: []string{program}, stretch: stretch}, peer); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}
