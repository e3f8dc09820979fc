package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"netdyno/internal/run/rig/pods/talk"
)

const (
	// startTimeout is for a pod to run, with the pulling of its image.
	startTimeout = 5 * time.Minute
	// unplaced is how long a pod may wait for a node that has room for it.
	unplaced = 30 * time.Second
	// untaken is how long the kubelet of a named node may leave a pod.
	untaken = 20 * time.Second
	// nodeTimeout is for a command that takes no time.
	nodeTimeout = 5 * time.Second
)

// make makes the pods, waits until they run, and takes hold of each.
func (p *program) make(ctx context.Context, m talk.Make) ([]talk.Pod, error) {
	var asked []*corev1.Pod
	for i := range m.Pods {
		pod, err := manifest(p.cluster, p.run, i, m)
		if err != nil {
			return nil, err
		}
		asked = append(asked, pod)
	}
	if err := p.cluster.mayNot(ctx, act{"delete", "pods", p.cluster.namespace}); err != nil {
		return nil, err
	}
	p.made = true
	var making errgroup.Group
	for _, pod := range asked {
		// Not to be given up: what is made after all is looked for would stay.
		making.Go(func() error { return p.cluster.create(context.WithoutCancel(ctx), "pods", pod) })
	}
	if err := making.Wait(); err != nil {
		return nil, err
	}
	standing, err := p.cluster.standing(ctx, p.run, asked)
	if err != nil {
		return nil, err
	}
	boxes, made := make([]*box, len(asked)), make([]talk.Pod, len(asked))
	var holding errgroup.Group
	for i := range asked {
		pod := standing[asked[i].Name]
		holding.Go(func() error {
			made[i] = talk.Pod{Name: pod.Name, Node: pod.Spec.NodeName, Address: pod.Status.PodIP, Host: pod.Spec.HostNetwork, Facts: p.cluster.facts(ctx, pod)}
			boxes[i] = p.cluster.hold(pod.Name)
			return nil
		})
	}
	_ = holding.Wait() // nothing errs
	p.boxes = append(p.boxes, boxes...)
	return made, nil
}

