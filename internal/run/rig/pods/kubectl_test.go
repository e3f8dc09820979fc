package pods

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/run/rig"
)

// state names the directory where a kubectl that the test binary plays keeps what was made.
// Whether the real one does the same, test/kube finds out on a cluster.
const state = "NETDYNO_TEST_KUBECTL"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "kubectl" {
		if err := play(os.Getenv(state), os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// play does what kubectl does, on this host.
func play(dir string, args []string) error {
	args = slices.DeleteFunc(args, func(a string) bool { return strings.HasPrefix(a, "--namespace=") })
	made, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	switch verb := strings.Join(args[:2], " "); {
	case args[0] == "create":
		return create(dir)
	case verb == "get pods":
		var items []object
		for _, file := range made {
			var o object
			if text, err := os.ReadFile(file); err != nil || json.Unmarshal(text, &o) != nil {
				return fmt.Errorf("read %s", file)
			}
			o["status"] = object{"phase": "Running", "podIP": "127.0.0.1", "qosClass": "BestEffort"}
			items = append(items, o)
		}
		return json.NewEncoder(os.Stdout).Encode(object{"items": items})
	case verb == "attach -i":
		_, err := io.Copy(os.Stdout, os.Stdin)
		return err
	case verb == "exec -i":
		c := exec.Command(args[4], args[5:]...)
		c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
		return c.Run()
	case verb == "delete pods":
		if slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--field-selector=") }) {
			return nil // of those that have ended
		}
		for _, file := range made {
			err = errors.Join(err, os.Remove(file))
		}
		return err
	case verb == "auth can-i":
		return nil
	}
	return fmt.Errorf("Error from server (Forbidden): %q is forbidden", args)
}

func create(dir string) error {
	var list struct{ Items []object }
	if err := json.NewDecoder(os.Stdin).Decode(&list); err != nil {
		return err
	}
	for _, o := range list.Items {
		text, err := json.Marshal(o)
		if err != nil {
			return err
		}
		name := o["metadata"].(map[string]any)["name"].(string)
		if o["kind"] == "Pod" {
			err = os.WriteFile(filepath.Join(dir, name+".json"), text, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// played has a rig whose kubectl is the test binary.
func played(t *testing.T) (r *Rig, dir string) {
	t.Helper()
	bin, dir := t.TempDir(), t.TempDir()
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(bin, "kubectl"))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv(state, dir)
	r, err = New(t.Context(), Options{Hosts: 2, Namespace: "bench", Nodes: []string{"a", "b"}, Image: standardImage})
	if err != nil {
		t.Fatal(err)
	}
	return r, dir
}

// Programs run in pods, which are held and told of; one that is lost is named, with its node;
// and all of them go.
func TestPodsByKubectl(t *testing.T) {
	r, dir := played(t)
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"here: $1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := r.Deploy(t.Context(), []string{script}); err != nil {
		t.Fatal(errors.Join(err, r.Close()))
	}
	for _, h := range r.Hosts() {
		if got, err := h.Ask(t.Context(), nil, script, "a 'word'"); err != nil || string(got) != "here: a 'word'\n" || h.Address != "127.0.0.1" {
			t.Errorf("%s at %s says %q, %v", h.Name, h.Address, got, err)
		}
	}
	if f := r.Facts()["pod2"]; f["k8s.node"] != "b" || f["k8s.pod_qos"] != "BestEffort" {
		t.Errorf("facts of pod2 are %v", f)
	}
	if err := r.Recover(t.Context()); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(dir, r.pods[1]+".json")); err != nil {
		t.Fatal(err)
	}
	err := r.Recover(t.Context())
	if lost := rig.ErrorOf(err, "pod2"); lost == nil || !strings.Contains(lost.Error(), "was deleted") || rig.ErrorOf(err, "pod1") != nil {
		t.Errorf("with pod2 gone: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// What the cluster refuses is said in its words, with what to do.
func TestAdvice(t *testing.T) {
	for says, want := range map[string]string{
		`pods "a" is forbidden: violates PodSecurity "restricted:latest"`:       "security=restricted",
		`pods "a" is forbidden: exceeded quota: one, requested: pods=1`:         "kubectl describe quota",
		`pods is forbidden: User "me" cannot create resource "pods"`:            "docs/kubernetes-role.yaml",
		"0/2 nodes are available: 2 Insufficient cpu.":                          "ask for less",
		"0/2 nodes are available: 2 node(s) didn't match pod anti-affinity":     "node=a,a",
		`ErrImagePull: failed to pull "x"`:                                      "image=NAME",
		"The connection to the server localhost:8080 was refused - did you":     "must work from here",
		`RunContainerError: exec: "cat": executable file not found in $PATH: …`: "sh",
	} {
		if got := advise(errors.New(says)); !strings.HasPrefix(got.Error(), says) || !strings.Contains(got.Error()[len(says):], want) {
			t.Errorf("%s: %v, want advice with %q", says, got, want)
		}
	}
}
