package rig

import (
	"os"
	"path/filepath"
	"testing"
)

// What perf may see depends on two settings and on the capabilities of whoever asks.
func TestWhatPerfMaySee(t *testing.T) {
	const none, perfmon, root = "0000000000000000", "0000004000000000", "000001ffffffffff"
	for _, c := range []struct {
		paranoid, restrict, held string
		sees, names              string
	}{
		{"1", "0", none, "programs and kernel", "yes"},
		{"1", "1", none, "programs and kernel", "no"},
		{"2", "0", none, "programs", "no"},
		{"3", "0", none, "nothing", "no"},
		{"-1", "2", root, "programs and kernel", "no"},
		{"4", "1", root, "programs and kernel", "yes"},
		{"4", "0", perfmon, "programs and kernel", "no"},
		{"2", "0", "", "programs", "no"},
		{"", "0", root, "", ""},
	} {
		dir := t.TempDir()
		for path, text := range map[string]string{
			"proc/sys/kernel/perf_event_paranoid": c.paranoid, "proc/sys/kernel/kptr_restrict": c.restrict, "proc/self/status": "Name:\tx\nCapEff:\t" + c.held,
		} {
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, dir, path, text)
		}
		got := collect(dir, nil).Values
		if got["perf.sees"] != c.sees || got["perf.kernel_names"] != c.names || (got["perf.path"] == "none") != (c.paranoid != "") {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
