package kube_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"netdyno/internal/record"
	"netdyno/test/running"
	"netdyno/test/trials"
)

// small is a study of a fixed amount of work, so that a busy machine ends it too.
var small = []string{"transport=go-net", "connections=4", "blocks=1", "amount=500", "placement=free"}

// brief is a study of many trials, given their blocks.
func brief(blocks int) []string {
	return []string{"transport=go-net", "connections=4", fmt.Sprintf("blocks=%d", blocks), "window=200ms", "warmup=50ms", "placement=free"}
}

var endless = brief(100)

func TestKubernetes(t *testing.T) {
	if !thorough {
		b := newBed(t, 1)
		b.runs(t, "k8s:2?node=node1,node1", small, 2)
		return
	}
	b := newBed(t, 2)
	for name, test := range map[string]func(*testing.T){
		"runs":            b.testRuns,
		"networks":        b.testNetworks,
		"guaranteed":      b.testGuaranteed,
		"refusals":        b.testRefusals,
		"pod deleted":     b.testPodDeleted,
		"killed":          b.testKilled,
		"killed together": b.testKilledTogether,
	} {
		t.Run(name, test)
	}
	t.Run("kubelet killed", b.testKubeletKilled) // and comes back
	t.Run("node vanishes", b.testNodeVanishes)   // as above
}

// runs runs a study of so many trials, all of which measure something, and leaves nothing.
func (b bed) runs(t *testing.T, rig string, args []string, trialsOf int) record.Contents {
	t.Helper()
	var contents record.Contents
	trials.Repeat(func() (disturbed bool) {
		u := b.start(t, rig, args...)
		_, said := u.End(t)
		contents = u.Contents(t)
		if got := len(contents.Records); got != trialsOf {
			t.Fatalf("%d records, want %d; netdyno said:\n%s", got, trialsOf, said)
		}
		for _, r := range contents.Records {
			if r.Outcome != record.OK && trials.Disturbed(r.Failure.Text) {
				disturbed = true
			} else if r.Outcome != record.OK {
				t.Errorf("trial %s is %s: %v", r.Trial.ID, r.Outcome, r.Failure)
			}
		}
		return disturbed
	})
	b.nothingLeft(t, namespace)
	return contents
}

// A study runs across two pods on two nodes, on the pods' network.
func (b bed) testRuns(t *testing.T) {
	contents := b.runs(t, "k8s:2", small, 2)
	nodes := map[string]bool{}
	for _, host := range contents.Header.Facts.Seats {
		if node := host.Values["k8s.node"]; node != "" {
			nodes[node] = true
		}
	}
	if want := []string{"node1", "node2"}; !slices.Equal(slices.Sorted(maps.Keys(nodes)), want) {
		t.Errorf("pods were on %v, want %v", nodes, want)
	}
}

// The network is a factor: that of the node, and the pods'.
func (b bed) testNetworks(t *testing.T) {
	contents := b.runs(t, "k8s:2", slices.Concat(small, []string{"network=host,pod"}), 3) // the baseline runs twice
	seen := map[string]bool{}
	for _, r := range contents.Records {
		seen[r.Trial.Arm] = true
	}
	if want := []string{"host", "pod"}; !slices.Equal(slices.Sorted(maps.Keys(seen)), want) {
		t.Errorf("there are trials of %v, want %v", seen, want)
	}
}

// A pod whose CPUs and memory are given is bounded by them, and in its node's best class.
func (b bed) testGuaranteed(t *testing.T) {
	u := b.start(t, "k8s:2?cpu=500m&memory=512Mi", endless...)
	u.Next(t, 0)
	text, err := b.Get("/api/v1/namespaces/" + namespace + "/pods")
	if err != nil || strings.Count(string(text), `"qosClass":"Guaranteed"`) != 2 {
		t.Errorf("the pods are not in class Guaranteed: %v, %s", err, text)
	}
	_ = u.Cmd.Process.Signal(syscall.SIGINT)
	u.End(t)
	b.nothingLeft(t, namespace)
}

// What cannot be is refused in one line with the cause and what to do, and leaves nothing.
func (b bed) testRefusals(t *testing.T) {
	for name, refused := range map[string]struct {
		rig  string
		make string // by the admin, before
		env  string // of netdyno
		says []string
	}{
		"no such file":  {rig: "k8s:2", env: "KUBECONFIG=/nowhere", says: []string{"/nowhere", "KUBECONFIG"}},
		"no such space": {rig: "k8s:2?namespace=nowhere", says: []string{"nowhere"}},
		"pod security": {rig: "k8s:2?namespace=locked&network=host", says: []string{"violates PodSecurity", "network=pod"},
			make: "{apiVersion: v1, kind: Namespace, metadata: {name: locked, labels: {pod-security.kubernetes.io/enforce: restricted}}}"},
		"quota": {rig: "k8s:2?namespace=tight", says: []string{"exceeded quota", "kubectl describe quota"},
			make: "{apiVersion: v1, kind: Namespace, metadata: {name: tight}}\n---\n{apiVersion: v1, kind: ResourceQuota, metadata: {name: one, namespace: tight}, spec: {hard: {pods: 1}}}"},
		"limit range": {rig: "k8s:2?namespace=small&cpu=1&memory=4Gi", says: []string{"maximum memory usage per", "LimitRange"},
			make: "{apiVersion: v1, kind: Namespace, metadata: {name: small}}\n---\n{apiVersion: v1, kind: LimitRange, metadata: {name: one, namespace: small}, spec: {limits: [{type: Container, max: {memory: 1Gi}}]}}"},
		"missing image": {rig: "k8s:2?image=localhost/absent:1", says: []string{"localhost/absent:1", "image=NAME"}},
		"no such node":  {rig: "k8s:2?node=node1,node9", says: []string{"node9"}},
		"too large":     {rig: "k8s:2?cpu=64", says: []string{"Insufficient cpu", "ask for less"}},
		"too many":      {rig: "k8s:3", says: []string{"no node takes it", "node=a,a"}},
	} {
		t.Run(name, func(t *testing.T) {
			b, space := b, namespace
			if refused.make != "" {
				b.kubectl(t, refused.make, "apply", "-f", "-")
				_, space, _ = strings.Cut(refused.rig, "namespace=")
				space, _, _ = strings.Cut(space, "&")
				b.user = b.grant(t, space, "netdyno", role(t))
			}
			c, dir := b.command(t, refused.rig, small...)
			if refused.env != "" {
				c.Env = append(c.Env, refused.env)
			}
			began := time.Now()
			out, err := c.CombinedOutput()
			t.Logf("after %.1f s: %s", time.Since(began).Seconds(), out)
			if err == nil {
				t.Errorf("it was not refused")
			}
			for _, part := range refused.says {
				if !strings.Contains(string(out), part) {
					t.Errorf("it does not say %q", part)
				}
			}
			if refused.env == "" && refused.rig != "k8s:2?namespace=nowhere" {
				b.nothingLeft(t, space)
			}
			if contents, err := record.Read(filepath.Join(dir, record.RecordsFile)); err == nil && len(contents.Records) > 0 {
				t.Errorf("a refused run has records: %v", contents.Records)
			}
		})
	}
}

