//go:build soak

package export

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/test/synthetic"
)

// The tool itself has to be compiled before it reads a file.
func TestGoToolPprofReadsTheFiles(t *testing.T) {
	files, _, err := pprofFiles(probed(synthetic.Arm{Name: "go-net"}))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), files[0].Name)
	if err := os.WriteFile(file, files[0].Data, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "tool", "pprof", "-top", file).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "encoding/json.Marshal") || !bytes.Contains(out, []byte("33.33%")) {
		t.Errorf("go tool pprof: %v\n%s", err, out)
	}
}
