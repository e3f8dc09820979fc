// Package talk is what rig k8s and netdyno-rig-k8s, the program that speaks to a cluster,
// say to each other: one request and one answer at a time, JSON lines on the program's
// stdin and stdout. The end of its stdin ends the program, after it has removed what it made.
//
// Commands in pods are asked for at a Unix socket of its (Enter, Left): each with its three
// files, so that nobody copies bytes but the program.
package talk

import "time"

// Program is its name, beside netdyno's.
const Program = "netdyno-rig-k8s"

const (
	// Lease is how long the first process of a pod lives without a word of the program.
	Lease = 30 * time.Second
	// Renew is how often the program says a word.
	Renew = 5 * time.Second
	// Home is the directory of a pod where programs and temporary files lie.
	Home = "/netdyno"
	// FirstPort and Ports are the row of ports that a service publishes.
	FirstPort, Ports = 20080, 16
	// MaxEnter bounds in bytes the line that asks for a command.
	MaxEnter = 128 << 10
)

// Request is one of these.
type Request struct {
	Open    *Open    `json:"open,omitempty"`
	Make    *Make    `json:"make,omitempty"`
	Settle  *Settle  `json:"settle,omitempty"`
	Sweep   *Sweep   `json:"sweep,omitempty"`
	Publish *Publish `json:"publish,omitempty"`
}

// Open asks for the cluster, and for the removal of what earlier runs left there.
type Open struct {
	Context   string `json:"context,omitempty"`   // of the kubeconfig; empty for its current one
	Namespace string `json:"namespace,omitempty"` // empty for the context's
	Socket    string `json:"socket"`              // path at which commands are asked for
	Run       string `json:"run"`                 // begins the names of everything of this run
	PID       int    `json:"pid"`                 // of netdyno
}

// Make asks for pods.
type Make struct {
	Image    string `json:"image"`
	Programs string `json:"programs,omitempty"` // where the image has netdyno's; empty where they are brought
	CPU      string `json:"cpu,omitempty"`      // quantities of Kubernetes
	Memory   string `json:"memory,omitempty"`
	Security string `json:"security,omitempty"` // "restricted", or empty
	Pods     []Pod  `json:"pods"`
}

// Pod is one pod.
type Pod struct {
	Name    string            `json:"name"`              // as Kubernetes has it
	Node    string            `json:"node,omitempty"`    // asked for; in an answer where it is
	Host    bool              `json:"host,omitempty"`    // it has its node's network
	Address string            `json:"address,omitempty"` // in an answer
	Facts   map[string]string `json:"facts,omitempty"`   // in an answer: of its node and itself
}

// Settle makes netdyno the first process of pods that were brought it. Program is its path
// there, by pod.
type Settle struct {
	Program map[string]string `json:"program"`
}

// Sweep asks that only the first process is left in each pod.
type Sweep struct{}

// Publish asks for a service before a pod.
type Publish struct {
	Pod string `json:"pod"`
}

// Answer is that to a request.
type Answer struct {
	Error   string            `json:"error,omitempty"`   // the cause and the cure
	Pods    []Pod             `json:"pods,omitempty"`    // to make
	Lost    map[string]string `json:"lost,omitempty"`    // to sweep: why, by pod
	Address string            `json:"address,omitempty"` // to publish: the service's
	Last    bool              `json:"last,omitempty"`    // to the end of stdin
	Left    string            `json:"left,omitempty"`    // to the same: what could not be removed
}

// Enter asks for a command in a pod. Its stdin, stdout and stderr come beside it.
type Enter struct {
	Pod  string   `json:"pod"`
	Argv []string `json:"argv"`
}

// Left says how a command ended.
type Left struct {
	Code int    `json:"code"`
	Said string `json:"said,omitempty"` // of the cluster, where it is no status of the command's
}
