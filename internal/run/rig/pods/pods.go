// Package pods is the rig of pods in a Kubernetes cluster, as the user's kubeconfig reaches
// it. A program of its own speaks to the cluster (package talk): commands go through exec
// streams, and nothing listens but a Unix socket of the user's.
//
// A pod lives as long as a stream to its first process, which the program holds, and the
// program as long as this process. What outlives both, as an object that has ended, the next
// run removes.
package pods

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/pods/talk"
	"netdyno/internal/run/rig/remote"
)

// MaxHosts is how many pods a rig may have.
const MaxHosts = 256

// Options of a rig.
type Options struct {
	Name      string // of the rig, as records have it
	Hosts     int
	Context   string // of the kubeconfig; empty for its current one
	Namespace string // empty for the context's
	Network   string // networkHost or networkPod
	Nodes     []string
	Make      talk.Make // all but the pods
}

// The networks that pods can have.
const (
	networkHost = "host" // that of their node
	networkPod  = "pod"  // the cluster's
)

// Rig implements rig.Rig, rig.Deployer, rig.Recoverer and rig.Informed. One goroutine at a
// time may use it.
type Rig struct {
	options Options
	run     string // begins the names of everything of this run
	program *program
	sockets *remote.Temporary // directory of the program's socket, here
	hosts   []rig.Host
	facts   map[string]map[string]string // by host
}

// New reaches the cluster and removes what earlier runs left there. Pods come with Deploy.
func New(ctx context.Context, o Options) (*Rig, error) {
	r := &Rig{options: o, run: fmt.Sprintf("netdyno-%d-%d", os.Getpid(), time.Now().UnixNano()%1e9), facts: map[string]map[string]string{}}
	if err := r.open(ctx); err != nil {
		return nil, fmt.Errorf("rig %s: %w", o.Name, errors.Join(err, r.Close()))
	}
	return r, nil
}

func (r *Rig) open(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	path, err := find()
	if err != nil {
		return err
	}
	if r.sockets, err = remote.NewTemporary(ctx, rig.Host{Name: "this host"}); err != nil {
		return err
	}
	socket := filepath.Join(r.sockets.Path(), "k8s")
	for i := range r.options.Hosts {
		name := fmt.Sprintf("pod%d", i+1)
		r.hosts = append(r.hosts, rig.Host{Name: name, Prefix: []string{self, "enter", socket, r.podOf(i), "--"}})
	}
	if r.program, err = startProgram(path); err != nil {
		return err
	}
	_, err = r.program.ask(ctx, talk.Request{Open: &talk.Open{
		Context: r.options.Context, Namespace: r.options.Namespace, Socket: socket, Run: r.run, PID: os.Getpid(),
	}})
	return err
}

func (r *Rig) podOf(i int) string { return fmt.Sprintf("%s-%d", r.run, i+1) }

// Name implements rig.Rig.
func (r *Rig) Name() string { return r.options.Name }

// Hosts implements rig.Rig.
func (r *Rig) Hosts() []rig.Host { return slices.Clone(r.hosts) }

// Facts implements rig.Informed.
func (r *Rig) Facts() map[string]map[string]string { return r.facts }

// Deploy implements rig.Deployer: it makes the pods and brings them the files.
func (r *Rig) Deploy(ctx context.Context, files []string) error {
	if err := r.deploy(ctx, files); err != nil {
		return fmt.Errorf("rig %s: %w", r.options.Name, err)
	}
	return nil
}

func (r *Rig) deploy(ctx context.Context, files []string) error {
	asked := r.options.Make
	for i := range r.hosts {
		p := talk.Pod{Name: r.podOf(i), Host: r.options.Network == networkHost}
		if n := len(r.options.Nodes); n > 0 {
			p.Node = r.options.Nodes[i%n]
		}
		asked.Pods = append(asked.Pods, p)
	}
	made, err := r.program.ask(ctx, talk.Request{Make: &asked})
	if err != nil {
		return err
	}
	settle := talk.Settle{Program: map[string]string{}}
	var entering sync.Mutex
	var bringing errgroup.Group
	for i, p := range made.Pods {
		h := &r.hosts[i]
		h.Address, h.Sources = p.Address, []string{p.Address}
		r.facts[h.Name] = printed(p.Facts)
		bringing.Go(func() (err error) {
			if h.Files, err = bring(ctx, *h, asked.Programs, files); err != nil {
				return err
			}
			entering.Lock()
			defer entering.Unlock()
			settle.Program[p.Name] = h.Files[files[len(files)-1]] // netdyno itself comes last
			return nil
		})
	}
	if err := bringing.Wait(); err != nil {
		return err
	}
	_, err = r.program.ask(ctx, talk.Request{Settle: &settle})
	return err
}

// bring returns where files lie at a host that were brought, or are in its image.
func bring(ctx context.Context, h rig.Host, image string, files []string) (map[string]string, error) {
	if image == "" {
		return remote.Bring(ctx, h, talk.Home, files)
	}
	there := map[string]string{}
	for _, file := range files {
		there[file] = path.Join(image, filepath.Base(file))
	}
	return there, nil
}

// Recover implements rig.Recoverer: nothing but its first process is left in any pod. One
// that is lost stays so, as another would have another address.
func (r *Rig) Recover(ctx context.Context) error {
	answer, err := r.program.ask(ctx, talk.Request{Sweep: &talk.Sweep{}})
	if err != nil {
		return err
	}
	var lost []error
	for i, h := range r.hosts {
		if why := answer.Lost[r.podOf(i)]; why != "" {
			lost = append(lost, &rig.HostError{Host: h.Name, Err: errors.New(why)})
		}
	}
	return errors.Join(lost...)
}

// Close implements rig.Rig: everything is removed from the cluster.
func (r *Rig) Close() error {
	var err error
	if r.program != nil {
		err = r.program.end()
		r.program = nil
	}
	if r.sockets != nil {
		err = errors.Join(err, r.sockets.Close())
		r.sockets = nil
	}
	return err
}
