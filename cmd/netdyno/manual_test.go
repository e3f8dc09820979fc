package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheManualHasAPageForEachCommandAndThreeShells(t *testing.T) {
	dir := t.TempDir()
	c := root()
	if err := writeManual(c, dir); err != nil {
		t.Fatal(err)
	}
	want := []string{"man/man1/netdyno.1", "bash-completion/completions/netdyno", "zsh/vendor-completions/_netdyno", "fish/vendor_completions.d/netdyno.fish"}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			want = append(want, "man/man1/netdyno-"+sub.Name()+".1")
		}
	}
	for _, name := range want {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(string(text), "netdyno") {
			t.Errorf("%s does not name netdyno", name)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "man/man1/netdyno-manual.1")); err == nil {
		t.Error("the command that writes the manual has a page of its own, want none")
	}
}
