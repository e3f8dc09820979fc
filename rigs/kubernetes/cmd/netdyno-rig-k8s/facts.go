package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// facts are of a pod and its node. What may not be read, or is nowhere told, is absent, and
// fact k8s.unread names the rights that were missing.
func (c *cluster) facts(ctx context.Context, pod *corev1.Pod) map[string]string {
	f := map[string]string{"k8s.node": pod.Spec.NodeName, "k8s.pod_qos": string(pod.Status.QOSClass), "k8s.image": pod.Spec.Containers[0].Image}
	if len(pod.Status.ContainerStatuses) > 0 {
		f["k8s.image_id"] = pod.Status.ContainerStatuses[0].ImageID
	}
	if version, err := c.version(ctx); err == nil {
		f["k8s.server"] = version
	}
	node, err := c.node(ctx, pod.Spec.NodeName)
	unread := without(nil, "get nodes", err)
	if err == nil {
		f["k8s.kubelet"] = node.Status.NodeInfo.KubeletVersion
		f["k8s.runtime"] = node.Status.NodeInfo.ContainerRuntimeVersion
		f["k8s.os"] = node.Status.NodeInfo.OSImage
	}
	kubelet, err := c.kubelet(ctx, pod.Spec.NodeName)
	unread = without(unread, "get nodes/proxy", err)
	if err == nil {
		f["k8s.cpu_manager"], f["k8s.topology_manager"] = kubelet.CPUManager, kubelet.TopologyManager
	}
	system, err := c.system(ctx, pod.Spec.NodeName)
	unread = without(unread, "list pods in kube-system", err)
	f["k8s.cni"] = networkOf(node, system)
	if f["k8s.proxy"] = c.proxy(ctx, pod.Spec.NodeName, system); f["k8s.proxy"] == "" && pod.Spec.HostNetwork {
		f["k8s.proxy"] = c.proxyAt(ctx, pod.Name)
	}
	f["k8s.unread"] = strings.Join(unread, ", ")
	for key, value := range f {
		if value == "" {
			delete(f, key)
		}
	}
	return f
}

// without adds a right to those that were missing, where the cluster refused what needs it.
func without(rights []string, right string, err error) []string {
	if apierrors.IsForbidden(err) {
		return append(rights, right)
	}
	return rights
}

func (c *cluster) version(ctx context.Context) (string, error) {
	text, err := c.client.Get().AbsPath("/version").Timeout(askTimeout).DoRaw(ctx)
	if err != nil {
		return "", err
	}
	var v struct{ GitVersion string }
	err = json.Unmarshal(text, &v)
	return v.GitVersion, err
}

func (c *cluster) node(ctx context.Context, name string) (*corev1.Node, error) {
	var node corev1.Node
	err := c.client.Get().Resource("nodes").Name(name).Timeout(askTimeout).Do(ctx).Into(&node)
	return &node, err
}

// kubelet is what a kubelet's configuration says of CPUs.
type kubelet struct {
	CPUManager      string `json:"cpuManagerPolicy"`
	TopologyManager string `json:"topologyManagerPolicy"`
}

func (c *cluster) kubelet(ctx context.Context, node string) (kubelet, error) {
	text, err := c.client.Get().Resource("nodes").Name(node).SubResource("proxy").Suffix("configz").Timeout(askTimeout).DoRaw(ctx)
	var said struct {
		Config kubelet `json:"kubeletconfig"`
	}
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	return said.Config, err
}

// system are the names of pods of the cluster itself on a node.
func (c *cluster) system(ctx context.Context, node string) ([]string, error) {
	var list corev1.PodList
	err := c.client.Get().Namespace(metav1.NamespaceSystem).Resource("pods").Timeout(askTimeout).
		VersionedParams(&metav1.ListOptions{FieldSelector: "spec.nodeName=" + node}, parameters).Do(ctx).Into(&list)
	var names []string
	for _, pod := range list.Items {
		names = append(names, pod.Name)
	}
	return names, err
}

// networks are the CNI plugins that can be told, by how annotations of their nodes or names
// of their pods begin.
var networks = []struct{ name, annotation, pod string }{
	{"cilium", "network.cilium.io/", "cilium-"},
	{"calico", "projectcalico.org/", "calico-node-"},
	{"flannel", "flannel.alpha.coreos.com/", "kube-flannel-"},
	{"ovn-kubernetes", "k8s.ovn.org/", "ovnkube-node-"},
	{"antrea", "node.antrea.io/", "antrea-agent-"},
	{"kube-router", "kube-router.io/", "kube-router-"},
	{"kindnet", "", "kindnet-"},
	{"amazon-vpc-cni", "", "aws-node-"},
	{"azure-cni", "", "azure-cns-"},
	{"weave", "", "weave-net-"},
}

// networkOf names the CNI plugin of a node; empty where that cannot be told.
func networkOf(node *corev1.Node, system []string) string {
	for _, n := range networks {
		for key := range node.Annotations {
			if n.annotation != "" && strings.HasPrefix(key, n.annotation) {
				return strings.TrimSpace(n.name + " " + node.Annotations[n.annotation+"backend-type"])
			}
		}
		for _, pod := range system {
			if strings.HasPrefix(pod, n.pod) {
				return n.name
			}
		}
	}
	return ""
}

// proxyAt asks the kube-proxy of its node from a pod on the node's network.
func (c *cluster) proxyAt(ctx context.Context, pod string) string {
	ctx, cancel := context.WithTimeout(ctx, askTimeout) // not by -T, of which Debian's busybox dies
	defer cancel()
	var mode bytes.Buffer
	code, err := c.stream(ctx, command{pod: pod, argv: []string{"wget", "-q", "-O", "-", "http://127.0.0.1:10249/proxyMode"}, out: &mode, said: io.Discard})
	if err != nil || code != 0 || mode.Len() > 20 { // the image may have no wget
		return ""
	}
	return strings.TrimSpace(mode.String())
}

// proxy is the mode of a node's kube-proxy: as it says itself, or as its configuration does;
// empty where that cannot be told.
func (c *cluster) proxy(ctx context.Context, node string, system []string) string {
	const metrics = ":10249"
	text, err := c.client.Get().Resource("nodes").Name(node + metrics).SubResource("proxy").Suffix("proxyMode").Timeout(askTimeout).DoRaw(ctx)
	if mode := strings.TrimSpace(string(text)); err == nil && len(mode) < 20 {
		return mode
	}
	var config corev1.ConfigMap
	err = c.client.Get().Namespace(metav1.NamespaceSystem).Resource("configmaps").Name("kube-proxy").Timeout(askTimeout).Do(ctx).Into(&config)
	if err == nil {
		var said struct {
			Mode string `yaml:"mode"`
		}
		if yaml.Unmarshal([]byte(config.Data["config.conf"]), &said) == nil {
			if said.Mode == "" {
				said.Mode = "iptables" // kube-proxy's own choice on Linux
			}
			return fmt.Sprintf("%s (configured)", said.Mode)
		}
	}
	for _, pod := range system {
		if strings.HasPrefix(pod, "kube-proxy-") {
			return "kube-proxy, mode not told"
		}
	}
	return ""
}
