package session

import (
	"context"
	"strings"
	"testing"

	"netdyno/internal/record"
)

func TestAServerListens(t *testing.T) {
	workplace(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	s, err := PrepareServer(ctx, ServerRequest{Args: []string{"server=" + scriptedServer}, Bind: "127.0.0.1:9"})
	if err != nil {
		t.Fatal(err)
	}
	listens := ""
	_, err = s.Serve(ctx, func(w record.Worker) {
		listens = w.Ready.Addresses[0]
		stop()
	})
	if err != nil || listens != "127.0.0.1:9" {
		t.Fatalf("it listened on %q and ended with %v", listens, err)
	}
}

func TestAServerThatDoesNotListen(t *testing.T) {
	workplace(t)
	s, err := PrepareServer(t.Context(), ServerRequest{Args: []string{"server=" + scriptedServer}, Bind: "192.0.2.1:8"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Serve(t.Context(), func(record.Worker) {}); err == nil {
		t.Error("it serves at another address than it was told")
	}
}

func TestOnlyOneServerStands(t *testing.T) {
	workplace(t)
	for args, want := range map[string]string{
		"transport=scripted connections=1,2": "varies connections: one server stands at a time",
		"transport=scripted rate=1,2":        "varies rate",
	} {
		_, err := PrepareServer(t.Context(), ServerRequest{Args: strings.Fields(args), Bind: "127.0.0.1:9"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", args, err, want)
		}
	}
}
