package bench

import (
	"context"
	"errors"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

func TestWhoKilledAWorker(t *testing.T) {
	const byKernel = "the kernel killed 1 process(es) of memory cgroup /x for lack of memory"
	for _, c := range []struct {
		exit contract.Exit
		want string
	}{
		{contract.Exit{Code: 137, Signal: "SIGKILL", OutOfMemory: byKernel}, ": " + byKernel},
		{contract.Exit{Code: 137, Signal: "SIGKILL"}, ": another process killed it; the kernel counts no kill for lack of memory"},
		{contract.Exit{Code: 137, Signal: "SIGKILL", Reason: "deadline"}, ""},
		{contract.Exit{Code: 139, Signal: "SIGSEGV"}, ""},
		{contract.Exit{Code: 3}, ""},
	} {
		if got := killedBy(c.exit); got != c.want {
			t.Errorf("killedBy(%+v) = %q, want %q", c.exit, got, c.want)
		}
	}
}

// A worker that aborts because its peer was killed is not named in the peer's place,
// though its end is told first.
func TestAWorkerThatAbortsWaitsForWordOfAKill(t *testing.T) {
	ctx, fail := context.WithCancelCause(t.Context())
	defer fail(nil)
	for name, dies := range map[string]string{
		"client-1": `echo '{"exit":{"code":134,"signal":"SIGABRT"}}'`, "server": `sleep 0.2; echo '{"exit":{"code":137,"signal":"SIGKILL"}}'`,
	} {
		c := &conversation{worker: record.Worker{Name: name}, trial: ctx, fail: func(err error) { fail(err) }}
		if err := c.converse([]string{"sh", "-c", dies}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { <-c.pumped })
	}
	<-ctx.Done()
	var f *failure
	if !errors.As(context.Cause(ctx), &f) || f.Worker != "server" {
		t.Errorf("the failure is %v, want the server's", context.Cause(ctx))
	}
}

// The program that a worker starts may be the one that is killed: then the worker
// tells of its end, and the kernel of the reason.
func TestAFailureNamesLackOfMemory(t *testing.T) {
	r := record.Record{Failure: &record.Failure{Text: "nginx ended (signal: killed)"}, Workers: []record.Worker{
		{Name: "server", Exit: &contract.Exit{OutOfMemory: "the kernel killed 1"}}, {Name: "client-1", Exit: &contract.Exit{}},
	}}
	nameLackOfMemory(&r)
	nameLackOfMemory(&r)
	if want := "nginx ended (signal: killed); of server: the kernel killed 1"; !strings.HasPrefix(r.Failure.Text, want) || len(r.Failure.Text) != len(want) {
		t.Errorf("the failure says %q, want %q", r.Failure.Text, want)
	}
}
