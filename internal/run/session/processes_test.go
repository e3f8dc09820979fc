package session

import (
	"fmt"
	"testing"

	"netdyno/internal/record"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

func TestAsManyProcessesAsTheHostsDemand(t *testing.T) {
	host := func(name string, sources int) rig.Host {
		h := rig.Host{Name: name, BootID: name, CPUs: []int{0, 1}}
		for i := range sources {
			h.Sources = append(h.Sources, fmt.Sprintf("10.0.0.%d", i+1))
		}
		return h
	}
	facts := func(files string) record.Host {
		return record.Host{Values: map[string]string{"limits.nofile_hard": files, "net.port_range": "32768-60999"}}
	}
	for _, c := range []struct {
		name             string
		site             site
		levels           map[string]string
		clients, servers string
	}{
		{
			"one host with room", site{hosts: []rig.Host{host("a", 9)}, facts: map[string]record.Host{"a": facts("20064")}},
			map[string]string{"connections": "20000"}, "1", "1",
		},
		{
			"one more than a process may have", site{hosts: []rig.Host{host("a", 9)}, facts: map[string]record.Host{"a": facts("20064")}},
			map[string]string{"connections": "20001"}, "2", "2",
		},
		{
			"as many servers as were given", site{hosts: []rig.Host{host("a", 9)}, facts: map[string]record.Host{"a": facts("20064")}},
			map[string]string{"connections": "60000", "servers": "7"}, "3", "7",
		},
		{
			"limits of each host", site{hosts: []rig.Host{host("a", 1), host("b", 9)}, facts: map[string]record.Host{"a": facts("100064"), "b": facts("10064")}},
			map[string]string{"connections": "60000"}, "6", "1",
		},
		{
			"ports of one address on each of two hosts", site{hosts: []rig.Host{host("a", 1), host("b", 1), host("c", 1)}, facts: map[string]record.Host{"a": facts("100064"), "b": facts("100064"), "c": facts("100064")}},
			map[string]string{"connections": "40000"}, "2", "1",
		},
		{
			"nothing known", site{hosts: []rig.Host{host("a", 9)}, facts: map[string]record.Host{}},
			map[string]string{"connections": "20001"}, "1", "1",
		},
		{
			"a server that stands already", site{hosts: []rig.Host{host("a", 9)}, facts: map[string]record.Host{"a": facts("10064")}},
			map[string]string{"connections": "20000", "opt.server.address": "a:80"}, "2", "1",
		},
		{
			"no number is enough", site{hosts: []rig.Host{host("a", 9)}, facts: map[string]record.Host{"a": facts("64")}},
			map[string]string{"connections": "20"}, "1", "1",
		},
	} {
		levels := map[string]string{"server": "go-net", "client": "go-net", "clients": study.Auto, "servers": study.Auto}
		for factor, level := range c.levels {
			levels[factor] = level
		}
		c.site.rig = rig.Loopback{}
		s := Session{site: &c.site}
		clients, servers, err := s.leastProcesses(record.Trial{Levels: levels})
		if err != nil || clients != c.clients || servers != c.servers {
			t.Errorf("%s: clients=%s servers=%s, %v; want %s and %s", c.name, clients, servers, err, c.clients, c.servers)
		}
	}
}

func TestANumberThatAllTrialsShareIsHeld(t *testing.T) {
	trials := []record.Trial{{Levels: map[string]string{"clients": "2", "servers": "2"}}, {Levels: map[string]string{"clients": "2", "servers": "3"}}}
	hold := map[string]string{"clients": study.Auto, "servers": study.Auto, "inflight": "1"}
	holdProcesses(hold, trials)
	if hold["clients"] != "2" || hold["servers"] != study.Auto || hold["inflight"] != "1" {
		t.Errorf("held are %v, want clients=2, servers=auto and inflight=1", hold)
	}
}
