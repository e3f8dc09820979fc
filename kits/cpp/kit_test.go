// Package cpp_test builds a worker in C++ outside the tree, on the installed kit.
package cpp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"netdyno/internal/run/check/checktest"
)

// The kit, installed from the native build, is found by CMake in a project outside the
// tree, whose worker keeps the contract. Without that build there is nothing to install.
func TestInstalledKitBuildsAWorkerElsewhere(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	built := filepath.Join(root, "build/native")
	if given := os.Getenv("NETDYNO_NATIVE"); given != "" {
		built = given
	}
	if _, err := os.Stat(filepath.Join(built, "libkit.a")); err != nil {
		t.Skipf("%v: run make native-build", err)
	}
	dir, prefix := t.TempDir(), t.TempDir()
	for from, to := range map[string]string{"kits/cpp/example/CMakeLists.txt": "CMakeLists.txt", "native/example/worker.cc": "worker.cc"} {
		text, err := os.ReadFile(filepath.Join(root, from))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "build")
	for _, args := range [][]string{
		{"--install", built, "--component", "kit", "--prefix", prefix},
		{"-S", dir, "-B", out, "-DCMAKE_PREFIX_PATH=" + prefix, "-DCMAKE_BUILD_TYPE=Release"},
		{"--build", out},
	} {
		if said, err := exec.Command("cmake", args...).CombinedOutput(); err != nil {
			t.Fatalf("cmake %v: %v\n%s", args, err, said)
		}
	}
	checktest.Passes(t, filepath.Join(out, "netdyno-worker-mine"), 36)
}
