package record

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"netdyno/internal/contract"
)

// Host is what was found out about one machine; absent facts are absent keys.
type Host struct {
	Values map[string]string `json:"values"` // "cpu.model": "AMD EPYC", "kernel.release": …
}

// CPUs returns how many CPUs netdyno may use there; 0 where that is not known. Earlier
// versions told only how many there are.
func (h Host) CPUs() int {
	n, err := strconv.Atoi(cmp.Or(h.Values["cpu.allowed"], h.Values["cpu.count"]))
	if err != nil {
		return 0
	}
	return n
}

// The facts of a host that only a survey of several has.
const (
	ClockFact  = "clock.unix_ns" // as the host said it
	OffsetFact = "clock.offset"  // against the orchestrator's clock

	AddressFact = "seat.address" // of the data network
	LeafFact    = "seat.leaf"    // the switch that it hangs on, as the rig's file names it
)

// changing are the facts that describe a moment, or name a machine or where something
// lies on it, and not what it is like.
var changing = map[string]bool{
	"host.name": true, "host.boot_id": true, "k8s.node": true, AddressFact: true, LeafFact: true,
	"perf.path": true, "cpu.mhz": true, "load.average": true, "load.busy_share": true, "load.steal_share": true, "steal.share": true,
	"idle.lost_share": true, "idle.longest_us": true, "timer.overshoot_p50_us": true, "timer.overshoot_p99_us": true, ClockFact: true, OffsetFact: true,
}

// DiffHosts returns one line for each fact in which two hosts differ, by key. Facts
// of a moment (frequency, load, steal) and names are not compared.
func DiffHosts(a, b Host) []string {
	var lines []string
	for _, key := range Unlike(a, b) {
		one, inA := a.Values[key]
		other, inB := b.Values[key]
		switch {
		case !inA:
			lines = append(lines, fmt.Sprintf("%s: unknown, then %q", key, other))
		case !inB:
			lines = append(lines, fmt.Sprintf("%s: %q, then unknown", key, one))
		default:
			lines = append(lines, fmt.Sprintf("%s: %q, then %q", key, one, other))
		}
	}
	return lines
}

// Unlike returns the keys of the facts in which two hosts differ, rising, as
// DiffHosts compares them.
func Unlike(a, b Host) []string {
	keys := slices.Collect(maps.Keys(a.Values))
	for key := range b.Values {
		if _, both := a.Values[key]; !both {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.DeleteFunc(keys, func(key string) bool {
		one, inA := a.Values[key]
		other, inB := b.Values[key]
		return changing[key] || inA && inB && one == other
	})
}

// Away returns the addresses of servers that the trial's clients drove and
// that were no workers of the trial: nothing is known of them but what clients
// see. Nil when the servers are among the workers, or when there are none.
func (r *Record) Away() []string {
	var peers []string
	for _, w := range r.Workers {
		switch {
		case w.Role == contract.Server:
			return nil
		case w.Role == contract.Client && w.Setup != nil && len(peers) == 0:
			peers = w.Setup.Peers
		}
	}
	return peers
}

// Reflected reports whether the worker encoded a message of the user's own as
// protobuf without code generated for it: by reflection, which costs more than
// what an application does. JSON codecs work on ordinary structs and are never
// reflected. A worker that does not say what it did is taken to reflect: none
// could do anything else before there was a field to say it in.
func (w *Worker) Reflected() bool {
	if w.Setup == nil || w.Setup.Exchange.Message == nil || w.Setup.Exchange.Codec != "proto" {
		return false
	}
	if w.Ready == nil || w.Ready.Foreign || w.Ready.Generated {
		return false
	}
	return len(w.Setup.Exchange.Message.Descriptors) > 0 // those that come with netdyno have none, and generated code in every worker
}
