// Package kube_test runs netdyno on a cluster of Kubernetes that it starts, with a user who
// has the documented role and no other right. make test-all has one node and one run; make soak
// (NETDYNO_SOAK=1) has two, every refusal, what dies in mid-run and what a killed netdyno
// leaves.
package kube_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/test/lab"
	"netdyno/test/programs"
	"netdyno/test/running"
)

const (
	// hang is longer than anything may take whose deadlines work: a node counts as gone after
	// twenty seconds, and a minute for a rig to recover is the longest of them.
	hang = 3 * time.Minute

	namespace = "bench"
	account   = "netdyno"
)

var thorough = os.Getenv("NETDYNO_SOAK") != ""

// bed is a cluster and a user of it, for netdyno in the hub.
type bed struct {
	*lab.Lab
	*lab.Kubernetes
	netdyno  string
	programs string // directory of kubectl
	user     string // path of the kubeconfig
}

// newBed starts a cluster of some nodes, and gives a service account the documented role.
func newBed(t *testing.T, nodes int) bed {
	t.Helper()
	where := programs.Kubernetes(t) // before all others: it is what is absent as a rule
	b := bed{netdyno: programs.Path(t, "netdyno"), programs: where}
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

// grant makes a service account with the role of a manifest, and returns its kubeconfig.
func (b bed) grant(t *testing.T, namespace, account, roles string) (config string) {
	t.Helper()
	b.kubectl(t, roles, "--namespace="+namespace, "apply", "-f", "-")
	b.kubectl(t, "", "--namespace="+namespace, "create", "serviceaccount", account)
	who := "--serviceaccount=" + namespace + ":" + account
	b.kubectl(t, "", "--namespace="+namespace, "create", "rolebinding", account, "--role=netdyno", who)
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

// start starts netdyno. It is killed at the end of the test, if it still runs.
func (b bed) start(t *testing.T, rig string, args ...string) *running.Run {
	t.Helper()
	c, dir := b.command(t, rig, args...)
	return running.Start(t, c, dir, hang)
}

// inHub is a command of the user's in the hub.
func (b bed) inHub(argv ...string) *exec.Cmd {
	c := b.Lab.Command(0, argv...)
	c.Env = append(os.Environ(), "KUBECONFIG="+b.user, "PATH="+b.programs+":"+os.Getenv("PATH"), "TMPDIR="+b.Temporary(), "HOME="+b.Temporary())
	return c
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
			if strings.Contains(p.Argv[0], "netdyno") || strings.HasSuffix(p.Argv[0], "kubectl") {
				all = append(all, p.String())
			}
		}
		return all
	}
	var rest []string
	running.Await(t, hang, "nothing is left", func() bool {
		if now := left(); !slices.Equal(now, rest) {
			rest = now
			t.Logf("left are %v", rest)
		}
		return len(rest) == 0
	})
}
