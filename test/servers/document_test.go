package main

import (
	"os"
	"strings"
	"testing"
)

// Every server has its place in the document, whose lines are those that the program
// types, and what came is an answer.
func TestTheDocumentShowsEveryServer(t *testing.T) {
	t.Chdir("../..")
	s, err := newSite()
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(s.temp)
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range s.servers() {
		_, after, found := strings.Cut(string(text), "## "+of.name+"\n")
		section, _, _ := strings.Cut(after, "\n## ")
		if typed := "\n$ netdyno " + quoted(of.typed(s.port(of))) + "\n"; !found || !strings.Contains(section, typed) || !strings.Contains(section, " answers ") {
			t.Errorf("%s has no section %q with the line %q and its answer", document, of.name, typed)
		}
	}
}

func TestWhatIsShown(t *testing.T) {
	if got, want := quoted([]string{"grpc://a/b", "--data", `{"item": "tea"}`}), `grpc://a/b --data '{"item": "tea"}'`; got != want {
		t.Errorf("quoted %s, want %s", got, want)
	}
	came := "u: HTTP/1.1 200 OK\nu: 3 trials in 3 blocks\nafter 3 blocks  rate\nu   9.45\n\nu answers 9 requests/s\n"
	if got, want := shortened(came), "u: HTTP/1.1 200 OK\n\nu answers 9 requests/s"; got != want {
		t.Errorf("shortened to %q, want %q", got, want)
	}
}
