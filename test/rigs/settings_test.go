package rigs_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"netdyno/internal/run/setting"
	"netdyno/test/running"
)

const rmem = "net.ipv4.tcp_rmem"

// settings are what stands at a host, as a holder that sets nothing tells.
func (b bed) settings(t *testing.T, node int) map[string]string {
	t.Helper()
	out, err := b.Command(node, filepath.Join(b.programs, "netdyno"), "internal", "hold", "--address", b.address(node), setting.MTU, rmem).Output()
	var all map[string]string
	if err == nil {
		err = json.Unmarshal(out, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What a trial sets on its hosts is there while it runs, and no longer than the run,
// however that ends.
func TestSettingsLastAsLongAsTheRun(t *testing.T) {
	t.Parallel()
	b := sshBed(t, held)
	before := b.census(t)
	usual := b.settings(t, 1)
	for name, end := range map[string]func(*underway){
		"interrupted": (*underway).interrupt,
		"killed":      func(u *underway) { u.Kill(); u.End(u.t) },
	} {
		u := b.start(t, append([]string{"sysctl." + rmem + "=4096 131072 1048576", "link.mtu=1400"}, endless...)...)
		u.held("window", 1)
		for node := 1; node <= b.Size(); node++ {
			if got := b.settings(t, node); got[rmem] != "4096 131072 1048576" || got[setting.MTU] != "1400" {
				t.Errorf("%s: while it runs node%d has %v", name, node, got)
			}
		}
		u.release()
		end(u)
		for node := 1; node <= b.Size(); node++ {
			running.Await(t, hang, fmt.Sprintf("%s: node%d has %v", name, node, usual), func() bool {
				got := b.settings(t, node)
				return got[rmem] == usual[rmem] && got[setting.MTU] == usual[setting.MTU]
			})
		}
		before.nothingLeft(t)
	}
}
