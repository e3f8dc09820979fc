package programs

import (
	"os"
	"path/filepath"
	"testing"
)

// Kubernetes returns the directory of Kubernetes' programs. It skips the test where they
// are not: they take minutes to build.
func Kubernetes(t testing.TB) string {
	t.Helper()
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, ".tools", "kubernetes")
	if _, err := os.Stat(filepath.Join(dir, "kubelet")); err != nil {
		t.Skip("Kubernetes' programs are absent: make kubernetes-there builds them, in minutes")
	}
	return dir
}
