package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
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

// What troff would take for its own stands on the page as it is.
func TestAManPageIsTheHelp(t *testing.T) {
	c := &cobra.Command{Use: "weigh FILE", Short: "Weigh a file", Long: "Weigh it.\n.de is no macro\n'nor this\n  a\\b  --all", Example: "weigh a-b", Run: func(*cobra.Command, []string) {}}
	c.Flags().IntP("times", "n", 3, "how `often`")
	c.Flags().Bool("secret", false, "hidden")
	if err := c.Flags().MarkHidden("secret"); err != nil {
		t.Fatal(err)
	}
	want := `.TH NETDYNO 1 "" netdyno "User Commands"
.SH NAME
.nf
weigh \- Weigh a file
.fi
.SH SYNOPSIS
.nf
weigh FILE [flags]
.fi
.SH DESCRIPTION
.nf
Weigh it.
\&.de is no macro
\(aqnor this
  a\eb  \-\-all
.fi
.SH OPTIONS
.TP
\fB\-h, \-\-help\fP
help for weigh
.TP
\fB\-n, \-\-times\fP often
how often (default 3)
.SH EXAMPLE
.nf
weigh a\-b
.fi
`
	if got := manPage(c); got != want {
		t.Errorf("the page is\n%s\nwant\n%s", got, want)
	}
}
