// Package mesh reads a run whose cells are the ordered pairs of some hosts: which
// hosts, cables, pairs and leaves are worse than the others, with the evidence. It
// takes each metric apart into what a host adds as sender and as receiver and what
// is left of each pair, tells that from noise by the blocks, and draws conclusions.
// It is pure: the same trials give the same mesh.
//
// A grid (grid.go) holds a metric by pair and block; polish.go takes it apart,
// noise.go says how far chance reaches, effects.go judges; read.go fills the grids,
// leaves.go finds groups, diagnose.go names what is wrong, hidden.go says what could not
// have been seen, facts.go what is unlike beside what is named.
package mesh

import "netdyno/internal/metric"

// Level is the probability with which anything is named in a mesh of equal hosts.
const Level = 0.05

// The metrics of a mesh. The CPU of each end is per GB of a bulk stream.
const (
	Goodput    = metric.Goodput
	SendCPU    = metric.OfClient + metric.CPUPerGB
	ReceiveCPU = metric.OfServer + metric.CPUPerGB
)

// Mesh is what was found about hosts and what connects them.
type Mesh struct {
	Hosts    []Host    `json:"hosts"`
	Latency  string    `json:"latency,omitempty"` // the metric of latency; "" when none was measured
	Stream   string    `json:"stream,omitempty"`  // the direction of the bulk trials, from the client: "up"
	Middles  []Middle  `json:"middles"`           // of each metric, that of most pairs
	Outliers []Outlier `json:"outliers,omitempty"`
	Hidden   []Hidden  `json:"hidden,omitempty"` // by metric, in the order of Middles; absent where nobody can be named
	Level    float64   `json:"level"`            // family-wise, over all hosts, pairs and metrics
	Margin   float64   `json:"margin"`           // below which hosts count as equal
	Blocks   int       `json:"blocks"`
	Partners int       `json:"partners,omitempty"` // with how many others each host was measured, drawn by lot; 0 for all
	Pairs    int       `json:"pairs"`              // ordered, with any valid trial
	Unnamed  string    `json:"unnamed,omitempty"`  // why nobody can be named; "" when somebody could
}

// Middle is the median pair's figure and the range of the pairs of hosts that are not
// named.
type Middle struct {
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Noise  float64 `json:"noise"` // of one trial, relative
}

// Host is one host, divided by the others, as sender and as receiver. An effect
// without a ratio was not measured.
type Host struct {
	Name       string `json:"name"`
	Leaf       string `json:"leaf,omitempty"` // as the user named it
	Sends      Effect `json:"sends"`          // goodput
	Receives   Effect `json:"receives"`
	Asks       Effect `json:"asks"`    // latency, as the client
	Answers    Effect `json:"answers"` // and as the server
	SendCPU    Effect `json:"send_cpu"`
	ReceiveCPU Effect `json:"receive_cpu"`
	Trials     int    `json:"trials"` // that it took part in, planned
	Valid      int    `json:"valid"`
	Full       int    `json:"full"` // bulk trials in which its CPU was the limit
	Bulk       int    `json:"bulk"` // valid bulk trials
}

// Latency is the host's effect in the role in which it is larger.
func (h Host) Latency() Effect {
	if h.Answers.Ratio > h.Asks.Ratio {
		return h.Answers
	}
	return h.Asks
}

// Kind is what is wrong.
type Kind string

// The kinds of outliers.
const (
	OfHost  Kind = "host"  // the machine: CPU per GB, latency, a full CPU, or trials that it cannot keep to their windows
	OfCable Kind = "cable" // what connects it: card, cable or switch port
	OfPair  Kind = "pair"  // the way between two hosts that are as good as the others elsewhere
	OfLeaf  Kind = "leaf"  // a group of hosts against the rest
	Lost    Kind = "lost"  // its trials failed
)

// Outlier is a host, a pair or a group that is worse than the others.
type Outlier struct {
	Kind     Kind       `json:"kind"`
	Hosts    []string   `json:"hosts"` // one; of a pair the sender and the receiver; of a leaf all of its
	Evidence []Evidence `json:"evidence,omitempty"`
	Full     bool       `json:"full,omitempty"`    // its CPU was the limit of most of its bulk trials
	Reason   string     `json:"reason,omitempty"`  // of a host with missing figures: of its last trial without one
	Missing  int        `json:"missing,omitempty"` // of such a host: trials without a figure
	Of       int        `json:"of,omitempty"`
	Facts    []string   `json:"facts,omitempty"` // in which it is unlike the others
}

// Evidence is one effect by which something is named.
type Evidence struct {
	Metric string `json:"metric"`
	Role   Role   `json:"role"`
	Effect
}

// Role is a host's part in the pairs that an effect is of.
type Role string

// The roles.
const (
	Sends    Role = "sends"
	Receives Role = "receives"
	Asks     Role = "asks"
	Answers  Role = "answers"
	Between  Role = "between" // of a pair, or of two groups
)
