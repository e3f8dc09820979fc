package doctor

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/record"
)

// quiet is a host of which no rule has anything to say, although it tells all
// that the rules ask for.
var quiet = map[string]string{
	"cpu.count": "16", "cpu.online": "0-15", "cpu.usable": "0-15", "cpu.governor": "performance", "cpu.boost": "off", "steal.share": "0.0000",
	"cpu.idle_exit_us": "2", "cpu.idle_states": "POLL 0, C1 2",
	"load.average": "0.10", "clocksource": "tsc", "thp": "madvise",
	"numa.nodes": "1", "numa.cpus": "0: 0-15", "host.daemons": "tuned",
	"kernel.modules":     "tls",
	"limits.nofile_soft": "1048576", "limits.nofile_hard": "1048576", "limits.memlock_soft": "unlimited",
	"net.somaxconn": "4096", "net.port_range": "1024-65535", "net.conntrack_max": "262144",
	"net.tcp_rmem": "4096 131072 67108864", "net.tcp_wmem": "4096 65536 67108864",

	"nic.eth0.driver": "mlx5_core", "nic.eth0.driver_version": "5.0-0", "nic.eth0.firmware": "16.35.4030", "nic.eth0.bus": "0000:81:00.0",
	"nic.eth0.state": "up", "nic.eth0.speed_mbit_per_s": "100000", "nic.eth0.mtu": "9000", "nic.eth0.numa_node": "0",
	"nic.eth0.rx_checksum": "on", "nic.eth0.tx_checksum": "on", "nic.eth0.scatter_gather": "on", "nic.eth0.tso": "on", "nic.eth0.gso": "on", "nic.eth0.gro": "on",
	"nic.eth0.pcie": "8.0 GT/s x16", "nic.eth0.interrupts": "16", "nic.eth0.interrupt_cpus": "0-15",
	"nic.eth0.channels": "16 of 63",
	"nic.bond0.driver":  "bonding", "nic.bond0.state": "up", "nic.bond0.bond_mode": "802.3ad", "nic.bond0.bond_members": "eno1 eno2", "nic.bond0.bond_hash": "layer3+4",
	"nic.eth9.driver": "ixgbe", "nic.eth9.state": "down", "nic.eth9.gro": "off", // nobody measures by it

	"perf.path": "/usr/bin/perf", "perf.sees": "programs and kernel", "kernel.perf_event_paranoid": "1",

	"rdma.mlx5_0.1.state": "ACTIVE", "rdma.mlx5_0.1.physical_state": "LinkUp",
	"gpu.count": "1", "gpu.0.numa_node": "0",
}

// but is the quiet host with some facts changed.
func but(facts ...string) record.Host {
	values := maps.Clone(quiet)
	for i := 0; i < len(facts); i += 2 {
		values[facts[i]] = facts[i+1]
	}
	return record.Host{Values: values}
}

func TestAdviseSaysNothingOfAQuietOrUnknownHost(t *testing.T) {
	for name, facts := range map[string]record.Host{
		"quiet": but(), "unknown": {}, "unlimited": but("limits.nofile_hard", "unlimited"),
		"odd": but("cpu.count", "many", "net.port_range", "x"),
	} {
		if got := Advise(facts); len(got) != 0 {
			t.Errorf("%s host: %+v, want no advice", name, got)
		}
	}
}

// findings trigger each rule alone, in the order of the table.
var findings = []struct {
	facts []string
	about string
	what  string
}{
	{[]string{"cpu.governor", "powersave"}, "cpu.governor", "powersave"},
	{[]string{"cpu.boost", "on"}, "cpu.boost", "nominal"},
	{[]string{"cpu.topology", "0,8;1,9"}, "cpu.topology", "0,8;1,9"},
	{[]string{"cpu.count", "1"}, "cpu.count", "1 CPU"},
	{[]string{"cpu.count", "2"}, "cpu.count", "2 CPUs"},
	{[]string{"cgroup.cpu_max", "200000 100000"}, "cgroup.cpu_max", "200000"},
	{[]string{"hypervisor", "KVM"}, "hypervisor", "KVM"},
	{[]string{"steal.share", "0.0210"}, "steal.share", "2.1 %"},
	{[]string{"load.average", "8.10"}, "load.average", "8.10 on 16"},
	{[]string{"clocksource", "hpet"}, "clocksource", "hpet"},
	{[]string{"thp", "always"}, "thp", "always"},
	{[]string{"cpu.idle_exit_us", "133", "cpu.idle_states", "C1 2, C6 133"}, "cpu.idle_exit_us", "133 µs to wake (C1 2, C6 133)"},
	{[]string{"host.daemons", "irqbalance tuned"}, "host.daemons", "running: irqbalance"},

	{[]string{"net.somaxconn", "128"}, "net.somaxconn", "128"},
	{[]string{"limits.nofile_hard", "1024"}, "limits.nofile_hard", "1024"},
	{[]string{"net.port_range", "40000-41000"}, "net.port_range", "1001"},
	{[]string{"net.conntrack_max", "8192"}, "net.conntrack_max", "8192"},
	{[]string{"kernel.modules", "nf_conntrack nf_tables"}, "kernel.modules", "filtered: nf_tables"},
	{[]string{"net.tcp_rmem", "4096 131072 6291456"}, "net.tcp_rmem", "holds 6.00 MiB, while 100 Gbit/s over 1 ms are 11.9 MiB"},
	{[]string{"net.tcp_wmem", "4096 16384 4194304"}, "net.tcp_wmem", "4.00 MiB"},

	{[]string{"perf.path", "none"}, "perf.path", "not installed"},
	{[]string{"perf.sees", "programs", "kernel.perf_event_paranoid", "2"}, "kernel.perf_event_paranoid", "into the kernel (kernel.perf_event_paranoid is 2)"},

	{[]string{"nic.eth0.gro", "off", "nic.eth0.tso", "off"}, "nic.eth0.offloads", "eth0: off: tso, gro"},
	{[]string{"nic.eth0.driver_version", "3.0-1 (January 2015)"}, "nic.eth0.driver_version", "mlx5_core 3.0-1"},
	{[]string{"nic.eth0.mtu", "1500"}, "nic.eth0.mtu", "1500 at 100 Gbit/s"},
	{[]string{"nic.eth0.pcie", "8.0 GT/s x8"}, "nic.eth0.pcie", "carries 63 Gbit/s, the link 100"},
	{[]string{"numa.nodes", "2", "numa.cpus", "0: 16-31; 1: 0-15"}, "nic.eth0.numa_node", "all our CPUs (0-15)"},
	{[]string{"nic.eth0.interrupt_cpus", "3"}, "nic.eth0.interrupt_cpus", "all 16 interrupts go to CPU 3"},
	{[]string{"nic.eth0.channels", "8 of 63"}, "nic.eth0.channels", "8 of 63"},
	{[]string{"nic.bond0.bond_hash", "layer2"}, "nic.bond0.bond_hash", "2 cards distributes packets by layer2"},

	{[]string{"rdma.mlx5_0.1.state", "DOWN"}, "rdma.state", "rdma.mlx5_0.1 is DOWN"},
	{[]string{"limits.memlock_soft", "8388608"}, "limits.memlock_soft", "8 MiB"},
	{[]string{"kernel.modules", "rdma_rxe"}, "kernel.modules", "rdma_rxe"},
}