// standing waits until all pods run, or one of them never will.
func (c *cluster) standing(ctx context.Context, run string, asked []*corev1.Pod) (map[string]*corev1.Pod, error) {
	begun := time.Now()
	for {
		list, err := c.pods(ctx, run)
		if err != nil {
			return nil, err
		}
		found, up := map[string]*corev1.Pod{}, 0 // those of another network too
		for i := range list {
			found[list[i].Name] = &list[i]
		}
		waits := ""
		for _, a := range asked {
			pod := found[a.Name]
			if pod == nil {
				return nil, fmt.Errorf("pod %s was deleted before it ran; where its node does not exist the cluster does so", a.Name)
			}
			if pod.Status.Phase == corev1.PodRunning && pod.Status.PodIP != "" {
				up++
				continue
			}
			if why := hopeless(pod, time.Since(begun)); why != "" {
				return nil, fmt.Errorf("pod %s does not start: %s", pod.Name, why)
			}
			waits = fmt.Sprintf("pod %s does not start: %s%s", pod.Name, state(pod), c.events(ctx, pod.Name, time.Since(begun)))
		}
		if up == len(asked) {
			return found, nil
		}
		if time.Since(begun) > startTimeout {
			return nil, fmt.Errorf("%s, for %v; `kubectl describe pods` may tell more while a run waits", waits, startTimeout)
		}
		if err := pause(ctx, between); err != nil {
			return nil, err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// hopeless returns why a pod that does not run yet will not, with what to do; empty while it
// may.
func hopeless(pod *corev1.Pod, waited time.Duration) string {
	for _, s := range pod.Status.ContainerStatuses {
		if w := s.State.Waiting; w != nil {
			if cure, known := startFailures[w.Reason]; known {
				return told(w.Reason, w.Message) + "; " + strings.ReplaceAll(cure, "IMAGE", pod.Spec.Containers[0].Image)
			}
		}
		if t := s.State.Terminated; t != nil {
			return fmt.Sprintf("its first process ended with status %d: %s; the image must have sh, or netdyno where programs= says", t.ExitCode, told(t.Reason, t.Message))
		}
	}
	if phase := pod.Status.Phase; phase == corev1.PodFailed || phase == corev1.PodSucceeded {
		return told(pod.Status.Reason, pod.Status.Message) + "; where the node lacks room, ask for less (cpu=, memory=) or name another node"
	}
	if at := condition(pod, corev1.PodScheduled); at != nil && at.Reason == corev1.PodReasonUnschedulable && waited > unplaced {
		return "no node takes it: " + at.Message + "; ask for less (cpu=, memory=), for fewer pods, as each is on a node of its own, or name nodes: node=a,a puts two on one"
	}
	if pod.Spec.NodeName != "" && pod.Status.StartTime == nil && waited > untaken {
		return fmt.Sprintf("the kubelet of node %s does not take it: there is no such node, or it is not ready (`kubectl get nodes`); name another: node=NAME", pod.Spec.NodeName)
	}
	if pod.Spec.NodeName == "" && condition(pod, corev1.PodScheduled) == nil && waited > unplaced {
		return "no scheduler of the cluster looked at it; name nodes: node=a,b"
	}
	return ""
}

// startFailures are reasons for which a container waits in vain, with what to do.
var startFailures = map[string]string{
	"ErrImagePull":               "the node cannot pull IMAGE: name an image that it can reach or has: image=NAME",
	"ImagePullBackOff":           "the node cannot pull IMAGE: name an image that it can reach or has: image=NAME",
	"ErrImageNeverPull":          "IMAGE is not on the node, and is not pulled there: name one that is: image=NAME",
	"InvalidImageName":           "IMAGE is no name of an image: image=NAME",
	"ImageInspectError":          "the node cannot read IMAGE: name another: image=NAME",
	"CreateContainerConfigError": "where the image runs as root, security=restricted needs one that may run as another user",
	"CreateContainerError":       "IMAGE makes no container there: the image must have sh, or netdyno where programs= says",
	"RunContainerError":          "IMAGE does not run there: the image must have sh, or netdyno where programs= says, for the node's architecture",
	"CrashLoopBackOff":           "IMAGE does not run there: the image must have sh, or netdyno where programs= says",
}

func told(reason, message string) string {
	reason, message = strings.TrimSpace(reason), strings.TrimSpace(message)
	switch {
	case message == "" && reason == "":
		return "the cluster gives no reason"
	case message == "":
		return reason
	case reason == "":
		return message
	}
	return reason + ": " + message
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if at := &pod.Status.Conditions[i]; at.Type == kind && at.Status == corev1.ConditionFalse {
			return at
		}
	}
	return nil
}

// state is what a pod that does not run yet waits for.
func state(pod *corev1.Pod) string {
	for _, s := range pod.Status.ContainerStatuses {
		if w := s.State.Waiting; w != nil {
			return told(w.Reason, w.Message)
		}
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodReadyToStartContainers} {
		if at := condition(pod, kind); at != nil {
			return told(at.Reason, at.Message)
		}
	}
	return strings.ToLower(string(pod.Status.Phase))
}

// events returns the last warning about a pod that has waited long: of a network that is not
// set up, say, only events tell. Without the right to list them there is none.
func (c *cluster) events(ctx context.Context, pod string, waited time.Duration) string {
	if waited < unplaced {
		return ""
	}
	var list corev1.EventList
	r, _ := c.request("list", "events")
	err := r.VersionedParams(&metav1.ListOptions{FieldSelector: "involvedObject.name=" + pod + ",type=Warning"}, parameters).Do(ctx).Into(&list)
	if err != nil || len(list.Items) == 0 {
		return ""
	}
	last := list.Items[len(list.Items)-1]
	return " (" + told(last.Reason, last.Message) + ")"
}

// lost returns why a pod can no longer be used; empty where it stands.
func (c *cluster) lost(ctx context.Context, name string) string {
	pod, err := c.pod(ctx, name)
	if err != nil {
		return err.Error()
	}
	switch {
	case pod == nil:
		return fmt.Sprintf("pod %s was deleted in the middle of the run (a drain of its node, kubectl delete, a preemption); run again when that is over", name)
	case pod.Status.Reason == "Evicted":
		return fmt.Sprintf("pod %s was evicted from node %s: %s; free the node, or ask for memory= so that the pod is evicted last", name, pod.Spec.NodeName, pod.Status.Message)
	case pod.DeletionTimestamp != nil:
		return fmt.Sprintf("pod %s is being deleted by somebody else (a drain of node %s, kubectl delete, a preemption); run again when that is over", name, pod.Spec.NodeName)
	}
	for _, s := range pod.Status.ContainerStatuses {
		if t := s.State.Terminated; t != nil {
			return fmt.Sprintf("pod %s ended on node %s with status %d: %s%s", name, pod.Spec.NodeName, t.ExitCode, told(t.Reason, t.Message), memoryCure(t.Reason))
		}
	}
	if pod.Status.Phase == corev1.PodFailed {
		return fmt.Sprintf("pod %s ended on node %s: %s", name, pod.Spec.NodeName, told(pod.Status.Reason, pod.Status.Message))
	}
	if at := condition(pod, corev1.PodReady); at != nil && pod.Status.Phase == corev1.PodRunning {
		return silent(pod, told(at.Reason, at.Message))
	}
	// The cluster notices a node that is gone a minute later: what a new stream says is new.
	ctx, cancel := context.WithTimeoutCause(ctx, nodeTimeout, fmt.Errorf("no answer within %v", nodeTimeout))
	defer cancel()
	if _, err := c.stream(ctx, command{pod: name, argv: []string{"true"}, out: io.Discard, said: io.Discard}); err != nil && (ctx.Err() != nil || unreached(err)) {
		return silent(pod, cmp.Or(context.Cause(ctx), err).Error())
	}
	return ""
}

// unreached tells by what the API server says of a stream that it does not reach the kubelet:
// of one by SPDY, and of one by a WebSocket.
func unreached(err error) bool {
	return strings.Contains(err.Error(), "error dialing backend") || strings.Contains(err.Error(), "error sending request")
}

func silent(pod *corev1.Pod, why string) string {
	return fmt.Sprintf("node %s of pod %s does not answer: %s; `kubectl get nodes` shows whether it is ready", pod.Spec.NodeName, pod.Name, why)
}

func memoryCure(reason string) string {
	if reason == "OOMKilled" {
		return "; give the pod more: memory="
	}
	return ""
}
