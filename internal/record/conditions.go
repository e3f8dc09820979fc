package record

import "strings"

// Conditions of a published figure that are not levels of factors.
const (
	ConditionRig   = "rig"   // a kind of RigKinds
	ConditionHosts = "hosts" // number of hosts that the workers of a trial sat on; "2+" is two or more
	ConditionLimit = "limit" // of Limits, or LimitCPU: what bounded most trials of both arms
)

// LimitCPU is the condition that some CPU was the limit: one of the server's, of
// the client's, or all of the host's.
const LimitCPU = "cpu"

// RigKinds are the kinds of rig, as Facts.Rig begins.
func RigKinds() []string {
	return []string{"loopback", "netns", "at", "ssh", "slurm", "prefix", "qemu"}
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
		"link", "server-core", "client-core", "server-cpu", "client-cpu", "host-cpu",
		"receive-window", "send-buffer", "flow-control", "schedule", "latency",
	}
}
