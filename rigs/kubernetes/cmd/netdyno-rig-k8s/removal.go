package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"netdyno/internal/procstat"
)

const (
	// removeTimeout bounds the removal of everything.
	removeTimeout = time.Minute
	// forceAfter is when a pod is no longer waited for: its node does not answer.
	forceAfter = 20 * time.Second
	// stale is how long the pods of a run from elsewhere have ended before they are taken
	// for left: that run may still say why they ended.
	stale = 10 * time.Minute
	// between two looks at the cluster.
	between = 200 * time.Millisecond
)

// remove ends commands and removes everything of the run.
func (p *program) remove() error {
	if p.door != nil {
		p.door.close()
	}
	if !p.made {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), removeTimeout, fmt.Errorf("not removed within %v", removeTimeout))
	defer cancel()
	for _, b := range p.boxes {
		b.end()
	}
	if err := p.cluster.removeRun(ctx, p.run); err != nil {
		return fmt.Errorf("remove what the run made in namespace %s (`kubectl delete pods,services -l %s` does): %w", p.cluster.namespace, selector(p.run), err)
	}
	return nil
}

// removeRun deletes until nothing is there.
func (c *cluster) removeRun(ctx context.Context, run string) error {
	begun, asked := time.Now(), map[string]int64{}
	for {
		left, err := c.delete(ctx, run, begun, asked)
		if left == 0 && err == nil {
			return nil
		}
		if apierrors.IsForbidden(err) { // waiting grants nothing
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(between):
		}
	}
}

// delete asks for the removal of what is there, each once with grace and once without.
func (c *cluster) delete(ctx context.Context, run string, begun time.Time, asked map[string]int64) (left int, err error) {
	grace := int64(1)
	if time.Since(begun) > forceAfter {
		grace = 0
	}
	pods, err := c.pods(ctx, run)
	if err != nil {
		return 0, err
	}
	services, err := c.services(ctx, run)
	if err != nil && len(pods) == 0 { // without the right to list there is none
		return 0, nil
	}
	remove := func(resource, name string) {
		if was, before := asked[resource+name]; before && was <= grace {
			return
		}
		asked[resource+name] = grace
		err = errors.Join(err, c.remove(ctx, resource, name, grace))
	}
	for _, pod := range pods {
		remove("pods", pod.Name)
	}
	for _, s := range services {
		remove("services", s.Name)
	}
	return len(pods) + len(services), err
}

// sweepLeft removes what runs of this user left that were killed together with what should
// have removed it.
func (c *cluster) sweepLeft(ctx context.Context) error {
	pods, err := c.pods(ctx, "")
	if err != nil {
		return err
	}
	begun, gone := time.Now(), map[string]bool{}
	for _, pod := range pods {
		if run := pod.Labels[runLabel]; run != "" && left(pod.ObjectMeta, ended(&pod), begun) {
			gone[run] = true
		}
	}
	services, err := c.services(ctx, "")
	if err == nil {
		for _, s := range services {
			if run := s.Labels[runLabel]; run != "" && left(s.ObjectMeta, time.Time{}, begun) {
				gone[run] = true
			}
		}
	}
	for run := range gone {
		if err := c.removeRun(ctx, run); err != nil {
			return fmt.Errorf("remove what an earlier run left (%s): %w", selector(run), err)
		}
	}
	return nil
}

// ended is when a pod ended; zero while it has not.
func ended(pod *corev1.Pod) time.Time {
	if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
		return time.Time{}
	}
	at := pod.CreationTimestamp.Time
	for _, s := range pod.Status.ContainerStatuses {
		if t := s.State.Terminated; t != nil && t.FinishedAt.After(at) {
			at = t.FinishedAt.Time
		}
	}
	return at
}

// left tells whether an object is a run's of this user that is over.
func left(o metav1.ObjectMeta, ended, now time.Time) bool {
	was, me := strings.Fields(o.Annotations[holderNote]), strings.Fields(holderOf(os.Getpid()))
	const user, host, boot, pid, start = 0, 1, 2, 3, 4
	switch {
	case len(was) <= start || was[user] != me[user]:
		return false
	case was[host] == me[host] && was[boot] == me[boot]:
		return started(was[pid]) != was[start]
	}
	return !ended.IsZero() && now.Sub(ended) > stale
}

// holderOf names a process of this host for all time: user, host, boot, process, and when
// that began.
func holderOf(pid int) string {
	who, host := "unknown", "unknown"
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	if name, err := os.Hostname(); err == nil {
		host = name
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // without one every boot is the same
	id := strconv.Itoa(pid)
	return strings.Join([]string{word(who), word(host), word(string(boot)), id, started(id)}, " ")
}

func word(text string) string {
	if fields := strings.Fields(text); len(fields) > 0 {
		return strings.Join(fields, "_")
	}
	return "unknown"
}

// started is when a process of this host began, in the kernel's ticks; "-" of none.
func started(pid string) string {
	id, err := strconv.Atoi(pid)
	if s := procstat.Of(id); err == nil && s.Has(procstat.Began) {
		return strconv.FormatInt(s.Number(procstat.Began), 10)
	}
	return "-"
}
