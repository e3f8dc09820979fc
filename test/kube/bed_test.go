// Package kube_test runs netdyno on a cluster of Kubernetes that it starts, with a user who
// has the documented role and no other right. make test has one node and one run; make soak
// (NETDYNO_SOAK=1) has two, every refusal, what dies in mid-run and what a killed netdyno
// leaves.
package kube_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/record"
	"netdyno/test/lab"
	"netdyno/test/programs"
)

const (
	// hang is longer than anything may take whose deadlines work: a node counts as gone after
	// twenty seconds, and a minute for a rig to recover is the longest of them.
	hang = 3 * time.Minute
	poll = 100 * time.Millisecond

	namespace = "bench"
	account   = "netdyno"
)

var thorough = os.Getenv("NETDYNO_SOAK") != ""

// bed is a cluster and a user of it, for netdyno in the hub.
type bed struct {
	*lab.Lab
	*lab.Kubernetes
	netdyno string
	user    string // path of the kubeconfig
}

// newBed starts a cluster of some nodes, and gives a service account the documented role.
func newBed(t *testing.T, nodes int) bed {
	t.Helper()
	where := programs.Kubernetes(t) // before all others: it is what is absent as a rule
	b := bed{netdyno: programs.Path(t, "netdyno")}
	programs.Path(t, "netdyno-rig-k8s")
	b.Lab = lab.Hosts(t, nodes)
	b.Kubernetes = b.Lab.Kubernetes(t, where)
	b.Namespace(t, namespace, "privileged")
	b.user = b.grant(t, namespace, account, role(t))
	return b
}

// role is the manifest that docs/kubernetes.md has users apply.
func role(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/kubernetes-role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// grant makes a service account with the roles of a manifest, those of the cluster included,
// and returns its kubeconfig.
func (b bed) grant(t *testing.T, namespace, account, roles string) (config string) {
	t.Helper()
	b.kubectl(t, roles, "--namespace="+namespace, "apply", "-f", "-")
	b.kubectl(t, "", "--namespace="+namespace, "create", "serviceaccount", account)
	who := "--serviceaccount=" + namespace + ":" + account
	b.kubectl(t, "", "--namespace="+namespace, "create", "rolebinding", account, "--role=netdyno", who)
	if strings.Contains(roles, "kind: ClusterRole") {
		b.kubectl(t, "", "create", "clusterrolebinding", account+"-facts", "--clusterrole=netdyno-facts", who)
	}
	return b.As(t, namespace, account)
}

// kubectl is what the admin does.
func (b bed) kubectl(t *testing.T, stdin string, args ...string) {
	t.Helper()
	c := b.Kubernetes.Command(args...)
	c.Stdin = strings.NewReader(stdin)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("kubectl %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// command is netdyno in the hub, with a directory for its results.
func (b bed) command(t *testing.T, rig string, args ...string) (c *exec.Cmd, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "out")
	return b.inHub(slices.Concat([]string{b.netdyno, "run"}, args, []string{"--rig", rig, "--out", dir})...), dir
}

// inHub is a command of the user's in the hub.
func (b bed) inHub(argv ...string) *exec.Cmd {
	c := b.Lab.Command(0, argv...)
	c.Env = append(os.Environ(), "KUBECONFIG="+b.user, "TMPDIR="+b.Temporary(), "HOME="+b.Temporary())
	return c
}

// underway is a netdyno that runs.
type underway struct {
	bed
	t     *testing.T
	cmd   *exec.Cmd
	dir   string // of its results
	out   bytes.Buffer
	ended chan struct{}
}

// start starts netdyno. It is killed at the end of the test, if it still runs.
func (b bed) start(t *testing.T, rig string, args ...string) *underway {
	t.Helper()
	u := &underway{bed: b, t: t, ended: make(chan struct{})}
	u.cmd, u.dir = b.command(t, rig, args...)
	u.cmd.Stdout, u.cmd.Stderr = &u.out, &u.out
	if err := u.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = u.cmd.Wait() // how it ended is in its state
		close(u.ended)
	}()
	t.Cleanup(u.kill)
	return u
}

// kill kills netdyno and no other, and waits for it.
func (u *underway) kill() {
	_ = u.cmd.Process.Kill() // it has ended as a rule
	<-u.ended
}

// measured waits until netdyno has the record of a trial, and goes on with the next.
func (u *underway) measured() {
	u.t.Helper()
	until(u.t, "netdyno has a record", func() bool {
		select {
		case <-u.ended:
			u.t.Fatalf("netdyno ended: %v\n%s", u.cmd.ProcessState, u.out.String())
		default:
		}
		contents, err := record.Read(filepath.Join(u.dir, record.RecordsFile))
		return err == nil && len(contents.Records) > 0
	})
}

// end waits until netdyno has ended, and returns what it said.
func (u *underway) end() (said string) {
	u.t.Helper()
	select {
	case <-u.ended:
	case <-time.After(hang):
		u.kill()
		u.t.Fatalf("netdyno has not ended after %v; it said:\n%s", hang, u.out.String())
	}
	return u.out.String()
}

// contents are the run's records.
func (u *underway) contents() record.Contents {
	u.t.Helper()
	contents, err := record.Read(filepath.Join(u.dir, record.RecordsFile))
	if err != nil || len(contents.Problems) > 0 {
		u.t.Fatalf("read the records: %v, %v; netdyno said:\n%s", err, contents.Problems, u.out.String())
	}
	return contents
}

// ours are the objects that netdyno made in a namespace.
func (b bed) ours(t *testing.T, namespace string) []string {
	t.Helper()
	var all []string
	for _, resource := range []string{"pods", "services"} {
		text, err := b.Get(fmt.Sprintf("/api/v1/namespaces/%s/%s?labelSelector=app.kubernetes.io/managed-by=netdyno", namespace, resource))
		var list struct {
			Items []struct {
				Metadata struct{ Name string }
				Spec     struct{ NodeName string }
			}
		}
		if err == nil {
			err = json.Unmarshal(text, &list)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range list.Items {
			all = append(all, strings.TrimSpace(item.Metadata.Name+" "+item.Spec.NodeName))
		}
	}
	return all
}

// nothingLeft demands that objects, and processes of the rig, go.
func (b bed) nothingLeft(t *testing.T, namespace string) {
	t.Helper()
	left := func() []string {
		all := b.ours(t, namespace)
		for _, p := range b.Processes(t, 0) {
			if strings.Contains(p.Argv[0], "netdyno") {
				all = append(all, p.String())
			}
		}
		return all
	}
	for deadline := time.Now().Add(hang); ; time.Sleep(poll) {
		rest := left()
		if len(rest) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("left are, after %v: %v", hang, rest)
		}
	}
}

func until(t *testing.T, what string, come func() bool) {
	t.Helper()
	for deadline := time.Now().Add(hang); !come(); time.Sleep(poll) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", hang, what)
		}
	}
}
