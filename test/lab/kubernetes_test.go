package lab_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"netdyno/test/lab"
	"netdyno/test/programs"
)

// client and server are pods on two nodes, and a service leads to the server.
const clientAndServer = `
apiVersion: v1
kind: Pod
metadata: {name: server, namespace: bench, labels: {is: server}}
spec: {nodeName: node2, terminationGracePeriodSeconds: 0, containers: [{name: c, image: "docker.io/library/busybox:1.37", imagePullPolicy: Never, command: [sh, -c, "echo served >/tmp/index.html; exec httpd -f -p 7000 -h /tmp"]}]}
---
apiVersion: v1
kind: Pod
metadata: {name: client, namespace: bench}
spec:
  terminationGracePeriodSeconds: 0
  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {is: server}}}]}}
  containers: [{name: c, image: "docker.io/library/busybox:1.37", imagePullPolicy: Never, command: [sleep, "100000"]}]
---
apiVersion: v1
kind: Service
metadata: {name: server, namespace: bench}
spec: {selector: {is: server}, ports: [{port: 80, targetPort: 7000}]}
`

// Pods on two nodes reach each other by address and through a service; a user has no
// right that nobody gave; a namespace refuses what its level forbids; a node whose kubelet
// was killed is told from one that is well.
func TestKubernetes(t *testing.T) {
	if os.Getenv("NETDYNO_SOAK") == "" {
		t.Skip("half a minute: make soak runs it (NETDYNO_SOAK=1); test/kube has a cluster too")
	}
	l := lab.Hosts(t, 2)
	k := l.Kubernetes(t, programs.Kubernetes(t))
	k.Namespace(t, "bench", "restricted")
	if out, err := k.Command("--namespace=bench", "run", "x", "--image="+lab.Busybox).CombinedOutput(); err == nil || !strings.Contains(string(out), "violates PodSecurity") {
		t.Errorf("a pod against its namespace's level: %v, %s", err, out)
	}
	k.Namespace(t, "bench", "privileged")
	k.Apply(t, clientAndServer)
	var address, on string
	until(t, "both pods run", func() bool {
		address, on = pod(t, k, "client")
		a, b := pod(t, k, "server")
		running := address != "" && a != ""
		address = a
		return running && b == "node2"
	})
	if on != "node1" {
		t.Errorf("the client is on %s", on)
	}
	for _, to := range [][]string{{address, "7000"}, {"$SERVER_SERVICE_HOST", "80"}} {
		until(t, "the server answers the client at "+to[0], func() bool {
			c := k.Command("--namespace=bench", "exec", "client", "--", "sh", "-c", "wget -qO- http://"+strings.Join(to, ":")+"/")
			out, err := c.CombinedOutput()
			return err == nil && string(out) == "served\n"
		})
	}
	out, err := k.Command("--kubeconfig="+k.As(t, "bench", "default"), "get", "pods").CombinedOutput()
	if err == nil || !strings.Contains(string(out), `User "system:serviceaccount:bench:default" cannot list resource "pods"`) {
		t.Errorf("who has no right was answered %s, %v", out, err)
	}
	k.KillKubelet(t, 2)
	until(t, "node2 is not ready", func() bool { return k.Ready(2) != nil })
	k.StartKubelet(t, 2)
}

// pod returns the address of a pod that runs, else "", and its node.
func pod(t *testing.T, k *lab.Kubernetes, name string) (address, node string) {
	t.Helper()
	text, err := k.Get("/api/v1/namespaces/bench/pods/" + name)
	var found struct {
		Spec   struct{ NodeName string }
		Status struct{ Phase, PodIP string }
	}
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	if err != nil {
		t.Fatal(err)
	}
	if found.Status.Phase != "Running" {
		return "", found.Spec.NodeName
	}
	return found.Status.PodIP, found.Spec.NodeName
}
