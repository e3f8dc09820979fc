package lab

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	apiPort = ":6443"
	etcdURL = "http://127.0.0.1:2379"

	// services and pods are the cluster's networks; a node has one byte of the second.
	services = "10.96.0.0/24"
	pods     = "10.88.%d.0/24"
)

// Those who may talk to the control plane, each with a token that is its name. What
// Kubernetes grants to its own parts by their names is theirs, and nothing more.
const (
	admin   = "admin"
	manager = "kube-controller-manager"
)

var groups = map[string]string{admin: "system:masters", manager: "system:masters"}

// Kubernetes is a cluster: etcd, the API server, the scheduler and the controllers in
// the hub, and on each host a node by the host's name: containerd, a kubelet and a
// kube-proxy. Pods have a network of their own on each node, joined by routes. Whoever may
// do what is decided by roles, and namespaces may demand a level of pod security.
type Kubernetes struct {
	Admin string // path of the kubeconfig of one who may do everything

	lab      *Lab
	dir      string
	programs string
	nodes    []*node // of host 1, 2, …
	client   *http.Client
}

// Kubernetes starts a cluster from a directory of its programs, and returns once every
// node is ready and has image Busybox. It skips the test where a program
// is missing that no directory holds: etcd, containerd, CNI's plugins.
func (l *Lab) Kubernetes(t testing.TB, programs string) *Kubernetes {
	t.Helper()
	for _, needed := range []string{"etcd", "containerd", "ctr", "runc", "nft", "/bin/busybox", plugins + "/ptp"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skipf("a cluster needs %s (make packages-cluster installs it)", needed)
		}
	}
	dir := filepath.Join(l.dir, "kubernetes")
	k := &Kubernetes{lab: l, dir: dir, programs: programs, Admin: filepath.Join(dir, admin)}
	k.client = &http.Client{Timeout: timeout, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // to its own process, which signs for itself
		DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
			return l.Dial(hub, address, time.Second)
		},
	}}
	t.Cleanup(k.client.CloseIdleConnections)
	if err := k.configure(); err != nil {
		t.Fatalf("configure kubernetes: %v", err)
	}
	k.control(t)
	image := filepath.Join(dir, "busybox.tar")
	if err := busybox(image); err != nil {
		t.Fatalf("make an image: %v", err)
	}
	for host := 1; host <= l.Size(); host++ {
		k.nodes = append(k.nodes, k.newNode(t, host, image))
	}
	for _, n := range k.nodes {
		n.kubelet.await(t, func() error { return k.Ready(n.host) })
	}
	return k
}

