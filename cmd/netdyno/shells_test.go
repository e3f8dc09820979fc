package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// asBash plays what bash does at the Tab key after $line, with the one function
// of the package bash-completion that the script calls.
const asBash = `
_init_completion() { words=($line); cword=$((${#words[@]} - 1)); cur=${words[cword]}; prev=${words[cword-1]}; }
compopt() { :; }
COMP_TYPE=9
__start_netdyno
printf '%s\n' "${COMPREPLY[@]}"
`

// Bash itself completes: behind a comma too, and only what follows the last = or :,
// which are words of their own for it.
func TestBashCompletes(t *testing.T) {
	for line, want := range map[string]string{
		"netdyno run event-loops-q":                  "event-loops-quick",
		"netdyno run connec":                         "connections=",
		"netdyno run transport=go-e":                 "go-epoll",
		"netdyno run transport=go-net,go-e":          "go-net,go-epoll",
		"netdyno run event-loops arm=go-net,u":       "go-net,uring",
		"netdyno run codec=proto,json-":              "proto,json-fast",
		"netdyno http://127.0.0.1:9/ primary=exch":   "exchanges_per_s",
		"netdyno run messages connections=1,10,1000": "1,10,1000 1,10,10000",
	} {
		for _, described := range []bool{true, false} {
			var script bytes.Buffer
			if err := writeBash(root(), &script, described); err != nil {
				t.Fatal(err)
			}
			c := exec.Command("bash", "-c", "line='"+line+"'\n"+script.String()+asBash)
			out, err := c.Output()
			if got := strings.Join(strings.Fields(string(out)), " "); err != nil || got != want {
				t.Errorf("%s (descriptions: %t): %q, %v, want %q", line, described, got, err, want)
			}
		}
	}
}

func TestTheCommandWritesOurScript(t *testing.T) {
	out, err := exec.Command("netdyno", "completion", "bash").Output()
	if err != nil || strings.Count(string(out), `//\\,/,}`) != len(escapes) {
		t.Errorf("netdyno completion bash: %v, want all of %d changes", err, len(escapes))
	}
}
