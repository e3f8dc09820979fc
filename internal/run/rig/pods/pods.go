// Package pods is the rig of pods in a Kubernetes cluster, as the user's kubeconfig reaches
// it. A program of its own speaks to the cluster (package talk): commands go through exec
// streams, and nothing listens but a Unix socket of the user's.
//
// A pod lives as long as a stream to its first process, which the program holds, and the
// program as long as this process. What outlives both, as an object that has ended, the next
// run removes.
package pods

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"netdyno/internal/quantity"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/pods/talk"
	"netdyno/internal/run/rig/remote"
)

// MaxHosts is how many pods a rig may have.
const MaxHosts = 256

// Options of a rig.
type Options struct {
	Hosts     int
	Context   string // of the kubeconfig; empty for its current one
	Namespace string // empty for the context's
	Network   string // one of networks; empty for the standard
	Nodes     []string
	Bounds    string    // in the rig's name: "cpu=1&memory=1Gi"
	Make      talk.Make // all but the pods
}

// The networks that hosts can be on: that of their node, the cluster's, and the cluster's with
// a service before each pod.
const (
	networkHost    = "host"
	networkPod     = "pod"
	networkService = "service"
)

var networks = []string{networkHost, networkPod, networkService}

// Rig implements rig.Networked, rig.Deployer, rig.Recoverer and rig.Informed. One goroutine at
// a time may use it.
type Rig struct {
	options Options
	several bool   // networks, which trials name
	run     string // begins the names of everything of this run
	socket  string
	self    string // path of this program
	program *program
	sockets *remote.Temporary // directory of the socket, here
	hosts   []rig.Host
	pods    []string                     // by host; hosts on networks pod and service share them
	facts   map[string]map[string]string // by host
}

// New reaches the cluster and removes what earlier runs left there. Pods come with Deploy.
func New(ctx context.Context, o Options) (*Rig, error) {
	r := &Rig{options: o, run: rig.RunName(), facts: map[string]map[string]string{}}
	if err := r.open(ctx); err != nil {
		return nil, fmt.Errorf("rig %s: %w", r.Name(), errors.Join(err, r.Close()))
	}
	return r, nil
}

func (r *Rig) open(ctx context.Context) error {
	var err error
	if r.self, err = os.Executable(); err != nil {
		return err
	}
	path, err := find()
	if err != nil {
		return err
	}
	if r.sockets, err = remote.NewTemporary(ctx, rig.Host{Name: "this host"}); err != nil {
		return err
	}
	r.socket = filepath.Join(r.sockets.Path(), "k8s")
	r.plan("pod", "")
	if r.program, err = startProgram(path); err != nil {
		return err
	}
	_, err = r.program.ask(ctx, talk.Request{Open: &talk.Open{
		Context: r.options.Context, Namespace: r.options.Namespace, Socket: r.socket, Run: r.run, PID: os.Getpid(),
	}})
	return err
}

// plan adds the rig's hosts on a network; "" for the rig's own.
func (r *Rig) plan(name, network string) {
	on := cmp.Or(network, r.options.Network, networkPod)
	kind := on
	if kind == networkService { // the same pods, reached otherwise
		kind = networkPod
	}
	for i := range r.options.Hosts {
		pod := fmt.Sprintf("%s-%s-%d", r.run, kind, i+1)
		h := rig.Host{Name: fmt.Sprintf("%s%d", name, i+1), Network: network, Prefix: []string{r.self, "enter", r.socket, pod, "--"}}
		if on == networkService {
			for port := range talk.Ports {
				h.Ports = append(h.Ports, talk.FirstPort+port)
			}
		}
		r.hosts, r.pods = append(r.hosts, h), append(r.pods, pod)
	}
}

// Networks implements rig.Networked.
func (r *Rig) Networks() []string { return networks }

// On implements rig.Networked. Pods of all networks are on the same nodes.
func (r *Rig) On(names []string) error {
	if r.options.Network != "" {
		return rig.NamedTwice(r, names)
	}
	r.several, r.hosts, r.pods = true, nil, nil
	for _, name := range names {
		if !slices.Contains(networks, name) {
			return fmt.Errorf("rig %s: network=%s; %s", r.Name(), name, quantity.Hint(name, networks))
		}
		r.plan(name+"-", name)
	}
	return nil
}

