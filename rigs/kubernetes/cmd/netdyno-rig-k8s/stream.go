package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
)

// command is one in a pod, or the first process of it.
type command struct {
	pod       string
	attach    bool
	argv      []string
	in        io.Reader
	out, said io.Writer
}

// spdy is set once a command went by SPDY that did not by a WebSocket.
var spdy atomic.Bool

// stream carries out a command and returns its status. The error is of the way there.
func (c *cluster) stream(ctx context.Context, run command) (code int, err error) {
	verb := "exec"
	r := c.client.Get().Namespace(c.namespace).Resource("pods").Name(run.pod)
	if run.attach {
		verb = "attach"
		r = r.SubResource(verb).VersionedParams(&corev1.PodAttachOptions{Container: container, Stdin: run.in != nil, Stdout: true, Stderr: run.said != nil}, parameters)
	} else {
		r = r.SubResource(verb).VersionedParams(&corev1.PodExecOptions{Container: container, Command: run.argv, Stdin: run.in != nil, Stdout: true, Stderr: run.said != nil}, parameters)
	}
	options := remotecommand.StreamOptions{Stdin: run.in, Stdout: run.out, Stderr: run.said}
	err = c.converse(ctx, r.URL(), options)
	var status exec.CodeExitError
	if errors.As(err, &status) {
		return status.Code, nil
	}
	if err != nil {
		err = refusal(err, act{"create", "pods/" + verb, c.namespace})
	}
	return 0, err
}

// converse goes by a WebSocket, or by SPDY where the cluster or what lies before it has none.
func (c *cluster) converse(ctx context.Context, at *url.URL, o remotecommand.StreamOptions) error {
	if !spdy.Load() {
		over, err := remotecommand.NewWebSocketExecutor(c.config, http.MethodGet, at.String())
		if err != nil {
			return err
		}
		err = over.StreamWithContext(ctx, o)
		if !httpstream.IsUpgradeFailure(err) && !httpstream.IsHTTPSProxyError(err) {
			return err
		}
	}
	over, err := remotecommand.NewSPDYExecutor(c.config, http.MethodPost, at)
	if err != nil {
		return err
	}
	err = over.StreamWithContext(ctx, o)
	var status exec.CodeExitError
	if err == nil || errors.As(err, &status) { // and not refused for what a WebSocket was refused for
		spdy.Store(true)
	}
	return err
}
