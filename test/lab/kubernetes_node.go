package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// plugins is where Debian has those of CNI.
const plugins = "/usr/lib/cni"

// node is a host's processes. All are in namespaces of its first one, for processes
// and for mounts, so that the kernel ends and unmounts everything when that one is killed.
type node struct {
	k       *Kubernetes
	host    int
	dir     string
	first   *daemon
	runtime *daemon
	kubelet *daemon
	proxy   *daemon
}

// firstProcess keeps in memory what is written on a node outside the laboratory's
// directory. The kubelet demands settings of the whole machine, and makes them unless
// they are there: it is shown files that say so. Then it waits for processes that nobody
// else waits for.
const firstProcess = `
set -e
for dir in /run /var/lib /var/log; do mount -t tmpfs -o mode=755 node $dir; done
for setting in vm/overcommit_memory=1 kernel/panic=10 kernel/panic_on_oops=1 kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
	file=/run/${setting##*/}; file=${file%=*}
	echo ${setting#*=} >$file
	mount --bind $file /proc/sys/${setting%=*}
done
echo 1 >/proc/sys/net/ipv4/ip_forward
: >"$0"
while :; do sleep 3600 & wait; done
`

const containerdConfig = `version = 2
oom_score = 0
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:lab"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "` + plugins + `"
    conf_dir = "%s"
`

// podNetwork joins each pod to its node by a cable of its own, and not by a bridge: so all
// that leaves a pod passes the node's rules, where services are led to their pods.
const podNetwork = `{"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "ptp", "ipam": {"type": "host-local", "subnet": "%s", "routes": [{"dst": "0.0.0.0/0"}]}}]}
`