// configure writes the tokens, the kubeconfigs and the key that signs service accounts.
func (k *Kubernetes) configure() error {
	if err := os.Mkdir(k.dir, 0o700); err != nil {
		return err
	}
	users := map[string]string{admin: admin, manager: "system:" + manager, "kube-scheduler": "system:kube-scheduler", "kube-proxy": "system:kube-proxy"}
	for host := 1; host <= k.lab.Size(); host++ {
		users[name(host)] = "system:node:" + name(host)
	}
	var tokens strings.Builder
	for token, user := range users {
		group := groups[token]
		if strings.HasPrefix(user, "system:node:") {
			group = "system:nodes"
		}
		fmt.Fprintf(&tokens, "%s,%s,%s,%q\n", token, user, user, group)
		if err := k.writeConfig(token, "default", token); err != nil {
			return err
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	for path, text := range map[string][]byte{"tokens": []byte(tokens.String()), "signing": pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})} {
		if err := os.WriteFile(filepath.Join(k.dir, path), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// writeConfig writes the kubeconfig of whom a token is.
func (k *Kubernetes) writeConfig(file, namespace, token string) error {
	const text = `{apiVersion: v1, kind: Config, current-context: lab, contexts: [{name: lab, context: {cluster: lab, user: lab, namespace: %q}}],
 clusters: [{name: lab, cluster: {server: "https://%v%s", certificate-authority: %q}}], users: [{name: lab, user: {token: %q}}]}
`
	authority := filepath.Join(k.dir, "certificates", "apiserver.crt")
	return os.WriteFile(filepath.Join(k.dir, file), fmt.Appendf(nil, text, namespace, address(hub), apiPort, authority, token), 0o600)
}

// As returns the path of a kubeconfig of a service account, which must be there.
func (k *Kubernetes) As(t testing.TB, namespace, account string) string {
	t.Helper()
	c := k.Command("--namespace="+namespace, "create", "token", account)
	token, err := c.Output()
	file := namespace + "." + account
	if err == nil {
		err = k.writeConfig(file, namespace, strings.TrimSpace(string(token)))
	}
	if err != nil {
		t.Fatalf("make a kubeconfig of %s in namespace %s: %v", account, namespace, err)
	}
	return filepath.Join(k.dir, file)
}

// inMemory keeps what a program writes to a directory off the disk.
const inMemory = `mkdir "$0" && mount -t tmpfs etcd "$0" && exec "$@"`

// control starts the control plane, and returns once the API server is ready.
func (k *Kubernetes) control(t testing.TB) {
	t.Helper()
	at := func(file string) string { return filepath.Join(k.dir, file) }
	program := func(file string) string { return filepath.Join(k.programs, file) }
	start := func(title string, ready func() error, argv ...string) {
		d := &daemon{lab: k.lab, title: title, host: hub, argv: argv, log: at(title + ".log")}
		d.until(t)
		d.start(t, ready)
	}
	start("etcd", func() error { return k.get(etcdURL + "/health") }, "sh", "-c", inMemory, at("etcd"),
		"etcd", "--data-dir="+at("etcd/data"), "--listen-client-urls="+etcdURL, "--advertise-client-urls="+etcdURL, "--log-level=error")
	start("kube-apiserver", func() error { return k.get(k.url("/readyz")) }, program("kube-apiserver"),
		"--etcd-servers="+etcdURL, "--cert-dir="+at("certificates"), "--advertise-address="+address(hub).String(),
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--token-auth-file="+at("tokens"), "--allow-privileged",
		"--service-account-issuer=https://lab", "--service-account-key-file="+at("signing"), "--service-account-signing-key-file="+at("signing"),
		"--service-cluster-ip-range="+services, "--kubelet-preferred-address-types=InternalIP",
		// Else a pod would outlive its node by five minutes.
		"--default-not-ready-toleration-seconds=5", "--default-unreachable-toleration-seconds=5")
	start("kube-scheduler", func() error { return k.get(k.near("10259")) }, program("kube-scheduler"),
		"--kubeconfig="+at("kube-scheduler"), "--leader-elect=false")
	start(manager, func() error { return k.get(k.near("10257")) }, program(manager),
		"--kubeconfig="+at(manager), "--leader-elect=false", "--service-account-private-key-file="+at("signing"),
		"--root-ca-file="+at("certificates/apiserver.crt"), "--node-monitor-period=2s", "--node-monitor-grace-period=20s")
}

func (k *Kubernetes) url(path string) string {
	return fmt.Sprintf("https://%v%s%s", address(hub), apiPort, path)
}

// near is where a part of the control plane says whether it is well.
func (k *Kubernetes) near(port string) string { return "https://127.0.0.1:" + port + "/healthz" }

func (k *Kubernetes) get(url string) error {
	_, err := k.fetch(url)
	return err
}

// Get returns what the API server answers to the admin who reads a path, in JSON.
func (k *Kubernetes) Get(path string) ([]byte, error) { return k.fetch(k.url(path)) }

func (k *Kubernetes) fetch(url string) ([]byte, error) {
	const most = 64 << 20
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+admin)
	answer, err := k.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, most))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("get %s: %s: %s", url, answer.Status, bytes.TrimSpace(text))
	}
	return text, err
}

// Command prepares kubectl, as the admin, to run in the hub.
func (k *Kubernetes) Command(args ...string) *exec.Cmd {
	return k.lab.Command(hub, append([]string{filepath.Join(k.programs, "kubectl"), "--kubeconfig=" + k.Admin}, args...)...)
}

// Apply makes what a manifest describes, or changes it.
func (k *Kubernetes) Apply(t testing.TB, manifest string) {
	t.Helper()
	c := k.Command("apply", "-f", "-")
	c.Stdin = strings.NewReader(manifest)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("apply: %v: %s", err, out)
	}
}

// Namespace makes a namespace that demands a level of pod security, such as
// "privileged", and returns once pods may be made in it.
func (k *Kubernetes) Namespace(t testing.TB, namespace, level string) {
	t.Helper()
	k.Apply(t, fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s, labels: {pod-security.kubernetes.io/enforce: %s}}}", namespace, level))
	for deadline := time.Now().Add(timeout); ; time.Sleep(pollEvery) {
		_, err := k.Get("/api/v1/namespaces/" + namespace + "/serviceaccounts/default")
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("make namespace %s: it has no service account: %v", namespace, err)
		}
	}
}
