package record

import (
	"maps"
	"slices"
	"strings"
)

// Conditions of a published figure that are not levels of factors.
const (
	ConditionRig   = "rig"   // a kind of RigKinds
	ConditionHosts = "hosts" // number of hosts that the workers of a trial sat on; "2+" is two or more
	ConditionLimit = "limit" // of Limits, or LimitCPU: what bounded most trials of both arms
)

// LimitCPU is the condition that some CPU was the limit: one of the server's, of
// the client's, or all of the host's.
const LimitCPU = "cpu"

// PathFactor is the factor whose levels name what lies between clients and server, Direct
// the level of a path without a hop.
const (
	PathFactor = "path"
	Direct     = "direct"
)

// NetworkFactor is the factor whose levels name the network of a rig that both ends are on.
const NetworkFactor = "network"

// RigKinds are the kinds of rig, as Facts.Rig begins.
func RigKinds() []string {
	return []string{"loopback", "netns", "at", "ssh", "slurm", "prefix", "podman", "docker", "k8s"}
}

// RigKind returns the kind of a rig from its name in Facts.Rig: "netns" of
// "netns:3?mtu=9000", "prefix" of "prefix of lab.yaml".
func RigKind(name string) string {
	if end := strings.IndexAny(name, ":? "); end >= 0 {
		return name[:end]
	}
	return name
}

// Limits are the resources that readers name as what bounded a trial (specification
// §5), in the order in which they are tried.
func Limits() []string {
	return []string{
		"link", "limiter", "cgroup-throttle", "memory-limit", "server-core", "client-core", "server-cpu", "client-cpu", "hop-cpu", "host-cpu",
		"receive-window", "send-buffer", "flow-control", "head-of-line", "schedule", "delayed-ack", "pool", "latency",
	}
}

// The levels of factor placement: which CPUs the server and the clients of one
// host run on.
const (
	Separate = "separate" // each on CPUs of its own
	Shared   = "shared"   // both on all CPUs of the host
	Free     = "free"     // wherever the scheduler puts them
)

// Word is what a warning is about, explained.
type Word struct{ Name, Means, Do string }

// Words are what warnings are about beside the flags of trials: the word before
// the colon in Warning.About, explained for people.
func Words() []Word { return words }

