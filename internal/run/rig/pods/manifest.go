package pods

// object is one of Kubernetes, as its API writes it.
type object map[string]any

// longest is how long a pod may live at all, in seconds: one that nobody attached to would
// never end.
const longest = 7 * 24 * 3600

func (r *Rig) metadata(name string) object {
	return object{"name": name, "labels": object{"app.kubernetes.io/managed-by": "netdyno", runLabel: r.run, indexLabel: name}}
}

// manifests are pods by their names, on nodes in turn, or each on a node of its own where no
// node is named.
func (r *Rig) manifests(names, nodes []string, hostNetwork bool) (all []object) {
	box := object{
		"name": "netdyno", "image": r.options.Image, "imagePullPolicy": "IfNotPresent",
		"command": []string{"cat"}, "stdin": true, "stdinOnce": true,
		"volumeMounts": []object{{"name": "programs", "mountPath": "/tmp"}},
	}
	bounds := object{} // requests and limits alike, so that a pod with both has the class Guaranteed
	for key, text := range map[string]string{"cpu": r.options.CPU, "memory": r.options.Memory} {
		if text != "" {
			bounds[key] = text
		}
	}
	box["resources"] = object{"requests": bounds, "limits": bounds}
	if r.options.Security == "restricted" {
		const nobody = 65534
		box["securityContext"] = object{
			"allowPrivilegeEscalation": false, "runAsNonRoot": true, "runAsUser": nobody,
			"capabilities": object{"drop": []string{"ALL"}}, "seccompProfile": object{"type": "RuntimeDefault"},
		}
	}
	for i, name := range names {
		spec := object{
			"restartPolicy": "Never", "hostNetwork": hostNetwork, "terminationGracePeriodSeconds": 1, "activeDeadlineSeconds": longest,
			"automountServiceAccountToken": false, "enableServiceLinks": false,
			"containers": []object{box}, "volumes": []object{{"name": "programs", "emptyDir": object{}}},
		}
		switch {
		case len(nodes) > 0:
			spec["nodeName"] = nodes[i%len(nodes)]
		case len(names) > 1:
			spec["affinity"] = object{"podAntiAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": []object{{
				"topologyKey": "kubernetes.io/hostname", "labelSelector": object{"matchLabels": object{runLabel: r.run}},
			}}}}
		}
		all = append(all, object{"apiVersion": "v1", "kind": "Pod", "metadata": r.metadata(name), "spec": spec})
	}
	return all
}
