package main

import (
	"os"
	"strings"
	"testing"
)

// docs/servers.md has every server with the line that the program types.
func TestTheDocumentHasEveryServer(t *testing.T) {
	t.Chdir("../..")
	s, err := newSite()
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(s.temp)
	text, err := os.ReadFile("docs/servers.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range s.servers() {
		if row := "\n| " + of.name + " | `netdyno " + quoted(of.typed(s.port(of))) + "` | "; !strings.Contains(string(text), row) {
			t.Errorf("docs/servers.md lacks the row%s", row)
		}
	}
}

func TestALineIsQuoted(t *testing.T) {
	if got, want := quoted([]string{"grpc://a/b", "--data", `{"item": "tea"}`}), `grpc://a/b --data '{"item": "tea"}'`; got != want {
		t.Errorf("quoted %s, want %s", got, want)
	}
}
