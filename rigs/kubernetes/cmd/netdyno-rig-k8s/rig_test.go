package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"netdyno/internal/run/rig/pods"
	"netdyno/internal/run/rig/pods/talk"
)

// What a cluster refuses is told with what to do.
func TestRefusal(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	forbidden := func(why string) error { return apierrors.NewForbidden(pods, "a", &text{why}) }
	for want, err := range map[string]error{
		`{apiGroups: [""], resources: ["pods"], verbs: ["create"]}`: forbidden(`User "me" cannot create resource "pods"`),
		"ResourceQuota":                  forbidden("exceeded quota: small, requested: pods=1"),
		"add security=restricted":        forbidden(`violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false`),
		"network=host needs":             forbidden(`violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)`),
		"LimitRange":                     forbidden("maximum cpu usage per Container is 1, but limit is 2"),
		"renew the credentials":          apierrors.NewUnauthorized("no"),
		"kubectl create namespace bench": apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "bench"),
		"`kubectl get pods` must work":   context.DeadlineExceeded,
	} {
		if got := refusal(err, act{"create", "pods", "bench"}); !strings.Contains(got.Error(), want) || strings.Contains(got.Error(), "\n") {
			t.Errorf("%v; want in it %s", got, want)
		}
	}
	if err := refusal(nil, act{}); err != nil {
		t.Error(err)
	}
}

type text struct{ string }

func (t *text) Error() string { return t.string }

// A pod that will not start is given up with its reason, and one that may is not.
func TestHopeless(t *testing.T) {
	waiting := func(reason string) corev1.PodStatus {
		return corev1.PodStatus{StartTime: &metav1.Time{}, ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}}}
	}
	unplacedFor := corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "Insufficient cpu"}}}
	for _, c := range []struct {
		status corev1.PodStatus
		node   string
		waited time.Duration
		want   string // "" for nothing
	}{
		{waiting("ContainerCreating"), "a", time.Minute, ""},
		{waiting("ErrImagePull"), "a", 0, "the node cannot pull busybox: name an image"},
		{waiting("ErrImageNeverPull"), "a", 0, "busybox is not on the node"},
		{unplacedFor, "", time.Second, ""},
		{unplacedFor, "", time.Minute, "Insufficient cpu; ask for less"},
		{corev1.PodStatus{Phase: corev1.PodPending}, "nix", time.Second, ""},
		{corev1.PodStatus{Phase: corev1.PodPending}, "nix", time.Minute, "there is no such node"},
		{corev1.PodStatus{Phase: corev1.PodPending}, "", time.Minute, "no scheduler"},
		{corev1.PodStatus{Phase: corev1.PodFailed, Reason: "OutOfcpu"}, "a", 0, "OutOfcpu; where the node lacks room"},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: c.node, Containers: []corev1.Container{{Image: "busybox"}}}, Status: c.status}
		if got := hopeless(pod, c.waited); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("after %v: %q, want in it %q", c.waited, got, c.want)
		}
	}
}

// Bounds are requests and limits alike; pods without a node keep apart.
func TestManifest(t *testing.T) {
	c := &cluster{namespace: "bench", holder: "me"}
	asked := talk.Make{Image: "busybox", CPU: "2", Memory: "1Gi", Security: "restricted", Pods: []talk.Pod{{Name: "a"}, {Name: "b", Node: "n", Host: true}}}
	pod, err := manifest(c, "run", 0, asked)
	if err != nil {
		t.Fatal(err)
	}
	box := pod.Spec.Containers[0]
	if !box.Resources.Limits.Cpu().Equal(*box.Resources.Requests.Cpu()) || box.Resources.Limits.Memory().Value() != 1<<30 {
		t.Errorf("resources %v", box.Resources)
	}
	if pod.Spec.Affinity == nil || *box.SecurityContext.RunAsNonRoot != true || !box.StdinOnce {
		t.Errorf("pod %+v", pod.Spec)
	}
	if pod, err = manifest(c, "run", 1, asked); err != nil || pod.Spec.Affinity != nil || pod.Spec.NodeName != "n" || !pod.Spec.HostNetwork {
		t.Errorf("pod %+v, %v", pod.Spec, err)
	}
	if _, err := manifest(c, "run", 0, talk.Make{CPU: "1.1.1", Pods: asked.Pods}); err == nil {
		t.Error("cpu=1.1.1 is taken")
	}
}