// Every rule fires on a host with its problem, alone, and is silent on the
// quiet one, which tells all that it asks for: that fact absent proves nothing.
func TestEveryRuleFindsItsFact(t *testing.T) {
	all := rules()
	if len(findings) != len(all) {
		t.Fatalf("%d rules, %d cases: a rule needs a host that has its problem", len(all), len(findings))
	}
	for i, c := range findings {
		got := Advise(but(c.facts...))
		if len(got) != 1 || got[0].About != c.about || !strings.Contains(got[0].What, c.what) {
			t.Errorf("%v: %+v, want one advice about %s that says %q", c.facts, got, c.about, c.what)
			continue
		}
		if got[0].Source != all[i].source || got[0].Why != all[i].why || got[0].Severity != all[i].severity {
			t.Errorf("%v: advice %+v comes from another rule than number %d", c.facts, got[0], i)
		}
		if got[0].Source == "" || got[0].Why == "" || got[0].Fix == "" {
			t.Errorf("%v: advice %+v tells no reason, source or remedy", c.facts, got[0])
		}
		if strings.Contains(got[0].Fix, "DEV") || strings.Contains(got[0].Fix, "NODE") {
			t.Errorf("%v: the remedy %q is no command", c.facts, got[0].Fix)
		}
		for key := range slices.Chunk(c.facts, 2) {
			if _, told := quiet[key[0]]; !told && !absentWhenWell[key[0]] {
				t.Errorf("the quiet host does not tell %s: that the rule is silent there means nothing", key[0])
			}
		}
	}
}

// absentWhenWell are the facts that a host without the problem does not have.
var absentWhenWell = map[string]bool{
	"cpu.topology": true, "cgroup.cpu_max": true, "hypervisor": true,
}

// Of two releases of mlx5 side by side the publication of line-rate says it of
// the older one alone.
func TestTheGoodDriverIsNotAccused(t *testing.T) {
	for _, version := range []string{"4.3-1.0.1", "4.3-1.0.2", "5.0-0", "3.1-0"} {
		if got := Advise(but("nic.eth0.driver_version", version)); len(got) > 0 {
			t.Errorf("mlx5_core %s: %+v", version, got)
		}
	}
}

func TestRemediesAreCommands(t *testing.T) {
	for _, c := range []struct {
		facts []string
		want  string
	}{
		{[]string{"nic.eth0.channels", "8 of 12"}, "ethtool -L eth0 combined 12"},
		{[]string{"nic.eth0.channels", "8 of 63"}, "ethtool -L eth0 combined 16"},
		{
			[]string{"nic.eth0.gro", "off", "nic.eth1.driver", "ice", "nic.eth1.gro", "off"},
			"for i in eth0 eth1; do ethtool -K $i rx on tx on sg on tso on gso on gro on; done",
		},
	} {
		if got := Advise(but(c.facts...)); len(got) != 1 || got[0].Fix != c.want {
			t.Errorf("%v: %+v, want one advice with the remedy %q", c.facts, got, c.want)
		}
	}
}

func TestTheGravestComesFirst(t *testing.T) {
	got := Advise(but("cpu.governor", "powersave", "cpu.count", "3", "clocksource", "hpet"))
	var order []string
	for _, a := range got {
		order = append(order, a.Severity.String()+" "+a.About)
	}
	want := []string{"distort clocksource", "noise cpu.governor", "note cpu.count"}
	if !slices.Equal(order, want) {
		t.Errorf("order %q, want %q", order, want)
	}
}
