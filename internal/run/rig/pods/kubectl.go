package pods

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"netdyno/internal/printable"
	"netdyno/internal/run/rig"
)

const (
	startTimeout = 5 * time.Minute  // for pods to run, with the pulling of an image
	unplaced     = 30 * time.Second // for a scheduler to find a node that has room
	untaken      = 20 * time.Second // for the kubelet of a named node to take a pod
	between      = 500 * time.Millisecond
)

// Labels of everything that is made.
const (
	ours       = "app.kubernetes.io/managed-by=netdyno"
	runLabel   = "netdyno/run"
	indexLabel = "netdyno/pod"
)

func (r *Rig) selector() string { return ours + "," + runLabel + "=" + r.run }

const roleAdvice = "docs/kubernetes-role.yaml has the role that the rig needs"

// advice is what to do about what the cluster, or kubectl, says; the first that fits.
var advice = []struct{ says, do string }{
	{"violates PodSecurity", "add security=restricted; network=host needs a namespace that is labeled pod-security.kubernetes.io/enforce=privileged, network=pod does not"},
	{"exceeded quota", "ask for less (cpu=, memory=, fewer pods): kubectl describe quota"},
	{"failed quota", "say what it wants stated (cpu=, memory=): kubectl describe quota"},
	{"usage per", "a LimitRange refuses it: set cpu= and memory= within it (kubectl describe limitrange)"},
	{"anti-affinity", "ask for fewer pods, as each is on a node of its own, or name nodes: node=a,a puts two on one"},
	{"Insufficient", "ask for less: cpu=, memory="},
	{"ImagePull", "name an image that the node has or can reach: image=NAME"},
	{"InvalidImageName", "name another image: image=NAME"},
	{"ErrImage", "name an image that the node has or can reach: image=NAME"},
	{"executable file not found", "the image must have cat and sh, as busybox has: image=NAME"},
	{"runAsNonRoot", "security=restricted needs an image that may run as another user"},
	{"orbidden", roleAdvice},
	{"connection to the server", "`kubectl get pods` must work from here"},
}

// advise adds to an error what to do about it.
func advise(err error) error {
	if err == nil {
		return nil
	}
	if named := os.Getenv("KUBECONFIG"); named != "" && strings.Contains(err.Error(), "connection to the server") {
		err = fmt.Errorf("%w (KUBECONFIG=%s)", err, named)
	}
	for _, a := range advice {
		if strings.Contains(err.Error(), a.says) {
			return fmt.Errorf("%w; %s", err, a.do)
		}
	}
	return err
}

// ask runs kubectl here.
func (r *Rig) ask(ctx context.Context, input io.Reader, arguments ...string) ([]byte, error) {
	out, err := rig.Host{Name: "this host"}.Ask(ctx, input, slices.Concat(r.kubectl, arguments)...)
	return out, advise(err)
}

// create makes objects. When this process is killed the making goes on to its end, and holds
// the remover back, which otherwise would come too early.
func (r *Rig) create(ctx context.Context, objects []object) error {
	text, err := json.Marshal(object{"apiVersion": "v1", "kind": "List", "items": objects})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, holdTimeout, fmt.Errorf("no answer within %v", holdTimeout))
	defer cancel()
	c := exec.CommandContext(ctx, r.kubectl[0], slices.Concat(r.kubectl[1:], []string{"create", "--validate=false", "-f", "-"})...)
	var said rig.Tail
	c.Stdin, c.Stderr, c.ExtraFiles = bytes.NewReader(text), &said, []*os.File{r.remover.Hold}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Run(); err != nil {
		return advise(fmt.Errorf("kubectl create: %w; it said: %s", cmp.Or(context.Cause(ctx), err), strings.TrimSpace(said.String())))
	}
	return nil
}

// pod is what is read of one.
// Source: Kubernetes API, core/v1, Pod.
type pod struct {
	Metadata struct{ Name, UID, DeletionTimestamp string }
	Spec     struct{ NodeName string }
	Status   struct {
		Phase, PodIP, QOSClass, StartTime string
		saying
		Conditions        []condition
		ContainerStatuses []struct {
			ImageID string
			State   struct {
				Waiting    *saying
				Terminated *struct {
					saying
					ExitCode int
				}
			}
		}
	}
}

type condition struct {
	Type, Status string
	saying
}

// saying is why something is as it is.
type saying struct{ Reason, Message string }

func (s saying) String() string {
	if s == (saying{}) {
		return "the cluster gives no reason"
	}
	return strings.Trim(s.Reason+": "+strings.TrimSpace(s.Message), ": ")
}

