package cells

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// SettingsOf returns what the workers of a trial reported as effective, by role, and
// what the kernel says of their connections.
func SettingsOf(r *record.Record) map[string]string {
	all := tcpSettings(r)
	for _, w := range r.Workers {
		role := string(w.Role)
		if w.Role == contract.Hop { // of which a path may have several
			role = w.Name
		}
		if w.Transport != "" {
			all[role+".transport"] = w.Transport
		}
		if w.Ready == nil {
			continue
		}
		if how := encoding(&w); how != "" {
			all[role+".message"] = how
		}
		if w.Ready.Threads > 0 {
			all[role+".threads"] = fmt.Sprint(w.Ready.Threads)
		}
		if nodes := nodesOf(w.Ready.Nodes); nodes != "" {
			all[role+".numa"] = nodes
		}
		if path := w.Path(); path != "" {
			all[role+".path"] = strings.TrimSpace(path + " " + w.Ready.Path.By)
		}
		for name, value := range w.Ready.Options {
			text, err := json.Marshal(value)
			if err != nil || w.Role == contract.Hop && name == "configuration" { // that its own part shows
				continue
			}
			all[role+"."+name] = strings.Trim(string(text), `"`)
		}
	}
	return all
}

// nodesOf says how many threads are kept to which NUMA node: "4 on node 0, 4 on node 1".
func nodesOf(nodes []int) string {
	count := map[int]int{}
	for _, n := range nodes {
		count[n]++
	}
	var words []string
	for _, n := range slices.Sorted(maps.Keys(count)) {
		words = append(words, fmt.Sprintf("%d on node %d", count[n], n))
	}
	return strings.Join(words, ", ")
}

// delivery returns how content reached the applications: one word when both
// ends agree, by role where they do not, "" when no worker said. An end that
// content does not reach has no say.
func delivery(r *record.Record) string {
	var words, roles []string
	for _, w := range r.Workers {
		if w.Delivery == "" || !reached(w) {
			continue
		}
		if d := string(w.Delivery); !slices.Contains(words, d) {
			words = append(words, d)
		}
		if d := string(w.Role) + " " + string(w.Delivery); !slices.Contains(roles, d) {
			roles = append(roles, d)
		}
	}
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(roles, ", ")
}

// reached tells whether an exchange brings content to this worker.
func reached(w record.Worker) bool {
	up, down, ok := w.Sizes()
	switch {
	case !ok:
		return true
	case w.Role == contract.Hop:
		return false
	case w.Role == contract.Server:
		return up > 0
	case w.Role == contract.Client:
		return down > 0
	}
	return true
}

// The settings of an arm that the kernel reports of its connections, after the
// role and a dot.
const (
	TCPConnections = "tcp_connections" // as many as were counted at the closing edge
	TCPCongestion  = "tcp_congestion"  // the congestion controls in use
)

// tcpSettings returns these of a trial, by role, over all workers of a role.
func tcpSettings(r *record.Record) map[string]string {
	all := map[string]string{}
	w := record.NewWindow(r)
	for _, role := range []contract.Role{contract.Server, contract.Client} {
		spans, ok := w.Spans(role)
		if _, known := record.GrowthOf(spans); !ok || !known {
			continue
		}
		sockets, seen, names := 0, 0, []string{}
		for _, s := range spans {
			_, to, _ := s.TCP()
			sockets, seen = sockets+to.Sockets, seen+s.To.Meter.TCP.Sockets
			names = append(names, to.Congestion...)
		}
		slices.Sort(names)
		all[string(role)+"."+TCPConnections] = fmt.Sprint(sockets)
		if seen < sockets {
			all[string(role)+"."+TCPConnections] += ", by a sample"
		}
		if names = slices.Compact(names); len(names) > 0 {
			all[string(role)+"."+TCPCongestion] = strings.Join(names, ", ")
		}
	}
	return all
}

// encoding says how a worker encoded a message of the user's own as protobuf,
// "" where there was no choice.
func encoding(w *record.Worker) string {
	switch {
	case w.Reflected():
		return "by reflection"
	case w.Ready != nil && w.Ready.Generated:
		return "by generated code"
	}
	return ""
}
