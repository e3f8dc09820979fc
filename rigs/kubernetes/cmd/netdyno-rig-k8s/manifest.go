package main

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"netdyno/internal/run/rig/pods/talk"
)

// container is the name of the only one of a pod.
const container = "netdyno"

// longest is how long a pod may live at all, for a cluster that lost sight of us before its
// first process could look after itself.
const longest = 7 * 24 * 3600 // s

// first is the first process until programs are brought: it waits for the word where netdyno
// lies, or for the end of its stdin.
const first = `read -r program && exec "$program" pause --lease=` + "%v"

// manifest is pod i of a run.
func manifest(c *cluster, run string, i int, m talk.Make) (*corev1.Pod, error) {
	p := m.Pods[i]
	bounds, err := resources(m)
	if err != nil {
		return nil, err
	}
	box := corev1.Container{
		Name: container, Image: m.Image, ImagePullPolicy: corev1.PullIfNotPresent, Stdin: true, StdinOnce: true,
		Resources: bounds, Command: []string{"sh", "-c", fmt.Sprintf(first, talk.Lease)},
	}
	spec := corev1.PodSpec{
		NodeName: p.Node, HostNetwork: p.Host, RestartPolicy: corev1.RestartPolicyNever,
		TerminationGracePeriodSeconds: to[int64](1), ActiveDeadlineSeconds: to[int64](longest),
		AutomountServiceAccountToken: to(false), EnableServiceLinks: to(false),
	}
	if m.Programs != "" {
		box.Command = []string{m.Programs + "/netdyno", "pause", "--lease=" + talk.Lease.String()}
	}
	const space = "programs"
	box.Env = []corev1.EnvVar{{Name: "TMPDIR", Value: talk.Home}}
	box.VolumeMounts = []corev1.VolumeMount{{Name: space, MountPath: talk.Home}}
	spec.Volumes = []corev1.Volume{{Name: space, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	if m.Security == "restricted" {
		const nobody = 65534
		box.SecurityContext = &corev1.SecurityContext{
			AllowPrivilegeEscalation: to(false), RunAsNonRoot: to(true), RunAsUser: to[int64](nobody),
			Capabilities:   &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		}
	}
	if p.Node == "" && len(m.Pods) > 1 {
		spec.Affinity = apart(run)
	}
	spec.Containers = []corev1.Container{box}
	meta := metadata(c, p.Name, run)
	meta.Labels[indexLabel] = p.Name
	return &corev1.Pod{ObjectMeta: meta, Spec: spec}, nil
}

func to[T any](v T) *T { return &v }

func metadata(c *cluster, name, run string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: name, Namespace: c.namespace,
		Labels: map[string]string{managedBy: ours, runLabel: run}, Annotations: map[string]string{holderNote: c.holder},
	}
}

// resources are requests and limits alike, so that a pod with both has the class Guaranteed.
func resources(m talk.Make) (corev1.ResourceRequirements, error) {
	list := corev1.ResourceList{}
	for key, text := range map[corev1.ResourceName]string{corev1.ResourceCPU: m.CPU, corev1.ResourceMemory: m.Memory} {
		if text == "" {
			continue
		}
		q, err := resource.ParseQuantity(text)
		if err != nil || q.Sign() <= 0 {
			return corev1.ResourceRequirements{}, fmt.Errorf("%s=%s is no quantity of Kubernetes; expected such as cpu=2 or memory=1Gi", key, text)
		}
		list[key] = q
	}
	return corev1.ResourceRequirements{Requests: list, Limits: list}, nil
}

// apart keeps the pods of a run on nodes of their own.
func apart(run string) *corev1.Affinity {
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{runLabel: run}},
		}},
	}}
}

// service is that before a pod: a row of ports, for TCP and UDP each. It goes with the pod.
func service(c *cluster, run string, pod *corev1.Pod) *corev1.Service {
	meta := metadata(c, pod.Name, run)
	meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}}
	s := &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Selector: map[string]string{indexLabel: pod.Name}}}
	for _, protocol := range []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP} {
		for port := int32(talk.FirstPort); port < talk.FirstPort+talk.Ports; port++ {
			s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{
				Name: strings.ToLower(fmt.Sprintf("%s-%d", protocol, port)), Protocol: protocol, Port: port, TargetPort: intstr.FromInt32(port),
			})
		}
	}
	return s
}