// Name implements rig.Rig. It has everything that bears on figures and is no level.
func (r *Rig) Name() string {
	network := ""
	if !r.several {
		network = "network=" + cmp.Or(r.options.Network, networkPod)
	}
	return rig.Named(kind, r.options.Hosts, network, r.options.Bounds)
}

// Hosts implements rig.Rig.
func (r *Rig) Hosts() []rig.Host { return slices.Clone(r.hosts) }

// Facts implements rig.Informed.
func (r *Rig) Facts() map[string]map[string]string { return r.facts }

// Deploy implements rig.Deployer: it makes the pods and brings them the files.
func (r *Rig) Deploy(ctx context.Context, files []string) error {
	if err := r.deploy(ctx, files); err != nil {
		return fmt.Errorf("rig %s: %w", r.Name(), err)
	}
	return nil
}

func (r *Rig) deploy(ctx context.Context, files []string) error {
	pods, err := r.stand(ctx)
	if err != nil {
		return err
	}
	settle := talk.Settle{Program: map[string]string{}}
	there := map[string]map[string]string{} // by pod, where files lie
	var entering sync.Mutex
	var bringing errgroup.Group
	for i, h := range r.hosts {
		name := r.pods[i]
		if slices.Index(r.pods, name) < i {
			continue
		}
		bringing.Go(func() error {
			brought, err := bring(ctx, h, r.options.Make.Programs, files)
			entering.Lock()
			defer entering.Unlock()
			there[name] = brought
			settle.Program[name] = brought[files[len(files)-1]] // netdyno itself comes last
			return err
		})
	}
	if err := bringing.Wait(); err != nil {
		return err
	}
	if r.options.Make.Programs != "" { // it stands already
		settle.Program = nil
	}
	if _, err := r.program.ask(ctx, talk.Request{Settle: &settle}); err != nil {
		return err
	}
	for i := range r.hosts {
		h, p := &r.hosts[i], pods[r.pods[i]]
		h.Address, h.Sources, h.Files = p.Address, []string{p.Address}, there[p.Name]
		r.facts[h.Name] = printed(p.Facts)
	}
	return r.publish(ctx)
}

// stand makes the pods, those of a second network on the nodes of the first one's, and returns
// them by name.
func (r *Rig) stand(ctx context.Context) (map[string]talk.Pod, error) {
	made, nodes := map[string]talk.Pod{}, r.options.Nodes
	for first := 0; first < len(r.pods); first += r.options.Hosts {
		if _, again := made[r.pods[first]]; again {
			continue
		}
		asked := r.options.Make
		for i := range r.options.Hosts {
			p := talk.Pod{Name: r.pods[first+i], Host: cmp.Or(r.hosts[first].Network, r.options.Network) == networkHost}
			if len(nodes) > 0 {
				p.Node = nodes[i%len(nodes)]
			}
			asked.Pods = append(asked.Pods, p)
		}
		answer, err := r.program.ask(ctx, talk.Request{Make: &asked})
		if err != nil {
			return nil, err
		}
		nodes = nil
		for _, p := range answer.Pods {
			made[p.Name], nodes = p, append(nodes, p.Node)
		}
	}
	return made, nil
}

// bring returns where files lie at a host that were brought, or are in its image.
func bring(ctx context.Context, h rig.Host, image string, files []string) (map[string]string, error) {
	if image == "" {
		return remote.Bring(ctx, h, talk.Home, files)
	}
	there := map[string]string{}
	asked := []string{path.Join(image, "netdyno"), "sum"}
	for _, file := range files {
		there[file] = path.Join(image, filepath.Base(file))
		asked = append(asked, there[file])
	}
	sums, err := h.Ask(ctx, nil, asked...)
	if err != nil {
		return nil, fmt.Errorf("compare the programs of the image: %w; programs= names the directory of netdyno's programs of this release in the image", err)
	}
	has := strings.Fields(string(sums))
	for i, file := range files {
		own, err := rig.HashFile(file)
		if err != nil {
			return nil, err
		}
		if i >= len(has) || has[i] != own {
			return nil, fmt.Errorf("%s of the image is another program than %s: take an image of this release, or leave programs= out", there[file], file)
		}
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
		if why := answer.Lost[r.pods[i]]; why != "" {
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
