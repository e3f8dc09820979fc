// Package distros tests the workers in C++ on releases of distributions that this machine
// does not run: each is unpacked in .tools/roots, with its own compiler and libraries, and
// kept there for the next time.
package distros

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// release is one of a distribution.
type release struct {
	suite, mirror, keyring string
	script                 string   // debootstrap's, which knows older suites of the same
	without                []string // workers that it cannot have
}

var releases = []release{
	// Open MPI 5; brpc is in no release.
	{"trixie", "http://deb.debian.org/debian", "/usr/share/keyrings/debian-archive-keyring.gpg", "sid", []string{"mpi", "brpc"}},
	{"noble", "http://archive.ubuntu.com/ubuntu", "/usr/share/keyrings/ubuntu-archive-keyring.gpg", "gutsy", []string{"brpc"}},
}

// reachable bounds the look for a mirror.
const reachable = 20 * time.Second

// risky are the libraries that change most from release to release. make soak builds all.
var risky = "asio;uring;http1;mpi"

// Everything is built by the project's own scripts, from the release's own packages: at -O2, as
// a user would. The workers that stand on what changes most from release to release converse.
func TestWorkersBuildOn(t *testing.T) {
	if os.Getenv("NETDYNO_SOAK") != "" {
		risky = ""
	}
	for _, r := range releases {
		t.Run(r.suite, func(t *testing.T) {
			root := r.root(t)
			out, err := inside(t, root, `.ci/packages kit && .ci/packages build && .ci/native /out`)
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for _, worker := range workers(t) {
				_, err := os.Stat(filepath.Join(root, "out/netdyno-worker-"+worker))
				lacks := slices.Contains(r.without, worker)
				if (err != nil) != lacks || lacks && !strings.Contains(out, "no netdyno-worker-"+worker+":") {
					t.Errorf("worker %s: lacking: %t, is there: %v; it says:\n%s", worker, lacks, err == nil, out)
				}
			}
			for _, worker := range []string{"http1-asio", "asio"} {
				if out, err := inside(t, root, "bin/netdyno check /out/netdyno-worker-"+worker); err != nil {
					t.Errorf("check of %s: %v: %s", worker, err, out)
				}
			}
			oneThatDoesNotCompile(t, root)
		})
	}
}

// oneThatDoesNotCompile takes from the others nothing, and is named.
func oneThatDoesNotCompile(t *testing.T, root string) {
	out, err := inside(t, root, `echo '#error "no such interface"' >/tmp/broken.cc
mount --bind /tmp/broken.cc native/asio/worker.cc
rm /out/netdyno-worker-http1-asio
.ci/native /out`)
	if err == nil || !strings.Contains(out, "no netdyno-worker-asio: ") || !strings.Contains(out, "no such interface") {
		t.Errorf("a worker that does not compile: %v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(root, "out/netdyno-worker-http1-asio")); err != nil {
		t.Errorf("another worker is not installed beside it: %v", err)
	}
	if _, err := os.Stat(filepath.Join(root, "out/netdyno-worker-asio")); err == nil {
		t.Error("the worker that did not compile is there as it was before")
	}
}

// root is the release's root directory. It skips the test where there can be none.
func (r release) root(t *testing.T) string {
	t.Helper()
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(repository, ".tools/roots", r.suite)
	if os.Geteuid() != 0 {
		t.Skipf("%s: only root unpacks and enters another release", r.suite)
	}
	if _, err := os.Stat(root); err == nil {
		return root
	}
	if _, err := exec.LookPath("debootstrap"); err != nil {
		t.Skipf("%s: %v (Debian package debootstrap)", r.suite, err)
	}
	if _, err := os.Stat(r.keyring); err != nil {
		t.Skipf("%s: the keys of its archive are not here: %v", r.suite, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), reachable)
	defer cancel()
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, r.mirror+"/dists/"+r.suite+"/Release", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		t.Skipf("%s: its archive is not reached: %v", r.suite, err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Skipf("%s: its archive is not reached: %s", r.suite, answer.Status)
	}
	// Whole or not at all. What is unpacked need not outlive a loss of power.
	const unpack = `rm -rf "$1.new" && mkdir -p "$1.new/etc/dpkg/dpkg.cfg.d" && echo force-unsafe-io >"$1.new/etc/dpkg/dpkg.cfg.d/unsafe-io" &&
debootstrap --variant=minbase --include=ca-certificates --keyring="$4" "$2" "$1.new" "$3" "$5" >"$1.log" 2>&1 && mkdir -p "$1.new/src" "$1.new/out" "$1.new/build" && mv "$1.new" "$1" || { tail -5 "$1.log"; exit 1; }`
	if err := os.MkdirAll(filepath.Dir(root), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "bash", "-c", unpack, "unpack", root, r.suite, r.mirror, r.keyring, r.script).CombinedOutput(); err != nil {
		t.Fatalf("unpack %s: %v: %s", r.suite, err, out)
	}
	return root
}

// inside runs a script in the release's root, in the repository, whose build directory is the
// root's own. Mounts end with it.
func inside(t *testing.T, root, script string) (string, error) {
	t.Helper()
	const enter = `set -e
mkdir -p ../../build
mount --rbind /proc "$1/proc"; mount --rbind /dev "$1/dev"
mount --bind ../.. "$1/src"; mount --bind "$1/build" "$1/src/build"
cp -L /etc/resolv.conf "$1/etc/resolv.conf"
exec chroot "$1" /bin/bash -ec "cd /src; $2"`
	c := exec.CommandContext(t.Context(), "unshare", "--mount", "bash", "-c", enter, "enter", root, script)
	c.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "CCACHE_DIR=/build/ccache", "HOME=/root", "LC_ALL=C", "NETDYNO_ONLY=" + risky}
	for _, name := range []string{"http_proxy", "https_proxy", "no_proxy"} {
		if value := os.Getenv(name); value != "" {
			c.Env = append(c.Env, name+"="+value)
		}
	}
	out, err := c.CombinedOutput()
	return string(out), err
}

// workers are those that the sources know.
func workers(t *testing.T) (all []string) {
	t.Helper()
	files, err := filepath.Glob("../../native/*/CMakeLists.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if library := filepath.Base(filepath.Dir(file)); risky != "" && !slices.Contains(strings.Split(risky, ";"), library) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			for _, call := range []string{"netdyno_worker(", "mpi_worker("} {
				if rest, ok := strings.CutPrefix(strings.TrimSpace(line), call); ok && !strings.HasPrefix(rest, "$") {
					all = append(all, strings.Fields(rest)[0])
				}
			}
		}
	}
	if len(all) < 6 {
		t.Fatalf("only %q are found", all)
	}
	return all
}
