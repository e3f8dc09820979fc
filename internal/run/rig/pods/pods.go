// Package pods is the rig of pods in a Kubernetes cluster, as kubectl and the user's kubeconfig
// reach it: every command goes through kubectl exec, and nothing listens.
//
// A pod lives as long as the stdin of its first process, cat(1), to which kubectl attach holds
// a stream that ends with this process, however it ends; and a shell that waits for the same
// end removes pods. What outlives both, as an object that has ended, the next run
// removes.
package pods

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"netdyno/internal/quantity"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/remote"
)

// MaxHosts is how many pods a rig may have.
const MaxHosts = 64

// Options of a rig.
type Options struct {
	Hosts     int
	Context   string // of the kubeconfig; empty for its current one
	Namespace string // empty for the context's
	Network   string // one of networks; empty for the standard
	Nodes     []string
	Bounds    string // in the rig's name: "cpu=1&memory=1Gi"
	Image     string
	CPU       string // quantities of Kubernetes
	Memory    string
	Security  string // "restricted", or empty
}

// The networks that hosts can be on: that of their node, and the cluster's.
const (
	networkHost = "host"
	networkPod  = "pod"
)

var networks = []string{networkHost, networkPod}

const (
	holdTimeout  = time.Minute      // for a pod that runs to be attached to
	reachTimeout = 10 * time.Second // for a command that takes no time
)

// Rig implements rig.Networked, rig.Deployer, rig.Recoverer and rig.Informed. One goroutine at
// a time may use it.
type Rig struct {
	options Options
	several bool     // networks, which trials name
	run     string   // begins the names of everything of this run
	kubectl []string // argv, with the context and the namespace
	hosts   []rig.Host
	pods    []string // by host
	held    []*rig.Held
	brought *remote.Rig
	remover *rig.Remover
	facts   map[string]map[string]string // by host
}

// New reaches the cluster and removes what earlier runs left there. Pods come with Deploy.
func New(ctx context.Context, o Options) (*Rig, error) {
	r := &Rig{options: o, run: rig.RunName(), facts: map[string]map[string]string{}}
	if err := r.open(ctx); err != nil {
		return nil, fmt.Errorf("rig %s: %w", r.Name(), err)
	}
	return r, nil
}

func (r *Rig) open(ctx context.Context) error {
	path, err := exec.LookPath("kubectl")
	if err != nil {
		return fmt.Errorf("%w; kubernetes.io/docs/tasks/tools says how it is installed", err)
	}
	r.kubectl = []string{path}
	if r.options.Context != "" {
		r.kubectl = append(r.kubectl, "--context="+r.options.Context)
	}
	if r.options.Namespace != "" {
		r.kubectl = append(r.kubectl, "--namespace="+r.options.Namespace)
	}
	r.plan("pod", "")
	const over = "--field-selector=status.phase!=Running,status.phase!=Pending,status.phase!=Unknown"
	if _, err := r.ask(ctx, nil, "delete", "pods", "--selector="+ours, over, "--wait=false"); err != nil {
		return err
	}
	// What may not be deleted must not be made.
	if _, err := r.ask(ctx, nil, "auth", "can-i", "--quiet", "delete", "pods"); err != nil {
		return fmt.Errorf("you cannot delete pods, so none is made: %w; %s", err, roleAdvice)
	}
	return nil
}

// plan adds the rig's hosts on a network; "" for the rig's own.
func (r *Rig) plan(name, network string) {
	kind := cmp.Or(network, r.options.Network, networkPod)
	for i := range r.options.Hosts {
		pod := fmt.Sprintf("%s-%s-%d", r.run, kind, i+1)
		h := rig.Host{Name: fmt.Sprintf("%s%d", name, i+1), Network: network, Prefix: slices.Concat(r.kubectl, []string{"exec", "-i", pod, "--"})}
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

func (r *Rig) deploy(ctx context.Context, files []string) (err error) {
	const script = `"$@" >/dev/null`
	remove := slices.Concat(r.kubectl, []string{"delete", "pods", "--selector=" + r.selector(), "--force", "--grace-period=0", "--wait=false"})
	if r.remover, err = rig.StartRemover(script, remove...); err != nil {
		return err
	}
	pods, err := r.stand(ctx)
	if err != nil {
		return err
	}
	for i := range r.hosts {
		h, p := &r.hosts[i], pods[r.pods[i]]
		h.Address, h.Sources = p.Status.PodIP, []string{p.Status.PodIP}
		r.facts[h.Name] = r.factsOf(p)
	}
	r.brought = remote.New(r.Name(), r.hosts, false)
	if err := r.brought.Deploy(ctx, files); err != nil {
		return advise(err)
	}
	r.hosts = r.brought.Hosts()
	return nil
}

// stand makes the pods, those of a second network on the nodes of the first one's, holds them,
// and returns them by name.
func (r *Rig) stand(ctx context.Context) (map[string]pod, error) {
	made, nodes := map[string]pod{}, r.options.Nodes
	for first := 0; first < len(r.pods); first += r.options.Hosts {
		asked := r.pods[first : first+r.options.Hosts]
		onHost := cmp.Or(r.hosts[first].Network, r.options.Network) == networkHost
		if err := r.create(ctx, r.manifests(asked, nodes, onHost)); err != nil {
			return nil, err
		}
		found, err := r.standing(ctx, asked)
		if err != nil {
			return nil, err
		}
		nodes = nil
		for _, name := range asked {
			made[name], nodes = found[name], append(nodes, found[name].Spec.NodeName)
		}
		if err := r.hold(ctx, asked); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// hold attaches to the first process of each pod, which ends with that stream.
func (r *Rig) hold(ctx context.Context, pods []string) error {
	held := make([]*rig.Held, len(pods))
	var holding errgroup.Group
	for i, name := range pods {
		holding.Go(func() (err error) {
			if held[i], err = rig.Hold(ctx, holdTimeout, syscall.SIGKILL, slices.Concat(r.kubectl, []string{"attach", "-i", "-q", name})...); err != nil {
				return advise(fmt.Errorf("attach to pod %s: %w", name, err))
			}
			return nil
		})
	}
	err := holding.Wait()
	r.held = append(r.held, slices.DeleteFunc(held, func(h *rig.Held) bool { return h == nil })...)
	return err
}

// Recover implements rig.Recoverer. A pod that is lost stays so, as another would have another
// address.
func (r *Rig) Recover(ctx context.Context) error {
	found, err := r.list(ctx)
	if err != nil {
		return err
	}
	reached, lost := rig.AtEach(r.hosts, func(i int) error {
		name := r.pods[i]
		if why := found[name].lost(name); why != "" {
			return errors.New(why)
		}
		ctx, cancel := context.WithTimeout(ctx, reachTimeout)
		defer cancel()
		if _, err := r.hosts[i].Ask(ctx, nil, "true"); err != nil {
			return fmt.Errorf("pod %s on node %s does not answer: %w", name, found[name].Spec.NodeName, err)
		}
		return nil
	})
	// What is said of files on a pod that is lost follows from that.
	return errors.Join(lost, rig.ErrorOf(r.brought.Recover(ctx), reached...))
}

// Close implements rig.Rig: everything is removed from the cluster. Files go with their pods.
func (r *Rig) Close() error {
	var closing errgroup.Group
	for _, h := range r.held {
		closing.Go(h.Release)
	}
	err := closing.Wait()
	r.held = nil
	if r.remover != nil {
		err = errors.Join(err, r.remover.Remove())
		r.remover = nil
	}
	if r.brought != nil {
		_ = r.brought.Close() // what it holds has ended with the pods
		r.brought = nil
	}
	return err
}