// kubeletConfig leaves out what a host in a namespace cannot have, and counts no disk:
// a full one is none of the tests' matter.
const kubeletConfig = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: %s
enforceNodeAllocatable: []
failSwapOn: false
failCgroupV1: false
localStorageCapacityIsolation: false
makeIPTablesUtilChains: false
oomScoreAdj: 0
maxOpenFiles: 20000
resolvConf: ""
evictionHard: {memory.available: 50Mi}
imageGCHighThresholdPercent: 100
nodeStatusUpdateFrequency: 2s
nodeLeaseDurationSeconds: 8
`

// proxyConfig leaves the machine's table of connections as it is.
const proxyConfig = `apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
clientConnection: {kubeconfig: %s}
clusterCIDR: 10.88.0.0/16
conntrack: {maxPerCore: 0, min: 0, tcpCloseWaitTimeout: 0s, tcpEstablishedTimeout: 0s}
`

// newNode starts a node, which has the images of an archive.
func (k *Kubernetes) newNode(t testing.TB, host int, images string) *node {
	t.Helper()
	n := &node{k: k, host: host, dir: filepath.Join(k.dir, name(host)+".d")}
	if err := n.configure(); err != nil {
		t.Fatalf("configure %s: %v", name(host), err)
	}
	up := filepath.Join(n.dir, "up")
	n.first = n.daemon(t, "first process", "unshare", "--pid", "--mount", "--mount-proc", "--fork", "--kill-child", "--", "sh", "-c", firstProcess, up)
	n.first.start(t, func() error {
		_, err := os.Stat(up)
		return err
	})
	n.runtime = n.inside(t, "containerd", "containerd", "--config="+filepath.Join(n.dir, "containerd.toml"))
	n.runtime.start(t, func() error { return n.run("ctr", "version") })
	if err := n.run("ctr", "--namespace=k8s.io", "images", "import", images); err != nil {
		t.Fatal(err)
	}
	n.kubelet = n.inside(t, "kubelet", filepath.Join(k.programs, "kubelet"), "--kubeconfig="+filepath.Join(k.dir, name(host)),
		"--config="+filepath.Join(n.dir, "kubelet.yaml"), "--node-ip="+address(host).String())
	n.proxy = n.inside(t, "kube-proxy", filepath.Join(k.programs, "kube-proxy"), "--config="+filepath.Join(n.dir, "proxy.yaml"))
	n.proxy.start(t, func() error { return nil })
	n.kubelet.start(t, func() error { return nil })
	return n
}

// configure writes a node's files, makes its control group and lays its routes.
func (n *node) configure() error {
	network := filepath.Join(n.dir, "cni")
	if err := os.MkdirAll(network, 0o700); err != nil {
		return err
	}
	group := filepath.Join(filepath.Base(n.k.lab.dir), name(n.host))
	for path, text := range map[string]string{
		"containerd.toml":   fmt.Sprintf(containerdConfig, network),
		"cni/pods.conflist": fmt.Sprintf(podNetwork, fmt.Sprintf(pods, n.host)),
		"kubelet.yaml":      fmt.Sprintf(kubeletConfig, "/"+group),
		"proxy.yaml":        fmt.Sprintf(proxyConfig, filepath.Join(n.k.dir, "kube-proxy")),
	} {
		if err := os.WriteFile(filepath.Join(n.dir, path), []byte(text), 0o600); err != nil {
			return err
		}
	}
	if err := makeGroup(group); err != nil {
		return err
	}
	return n.k.lab.route(n.host)
}

// makeGroup makes a control group in every hierarchy, for pods alone. The guard
// removes it.
func makeGroup(group string) error {
	roots, err := filepath.Glob("/sys/fs/cgroup/*/cgroup.procs") // version 1
	if _, one := os.Stat("/sys/fs/cgroup/cgroup.procs"); one == nil {
		roots = []string{"/sys/fs/cgroup/cgroup.procs"}
	}
	for _, root := range roots {
		parent := filepath.Dir(root)
		for part := range strings.SplitSeq(group, "/") {
			made := filepath.Join(parent, part)
			if at := os.MkdirAll(made, 0o755); at != nil {
				return at
			}
			for _, set := range []string{"cpuset.cpus", "cpuset.mems"} { // none are there at first
				if text, missing := os.ReadFile(filepath.Join(parent, set)); missing == nil && filepath.Base(filepath.Dir(root)) == "cpuset" {
					err = errors.Join(err, os.WriteFile(filepath.Join(made, set), text, 0o600))
				}
			}
			parent = made
		}
	}
	return err
}

// daemon prepares a program on the node.
func (n *node) daemon(t testing.TB, title string, argv ...string) *daemon {
	d := &daemon{lab: n.k.lab, title: title + " on " + name(n.host), host: n.host, argv: argv,
		log: filepath.Join(n.dir, strings.ReplaceAll(title, " ", "-")+".log")}
	d.until(t)
	return d
}

// inside prepares a program in the namespaces of the node's first process.
func (n *node) inside(t testing.TB, title string, argv ...string) *daemon {
	t.Helper()
	enter, err := n.enter()
	if err != nil {
		t.Fatalf("start %s on %s: %v", title, name(n.host), err)
	}
	return n.daemon(t, title, append(enter, argv...)...)
}

func (n *node) enter() ([]string, error) {
	pid := strconv.Itoa(n.first.pid())
	text, err := os.ReadFile("/proc/" + pid + "/task/" + pid + "/children")
	return []string{"nsenter", "--target=" + strings.TrimSpace(string(text)), "--pid", "--mount", "--"}, err
}

// run runs a program on the node to its end.
func (n *node) run(argv ...string) error {
	enter, err := n.enter()
	if err != nil {
		return err
	}
	out, err := n.k.lab.Command(n.host, append(enter, argv...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s on %s: %w: %s", strings.Join(argv, " "), name(n.host), err, out)
	}
	return nil
}

// Ready says what a node still lacks to run pods.
func (k *Kubernetes) Ready(host int) error {
	text, err := k.Get("/api/v1/nodes/" + name(host))
	if err != nil {
		return err
	}
	var found struct {
		Status struct {
			Conditions []struct{ Type, Status, Message string }
		}
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return fmt.Errorf("read node %s: %w", name(host), err)
	}
	for _, c := range found.Status.Conditions {
		if c.Type == "Ready" && c.Status == "True" {
			return nil
		} else if c.Type == "Ready" {
			err = fmt.Errorf("%s is not ready: %s", name(host), c.Message)
		}
	}
	if err == nil {
		err = fmt.Errorf("%s says nothing of its state", name(host))
	}
	return err
}

// KillKubelet kills a node's kubelet at once. Its pods run on.
func (k *Kubernetes) KillKubelet(t testing.TB, host int) {
	t.Helper()
	if k.lab.kill(t, host, filepath.Join(k.programs, "kubelet")) == 0 {
		t.Fatalf("kill the kubelet of %s: none runs there", name(host))
	}
	k.nodes[host-1].kubelet.kill()
}

// StartKubelet starts a node's kubelet after KillKubelet, and returns once the node is
// ready.
func (k *Kubernetes) StartKubelet(t testing.TB, host int) {
	t.Helper()
	k.nodes[host-1].kubelet.start(t, func() error { return k.Ready(host) })
}
