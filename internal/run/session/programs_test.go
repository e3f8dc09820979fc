package session

import (
	"testing"

	"netdyno/internal/run/rig"
)

func TestTheProgramOfACommand(t *testing.T) {
	for command, want := range map[string]string{
		"": "", "  ": "", "server {port}": "server", " ./a/b\t-x": "./a/b", `"my server" {port}`: "my server", `'x' y`: "x",
		`"open y`: "", `a"b c" d`: "", `"a"b c`: "", "{host} x": "",
	} {
		if got := firstWord(command); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
	for program, want := range map[string]bool{"sh": true, "/bin/sh": true, "./none": false, "no-such-program-here": false, "-v": false, "a b": false} {
		if got := hasProgram(t.Context(), rig.Host{}, program); got != want {
			t.Errorf("%q is there: %v, want %v", program, got, want)
		}
	}
	if !hasProgram(t.Context(), rig.Host{Prefix: []string{"sh", "-c", "exit 255"}}, "none") {
		t.Error("a host that cannot be asked refuses a program")
	}
}
