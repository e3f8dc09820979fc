package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCalibrationsAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "one.json")
	if all, err := ReadCalibrations(path); err != nil || all != nil {
		t.Fatalf("of a file that is not there: %v, %v", all, err)
	}
	var all []Calibrated
	for i := range MaxCalibrations + 3 {
		all = append(all, Calibrated{GeneratorPerS: float64(i)})
	}
	if err := WriteCalibrations(path, all); err != nil {
		t.Fatal(err)
	}
	got, err := ReadCalibrations(path)
	if err != nil || len(got) != MaxCalibrations || got[0].GeneratorPerS != 3 {
		t.Errorf("kept %d, the first %v, %v; want the latest %d", len(got), got[0].GeneratorPerS, err, MaxCalibrations)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadCalibrations(path); err == nil || !strings.Contains(err.Error(), "calibrate again") {
		t.Errorf("of garbage: %v", err)
	}
}

// Facts of a moment name no other machine; what decides figures does.
func TestMachineKey(t *testing.T) {
	seats := func(fact, value string) map[string]Host {
		return map[string]Host{"local": {Values: map[string]string{"cpu.model": "m", "kernel.release": "6", fact: value}}}
	}
	key := MachineKey("loopback", seats("load.average", "0.1"))
	if MachineKey("loopback", seats("load.average", "9")) != key {
		t.Error("a busy moment is another machine")
	}
	for name, other := range map[string]string{
		"rig": MachineKey("netns", seats("load.average", "0.1")), "kernel": MachineKey("loopback", seats("kernel.release", "7")), "model": MachineKey("loopback", seats("cpu.model", "n")),
	} {
		if other == key {
			t.Errorf("another %s has the same key", name)
		}
	}
	if lines := DiffMachines(seats("kernel.release", "7")["local"], seats("net.mtu", "1")["local"]); len(lines) != 1 || !strings.Contains(lines[0], "kernel.release") {
		t.Errorf("differences %v, want the kernel's alone", lines)
	}
}
