package session

import (
	"context"
	"os"
	"strings"
	"testing"

	"netdyno/internal/record"
)

func TestAServerLeavesItsRecord(t *testing.T) {
	workplace(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	s, err := PrepareServer(ctx, ServerRequest{Args: []string{"server=" + scriptedServer}, Bind: "127.0.0.1:9", Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if s.Opened() {
		t.Error("it has a file before it listens")
	}
	listens := ""
	_, err = s.Serve(ctx, func(w record.Worker) {
		listens = w.Ready.Addresses[0]
		stop()
	}, func(record.Record) {})
	if err != nil || listens != "127.0.0.1:9" || !s.Opened() {
		t.Fatalf("it listened on %q and ended with %v", listens, err)
	}
	contents, err := record.Read(s.Dir.Records())
	if err != nil || len(contents.Records) != 1 || len(contents.Header.Listen) != 1 {
		t.Errorf("%d records, %v, listened on %v; want that of its whole time", len(contents.Records), err, contents.Header.Listen)
	}
	if _, err := Begun(s.Dir); err == nil || !strings.Contains(err.Error(), "is a directory of netdyno listen") {
		t.Errorf("it can be continued: %v", err)
	}
}

// A server that never listens leaves no directory.
func TestAServerThatDoesNotListen(t *testing.T) {
	workplace(t)
	s, err := PrepareServer(t.Context(), ServerRequest{Args: []string{"server=" + scriptedServer}, Bind: "192.0.2.1:8"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Serve(t.Context(), func(record.Worker) {}, nil); err == nil {
		t.Error("it serves at another address than it was told")
	}
	if _, err := os.Stat(string(s.Dir)); !os.IsNotExist(err) || s.Opened() {
		t.Errorf("%s is left: %v", s.Dir, err)
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