// What is left is what processes of this host made that are gone, and what ended long ago.
func TestLeft(t *testing.T) {
	mine, now := holderOf(os.Getpid()), time.Now()
	gone := strings.Replace(mine, started("self"), "-", 1)
	gone = gone[:strings.LastIndexByte(mine, ' ')] + " 1"
	elsewhere := strings.Fields(mine)
	elsewhere[1] = "elsewhere"
	other := strings.Join(elsewhere, " ")
	stranger := strings.Fields(mine)
	stranger[0] = "somebody"
	for _, c := range []struct {
		holder string
		ended  time.Time
		want   bool
	}{
		{mine, time.Time{}, false}, {mine, now.Add(-time.Hour), false}, {gone, time.Time{}, true},
		{other, time.Time{}, false}, {other, now, false}, {other, now.Add(-time.Hour), true},
		{strings.Join(stranger, " "), now.Add(-time.Hour), false}, {"", now.Add(-time.Hour), false},
	} {
		o := metav1.ObjectMeta{Annotations: map[string]string{holderNote: c.holder}}
		if got := left(o, c.ended, now); got != c.want {
			t.Errorf("of %q, ended %v: left %v, want %v", c.holder, c.ended, got, c.want)
		}
	}
}

// kubeconfig points to a server that a test plays.
func kubeconfig(t *testing.T, h http.HandlerFunc) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "config")
	config := `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u","namespace":"bench"}}],"users":[{"name":"u","user":{}}],"clusters":[{"name":"c","cluster":{"server":"` + s.URL + `"}}]}`
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", file)
}

// A command whose pod is gone ends with the reason, and its files are closed.
func TestACommandInAPodThatIsGone(t *testing.T) {
	kubeconfig(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/pods") { // a list of none
			_ = json.NewEncoder(w).Encode(corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}})
			return
		}
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound, Message: `pods "a" not found`})
	})
	c, err := connect("", "")
	if err != nil || c.namespace != "bench" {
		t.Fatal(c, err)
	}
	socket := filepath.Join(t.TempDir(), "s")
	d, err := openDoor(t.Context(), socket, c)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	out, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	code, err := pods.Enter(t.Context(), socket, "a", []string{"true"}, [3]int{int(theirs.Fd()), int(theirs.Fd()), int(theirs.Fd())})
	if code != 255 || err == nil || !strings.Contains(err.Error(), "pod a was deleted in the middle of the run") {
		t.Errorf("status %d, %v", code, err)
	}
	_ = theirs.Close()
	if _, err := out.Read(make([]byte, 1)); err == nil {
		t.Error("something was written")
	}
}

// Without a kubeconfig, and without a right, a request is answered in one line.
func TestOpen(t *testing.T) {
	ask := func() string {
		request, _ := json.Marshal(talk.Request{Open: &talk.Open{Socket: filepath.Join(t.TempDir(), "s"), Run: "r", PID: os.Getpid()}})
		var out bytes.Buffer
		if err := serve(t.Context(), bytes.NewReader(append(request, '\n')), &out); err != nil {
			t.Error(err)
		}
		return out.String()
	}
	t.Setenv("KUBECONFIG", "/nowhere")
	if got := ask(); !strings.Contains(got, "no kubeconfig: KUBECONFIG=/nowhere") || !strings.Contains(got, `"last":true`) {
		t.Errorf("answered %s", got)
	}
}
