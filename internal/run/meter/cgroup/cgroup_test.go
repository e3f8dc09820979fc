package cgroup

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"
	"time"

	"netdyno/internal/contract"
)

// tree writes files under a directory, which stands for @ in them.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text+"\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const throttled = "nr_periods 20\nnr_throttled 18\n"

// The kernel's files, as both versions have them, and as a container sees its own.
func TestGroups(t *testing.T) {
	second := map[string]string{
		"7/cgroup":                           "0::/pods/a.slice/box",
		"cg/pods/a.slice/box/cpu.stat":       "usage_usec 700\n" + "nr_periods 0\n",
		"cg/pods/a.slice/box/cpu.max":        "max 100000",
		"cg/pods/a.slice/box/memory.max":     "4000",
		"cg/pods/a.slice/box/memory.current": "3000",
		"cg/pods/a.slice/box/memory.events":  "low 0\nmax 5\noom 0",
		"cg/pods/a.slice/box/cpu.pressure":   "some avg10=1.00 avg60=0.00 avg300=0.00 total=9\nfull avg10=0 total=1",
		"cg/pods/a.slice/cpu.stat":           "usage_usec 900\nthrottled_usec 40\n" + throttled,
		"cg/pods/a.slice/cpu.max":            "50000 100000",
		"cg/pods/a.slice/memory.max":         "max",
		"cg/pods/cpu.max":                    "200000 100000",
	}
	boundBySecond := &contract.Group{
		Name: "/pods/a.slice/box", CPUNs: 700_000, MemoryBytes: 3000,
		Quota:       &contract.Quota{AllowedNs: 50e6, PeriodNs: 100e6, Periods: 20, Throttled: 18, ThrottledNs: 40_000},
		MemoryLimit: &contract.MemoryLimit{Bytes: 4000, UsedBytes: 3000, Met: 5},
		Pressure:    map[string]int64{"cpu": 9000},
	}
	first := map[string]string{
		"7/cgroup":                      "4:memory:/m/box\n3:cpuset:/\n2:cpu,cpuacct:/c/box\n0::/",
		"cg/cpu/c/box/cpu.cfs_quota_us": "-1", "cg/cpu/c/box/cpuacct.usage": "700",
		"cg/cpu/c/cpu.cfs_quota_us": "150000", "cg/cpu/c/cpu.cfs_period_us": "100000", "cg/cpu/c/cpu.stat": throttled + "throttled_time 40",
		"cg/memory/m/box/memory.limit_in_bytes": "4000", "cg/memory/m/box/memory.usage_in_bytes": "3000", "cg/memory/m/box/memory.failcnt": "5",
		"cg/memory/m/memory.limit_in_bytes": "9223372036854771712",
	}
	for name, c := range map[string]struct {
		files  map[string]string
		mounts string
		want   *contract.Group
	}{
		"version 2": {second, "30 24 0:26 / @/cg rw - cgroup2 cgroup2 rw", boundBySecond},
		"version 1": {first, "30 24 0:26 / @/cg/cpu rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n31 24 0:27 / @/cg/memory rw - cgroup cgroup rw,memory\n32 24 0:28 / @/cg/none rw - cgroup2 none rw", &contract.Group{
			Name: "/c/box", CPUNs: 700, MemoryBytes: 3000,
			Quota:       &contract.Quota{AllowedNs: 150e6, PeriodNs: 100e6, Periods: 20, Throttled: 18, ThrottledNs: 40},
			MemoryLimit: &contract.MemoryLimit{Bytes: 4000, UsedBytes: 3000, Met: 5},
		}},
		"in a container of version 1, which mounts its own group": {map[string]string{
			"7/cgroup": "2:cpu:/c/box", "cg/cpu/cpu.cfs_quota_us": "50000", "cg/cpu/cpu.cfs_period_us": "100000", "cg/cpu/cpu.stat": throttled,
		}, "30 24 0:26 /c/box @/cg/cpu ro - cgroup cgroup rw,cpu", &contract.Group{
			Name: "/c/box", Quota: &contract.Quota{AllowedNs: 50e6, PeriodNs: 100e6, Periods: 20, Throttled: 18},
		}},
		"another container's group":  {second, "30 24 0:26 /pods/b.slice @/cg rw - cgroup2 cgroup2 rw", nil},
		"a group above what is seen": {map[string]string{"7/cgroup": "0::/../box", "box/cpu.stat": "usage_usec 1"}, "30 24 0:26 / @/cg rw - cgroup2 cgroup2 rw", nil},
		"in a container that sees its group as the root": {map[string]string{
			"7/cgroup": "0::/", "cg/cpu.stat": "usage_usec 700\nthrottled_usec 40\n" + throttled, "cg/cpu.max": "50000 100000", "cg/memory.max": "max",
		}, "30 24 0:26 / @/cg ro - cgroup2 cgroup2 rw", &contract.Group{
			Name: "/", CPUNs: 700_000, Quota: &contract.Quota{AllowedNs: 50e6, PeriodNs: 100e6, Periods: 20, Throttled: 18, ThrottledNs: 40_000},
		}},
		"in a group below the root of a container": {map[string]string{
			"7/cgroup": "0::/init", "cg/init/cpu.stat": "usage_usec 700", "cg/init/cpu.max": "max 100000", "cg/cpu.max": "50000 100000", "cg/cpu.stat": throttled,
		}, "30 24 0:26 / @/cg ro - cgroup2 cgroup2 rw", &contract.Group{
			Name: "/init", CPUNs: 700_000, Quota: &contract.Quota{AllowedNs: 50e6, PeriodNs: 100e6, Periods: 20, Throttled: 18},
		}},
		"the root's group": {map[string]string{"7/cgroup": "0::/", "cg/cpu.stat": "usage_usec 700"}, "30 24 0:26 / @/cg rw - cgroup2 cgroup2 rw", nil},
		"no group":         {map[string]string{"7/cgroup": ""}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, c.files)
			g := Reader{proc: dir, looked: true, mounts: parseMounts(replaced(c.mounts, dir))}
			if got := g.Of(7); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func replaced(text, dir string) string {
	var out []byte
	for _, b := range []byte(text) {
		if b == '@' {
			out = append(out, dir...)
		} else {
			out = append(out, b)
		}
	}
	return string(out)
}

// A process with a quarter of a CPU is throttled, and the group's account of it is the
// kernel's.
func TestAThrottledProcess(t *testing.T) {
	own := "netdyno-test-" + strconv.Itoa(os.Getpid())
	group, files := "/sys/fs/cgroup/cpu/"+own, map[string]string{"cpu.cfs_period_us": "20000", "cpu.cfs_quota_us": "5000"}
	if _, err := os.Stat("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"); err != nil {
		group, files = "/sys/fs/cgroup/"+own, map[string]string{"cpu.max": "5000 20000"}
	}
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skip("needs to make a control group: ", err)
	}
	t.Cleanup(func() { _ = os.Remove(group) }) // a directory of the kernel's
	for file, text := range files {
		if err := os.WriteFile(filepath.Join(group, file), []byte(text), 0o600); err != nil {
			t.Skip("needs a quota: ", err)
		}
	}
	c := exec.Command("sh", "-c", "read go; while :; do :; done")
	in, err := c.StdinPipe()
	if err = errors.Join(err, c.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(c.Process.Kill(), c.Wait()) }) // before the group goes
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(c.Process.Pid)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	var g Reader
	const enough, timeout = 5, 20 * time.Second
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		got := g.Of(c.Process.Pid)
		if got != nil && got.Quota != nil && got.Quota.Throttled >= enough {
			if got.Quota.CPUs() != 0.25 || got.Quota.ThrottledNs <= 0 || got.Quota.Periods < got.Quota.Throttled {
				t.Errorf("%+v", got.Quota)
			}
			return
		}
		if time.Since(begun) > timeout {
			t.Fatalf("not throttled within %v: %+v", timeout, got)
		}
	}
}
