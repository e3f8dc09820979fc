package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// role is where the smallest role is written.
const role = "docs/kubernetes-role.yaml"

// notMissing is an error but that of what is not there.
func notMissing(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// refusal is an error of the cluster in one line with what to do; nil of nil. The error
// itself stays in it.
func refusal(err error, a act) error {
	if err == nil {
		return nil
	}
	where := fmt.Sprintf("%s %s in namespace %s", a.verb, a.resource, a.namespace)
	if a.namespace == "" {
		where = a.verb + " " + a.resource
	}
	var unreached *url.Error
	var network net.Error
	switch text := err.Error(); {
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%s: the cluster does not know who asks: %w; renew the credentials of your kubeconfig (`kubectl auth whoami` tells who you are)", where, err)
	case apierrors.IsForbidden(err) && refusedByRule(text) == "":
		return fmt.Errorf("%s: %w; a role that allows it has the rule %s: `kubectl apply -f %s` by who runs the cluster grants all that the rig needs", where, err, rule(a), role)
	case refusedByRule(text) != "":
		return fmt.Errorf("%s: %w; %s", where, err, refusedByRule(text))
	case apierrors.IsNotFound(err) && strings.Contains(text, "namespaces"):
		return fmt.Errorf("%s: %w; make it (`kubectl create namespace %s`) or name another: namespace=NAME", where, err, a.namespace)
	case errors.As(err, &unreached), errors.As(err, &network) && network.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: the cluster's API does not answer: %w; `kubectl get pods` must work from here, with %s", where, err, kubeconfigs())
	}
	return fmt.Errorf("%s: %w", where, err)
}

// mayNot returns that the cluster will refuse something, which it can be asked beforehand:
// what may not be deleted must not be made. Where it does not say, nothing is returned.
// Source: Kubernetes API, authorization.k8s.io/v1, SelfSubjectAccessReview.
func (c *cluster) mayNot(ctx context.Context, a act) error {
	asked := fmt.Sprintf(`{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{"resourceAttributes":{"namespace":%q,"verb":%q,"resource":%q}}}`, a.namespace, a.verb, a.resource)
	text, err := c.client.Post().AbsPath("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews").Timeout(askTimeout).
		SetHeader("Content-Type", "application/json").Body([]byte(asked)).DoRaw(ctx)
	var said struct {
		Status struct {
			Allowed bool   `json:"allowed"`
			Reason  string `json:"reason"`
		} `json:"status"`
	}
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if err != nil || said.Status.Allowed {
		return nil //nolint:nilerr // a cluster that does not say may allow it
	}
	resource := schema.GroupResource{Resource: a.resource}
	return refusal(apierrors.NewForbidden(resource, "", fmt.Errorf("you cannot %s them, so none is made: %s", a.verb, cmp.Or(said.Status.Reason, "no role of yours allows it"))), a)
}

// refusedByRule returns what to do about a rule of the namespace that refused an object;
// empty where none did.
func refusedByRule(text string) string {
	switch {
	case strings.Contains(text, "exceeded quota"), strings.Contains(text, "failed quota"):
		return "a ResourceQuota of the namespace refuses it: ask for less or for what it wants stated (cpu=, memory=, fewer pods), or take another namespace (`kubectl describe quota` shows it)"
	case strings.Contains(text, "violates PodSecurity"):
		if strings.Contains(text, "hostNetwork") || strings.Contains(text, "host namespaces") {
			return "network=host needs a namespace that is labeled pod-security.kubernetes.io/enforce=privileged; network=pod does not"
		}
		return "add security=restricted to the rig, or take a namespace that is labeled pod-security.kubernetes.io/enforce=baseline"
	case strings.Contains(text, "usage per Container"), strings.Contains(text, "usage per Pod"):
		return "a LimitRange of the namespace refuses it: set cpu= and memory= within it (`kubectl describe limitrange` shows it)"
	case strings.Contains(text, "admission webhook"):
		return "a policy of the cluster refuses it: ask who runs the cluster"
	}
	return ""
}

// rule of a role. Of streams clusters of different ages ask for different verbs.
func rule(a act) string {
	if strings.Contains(a.resource, "/") {
		return fmt.Sprintf(`{apiGroups: [""], resources: ["%s"], verbs: ["create", "get"]}`, a.resource)
	}
	return fmt.Sprintf(`{apiGroups: [""], resources: ["%s"], verbs: ["%s"]}`, a.resource, a.verb)
}
