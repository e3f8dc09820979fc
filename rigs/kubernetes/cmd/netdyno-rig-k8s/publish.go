package main

import (
	"context"
	"fmt"

	"netdyno/internal/run/rig/pods/talk"
)

// publish makes a service before a pod and returns its address. Whether connections reach the
// pod through it is for who asked to find out: that takes until the nodes have heard of it.
func (p *program) publish(ctx context.Context, asked talk.Publish) (string, error) {
	pod, err := p.cluster.pod(ctx, asked.Pod)
	if err == nil && pod == nil {
		err = fmt.Errorf("pod %s is gone", asked.Pod)
	}
	if err != nil {
		return "", err
	}
	if err := p.cluster.mayNot(ctx, act{"delete", "services", p.cluster.namespace}); err != nil {
		return "", err
	}
	s := service(p.cluster, p.run, pod)
	if err := p.cluster.create(ctx, "services", s); err != nil {
		return "", err
	}
	if s.Spec.ClusterIP == "" || s.Spec.ClusterIP == "None" {
		return "", fmt.Errorf("the cluster gave service %s no address", s.Name)
	}
	return s.Spec.ClusterIP, nil
}