// list returns the run's pods by name.
func (r *Rig) list(ctx context.Context) (map[string]pod, error) {
	text, err := r.ask(ctx, nil, "get", "pods", "--selector="+r.selector(), "--output=json")
	if err != nil {
		return nil, err
	}
	var said struct{ Items []pod }
	if err := json.Unmarshal(text, &said); err != nil {
		return nil, fmt.Errorf("read what kubectl says of the pods: %w", err)
	}
	found := map[string]pod{}
	for _, p := range said.Items {
		found[p.Metadata.Name] = p
	}
	return found, nil
}

// standing waits until some pods run, or one of them never will.
func (r *Rig) standing(ctx context.Context, asked []string) (map[string]pod, error) {
	for begun := time.Now(); ; {
		found, err := r.list(ctx)
		if err != nil {
			return nil, err
		}
		waits := ""
		for _, name := range asked {
			p, there := found[name]
			if !there {
				return nil, fmt.Errorf("pod %s was deleted before it ran, as the cluster does where node %s does not exist", name, strings.Join(r.options.Nodes, " or "))
			}
			if p.Status.Phase == "Running" && p.Status.PodIP != "" {
				continue
			}
			why, hopeless := p.waits(time.Since(begun))
			waits = fmt.Sprintf("pod %s of %s does not start: %s", name, r.options.Image, why)
			if hopeless {
				return nil, advise(fmt.Errorf("%s", waits))
			}
		}
		if waits == "" {
			return found, nil
		}
		if time.Since(begun) > startTimeout {
			return nil, advise(fmt.Errorf("%s, for %v; `kubectl describe pods` tells more while a run waits", waits, startTimeout))
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(between):
		}
	}
}

// waits says what a pod waits for that does not run yet, and whether it waits in vain.
func (p pod) waits(waited time.Duration) (why string, hopeless bool) {
	for _, s := range p.Status.ContainerStatuses {
		if t := s.State.Terminated; t != nil {
			return fmt.Sprintf("its first process ended with status %d: %s", t.ExitCode, t.saying), true
		}
		if w := s.State.Waiting; w != nil {
			return w.String(), w.Reason != "ContainerCreating" && w.Reason != "PodInitializing"
		}
	}
	if p.Status.Phase == "Failed" {
		return p.Status.String(), true
	}
	for _, c := range p.Status.Conditions {
		if c.Type == "PodScheduled" && c.Status == "False" {
			return "no node takes it: " + c.Message, waited > unplaced
		}
	}
	if p.Status.StartTime == "" && p.Spec.NodeName != "" {
		return fmt.Sprintf("the kubelet of node %s does not take it: there is no such node, or it is not ready (kubectl get nodes)", p.Spec.NodeName), waited > untaken
	}
	return strings.ToLower(p.Status.Phase), false
}

// lost returns why a pod can no longer be used; empty where it stands.
func (p pod) lost(name string) string {
	on := fmt.Sprintf("pod %s on node %s", name, p.Spec.NodeName)
	switch {
	case p.Metadata.Name == "":
		return fmt.Sprintf("pod %s was deleted in the middle of the run (a drain of its node, kubectl delete, a preemption)", name)
	case p.Metadata.DeletionTimestamp != "":
		return on + " is being deleted by somebody else (a drain, kubectl delete, a preemption)"
	case p.Status.Reason != "":
		return on + " is lost: " + p.Status.String()
	}
	for _, s := range p.Status.ContainerStatuses {
		if t := s.State.Terminated; t != nil {
			return fmt.Sprintf("%s ended with status %d: %s; of a lack of memory, memory= gives it more", on, t.ExitCode, t.saying)
		}
	}
	for _, c := range p.Status.Conditions {
		if c.Type == "Ready" && c.Status != "True" {
			return on + " is not ready: " + c.saying.String() + "; kubectl get nodes shows whether its node is"
		}
	}
	return ""
}

// factsOf are what the cluster says of a pod.
func (r *Rig) factsOf(p pod) map[string]string {
	f := map[string]string{"k8s.node": p.Spec.NodeName, "k8s.pod_qos": p.Status.QOSClass, "k8s.image": r.options.Image}
	if len(p.Status.ContainerStatuses) > 0 {
		f["k8s.image_id"] = p.Status.ContainerStatuses[0].ImageID
	}
	for key, value := range f {
		if f[key] = printable.Text(value); value == "" {
			delete(f, key)
		}
	}
	return f
}