var words = []Word{
	{"again", "the machine disturbed a trial: an end and its meter did not run, or a signal or a debugger held a process, in the window or just before it, for 2 % of the window and 25 ms or more. So the trial was made once more, three times in all at most. What it measured has no say in that, and a trial in which anything failed is never made again. records.jsonl keeps every attempt", "nothing, unless most trials are; then measure at a quieter hour, or on a dedicated machine"},
	{"absent", "a worker of the study is not here or cannot run, so its cells stay empty", "see netdyno transports, and install what packages.txt names"},
	{"blocks", "so few blocks decide little, or nothing", "run more blocks, or lengthen the window"},
	{"calibration", "this machine's calibration could not be read", "run netdyno calibrate again"},
	{"cost", "a model misses cells that it has not seen by more than it may, so nothing is forecast from it", "run more blocks on a quieter machine, or give fewer sizes that lie closer together: netdyno cost TRANSPORT response=…"},
	{"confounded", "factors vary together, so the comparison is one of bundles", "add arms that change one factor at a time"},
	{"ladder", "a step of a ladder changes several things at once, so its ratio is that of all of them together", "put an arm between the two that changes one of these"},
	{"cpu-sets", "both ends share CPUs, or hardware threads of a core", "give each CPUs of its own"},
	{"delivery", "arms hand content over differently: whole messages cost a copy that chunks do not", "compare arms that do the same work"},
	{"facts", "a host changed during the run, or differs from another", "find out what changed it, and run again"},
	{"few-samples", "a metric is absent from some trials, because too little was done in them", "lengthen the window, or compare a percentile nearer to the middle"},
	{"floor", "a part of the compared times is this machine's own wake-ups and sends, the same for every arm, or that part could not be measured", "let the client poll where a CPU is free: client=http1-uring opt.client.wait=poll"},
	{"hosts", "the hosts of the rig differ", "use identical hosts for a result about software alone"},
	{"limit", "the client was what limited a rate, so that rate is the load generator's", "give the clients more CPUs or processes, or offer every arm an equal rate and compare CPU per exchange"},
	{"limits.nofile_soft", "a worker may run out of file descriptors", "raise ulimit -n"},
	{"loopback", "both ends ran on one host: a CPU-bound path in software with frames of 64 KiB", "compare only what software costs; to judge a network, measure across it (docs/rigs.md)"},
	{"message", "how a message of your own is encoded", "see docs/messages.md"},
	{"net.port_range", "there are few local ports for so many connections", "widen net.ipv4.ip_local_port_range, or use more source addresses"},
	{"net.somaxconn", "connections may wait for the listener's queue", "raise net.core.somaxconn"},
	{"noise", "the baseline differs from its own repeat in the same blocks (A/A), or nothing measures by how much", "run more blocks; if several pairs differ, find what drifts"},
	{"primary", "another metric is compared in place of a declared one", "set a rate to compare response times"},
	{"profile", "a probe's profile is left out; no other figure depends on it", ""},
	{"records", "records or trials of the run contradict each other", "check that all of its files are of one run"},
	{"expect", "what a study expects is left out: a bound whose arm or level is not run, or what an earlier version asked", "run these too, or type require=… of your own; run the study again"},
	{"server", "what a server elsewhere did is not known in full", "let netdyno start it: --rig ssh:HOST, or a rig file"},
	{"slowdown", "some exchanges are of sizes that the trials without load had too seldom, so a slowdown leaves them out, or is absent", "lengthen the window, so that large sizes come often enough"},
	{"stages", "a look after so few blocks can settle nothing", "begin with at least 6 blocks"},
	{"thin", "a percentile needs more exchanges than some arms have", "lengthen the window, or compare a percentile nearer to the middle"},
	{"answer", "it weakens what the answer says", "read what it is, and run again without it"},
	{"trials", "some trials gave no valid figure, so nothing is computed from them", "netdyno report --full DIR gives each reason"},
	{"unfinished", "exchanges were under way when the window ended, so percentiles are lower bounds", "lengthen the window, or offer less"},
}

// renamed are levels whose names have changed since records were first written: an old one
// and a new one are the same. A row of factor "transport" holds at either end too.
var renamed = []struct{ factor, old, now string }{
	{"placement", "apart", "separate"},
	{"transport", "brpc-cpp", "brpc"},
}

// CurrentLevel returns today's name of a factor's level, which is the level
// itself unless it was renamed.
func CurrentLevel(factor, level string) string {
	if factor == "server" || factor == "client" {
		factor = "transport"
	}
	for _, r := range renamed {
		if r.factor == factor && r.old == level {
			return r.now
		}
	}
	return level
}

// CurrentNames gives a run that was recorded under old names those of today, so
// that it can be compared with a run of today. The record on disk stays as it is,
// and a report of the run alone shows what was written.
func CurrentNames(h *Header, trials []Trial, records []Record) {
	compared := h.Study.Compare.Factor
	h.Study.Hold = currentLevels(h.Study.Hold)
	h.Study.Vary = slices.Clone(h.Study.Vary)
	for i, f := range h.Study.Vary {
		h.Study.Vary[i].Levels = slices.Clone(f.Levels)
		for j, level := range f.Levels {
			h.Study.Vary[i].Levels[j] = CurrentLevel(f.Name, level)
		}
	}
	h.Study.Compare.Baseline = CurrentLevel(compared, h.Study.Compare.Baseline)
	for i := range trials {
		trials[i].useCurrentNames(compared)
	}
	for i := range records {
		records[i].Trial.useCurrentNames(compared)
	}
}

func (t *Trial) useCurrentNames(compared string) {
	t.Levels = currentLevels(t.Levels)
	t.Arm = CurrentLevel(compared, t.Arm)
	for _, r := range renamed {
		// A cell's name is FACTOR=LEVEL, joined by spaces.
		t.Cell = strings.TrimSpace(strings.ReplaceAll(" "+t.Cell+" ", " "+r.factor+"="+r.old+" ", " "+r.factor+"="+r.now+" "))
	}
}

func currentLevels(levels map[string]string) map[string]string {
	current := maps.Clone(levels)
	for factor, level := range levels {
		current[factor] = CurrentLevel(factor, level)
	}
	return current
}