// A pod that somebody deletes in mid-run fails the trials from there on, each with a record
// that says so.
func (b bed) testPodDeleted(t *testing.T) {
	b.dies(t, func(pods map[string]string) {
		for pod := range pods {
			b.kubectl(t, "", "--namespace="+namespace, "delete", "pod", pod, "--grace-period=0", "--force")
			return
		}
	}, "pod")
}

// A node whose kubelet ends takes its pods out of reach.
func (b bed) testKubeletKilled(t *testing.T) {
	b.dies(t, func(map[string]string) { b.KillKubelet(t, 2) }, "node2")
	b.StartKubelet(t, 2)
	b.nothingLeft(t, namespace)
}

// A node whose cable is pulled does so too.
func (b bed) testNodeVanishes(t *testing.T) {
	b.dies(t, func(map[string]string) { b.Cut(t, 2) }, "node2")
	b.Mend(t, 2)
	running.Await(t, hang, "node2 is ready", func() bool { return b.Ready(2) == nil })
	b.nothingLeft(t, namespace)
}

// dies runs a study in whose midst something is done to the pods, given with their nodes. Each planned
// trial has one record; the last of them failed, and say why.
func (b bed) dies(t *testing.T, happen func(pods map[string]string), says string) {
	t.Helper()
	const blocks = 4
	u := b.start(t, "k8s:2", brief(blocks)...)
	u.Next(t, 0)
	pods := map[string]string{}
	for _, pod := range b.ours(t, namespace) {
		name, node, _ := strings.Cut(pod, " ")
		pods[name] = node
	}
	if len(pods) != 2 {
		t.Fatalf("in mid-run there are %v", pods)
	}
	happen(pods)
	_, said := u.End(t)
	all := u.Contents(t).Records
	if want := 2 * blocks; len(all) != want {
		t.Fatalf("%d records, want %d; netdyno said:\n%s", len(all), want, said)
	}
	last := all[len(all)-1]
	if last.Outcome != record.Failed || !strings.Contains(last.Failure.Text, says) {
		t.Errorf("the last record is %s: %v; netdyno said:\n%s", last.Outcome, last.Failure, said)
	} else {
		t.Logf("%d records; the last: %s", len(all), last.Failure.Text)
	}
	seen := map[string]bool{}
	for _, r := range all {
		if seen[r.Trial.ID] {
			t.Errorf("trial %s has two records", r.Trial.ID)
		}
		seen[r.Trial.ID] = true
	}
}

// netdyno is killed at twenty moments, and no object stays.
func (b bed) testKilled(t *testing.T) {
	const times, step = 20, 250 * time.Millisecond
	made := 0
	for i := range times {
		u := b.start(t, "k8s:2", endless...)
		time.Sleep(time.Duration(i) * step) // the moment is what is varied
		u.Kill()
		if len(b.ours(t, namespace)) > 0 {
			made++
		}
		b.nothingLeft(t, namespace)
	}
	if made == 0 {
		t.Error("no object was there when netdyno was killed")
	}
	t.Logf("of %d kills %d left objects for a moment", times, made)
}

// Where what removes the objects is killed together with netdyno, pods end by themselves, and
// the next run removes them.
func (b bed) testKilledTogether(t *testing.T) {
	u := b.start(t, "k8s:2", endless...)
	u.Next(t, 0)
	for _, p := range b.Processes(t, 0) {
		if p.Argv[0] == "sh" && slices.Contains(p.Argv, "delete") {
			_ = syscall.Kill(p.Pid, syscall.SIGKILL) // both at once
			_ = u.Cmd.Process.Kill()
		}
	}
	u.End(t)
	if left := b.ours(t, namespace); len(left) == 0 {
		t.Fatal("nothing is left, so that the removal would prove nothing")
	}
	running.Await(t, hang, "the pods have ended by themselves", func() bool {
		text, err := b.Get("/api/v1/namespaces/" + namespace + "/pods")
		return err == nil && !strings.Contains(string(text), `"phase":"Running"`)
	})
	b.runs(t, "k8s:2", small, 2)
}
