package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// completions are where the shells look for theirs, under share/.
var completions = map[string]string{
	"bash": "bash-completion/completions/netdyno",
	"zsh":  "zsh/vendor-completions/_netdyno",
	"fish": "fish/vendor_completions.d/netdyno.fish",
}

// manual writes into share/ what netdyno says of itself: a man page for each command, which is
// its help, and completions.
func (r release) manual() error {
	for shell, file := range completions {
		script, err := r.said("completion", shell)
		if err == nil {
			err = r.share(file, script)
		}
		if err != nil {
			return err
		}
	}
	return r.page()
}

// said is what netdyno prints.
func (r release) said(words ...string) (string, error) {
	out, err := exec.Command(filepath.Join(r.dir, "programs", runtime.GOARCH, "netdyno"), words...).Output()
	if err != nil {
		return "", fmt.Errorf("netdyno %s: %w", strings.Join(words, " "), err)
	}
	return string(out), nil
}

func (r release) share(file, text string) error {
	path := filepath.Join(r.dir, "share", file)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// page writes the man pages of a command and of those below it.
func (r release) page(words ...string) error {
	help, err := r.said(append(words, "--help")...)
	if err != nil {
		return err
	}
	name := strings.Join(append([]string{"netdyno"}, words...), "-")
	first, _, _ := strings.Cut(help, "\n")
	page := fmt.Sprintf(".TH NETDYNO 1 \"\" netdyno \"User Commands\"\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n%s.fi\n", roff(name), roff(first), roff(help))
	if err := r.share("man/man1/"+name+".1", page); err != nil {
		return err
	}
	for _, below := range commandsOf(help) {
		if err := r.page(append(words[:len(words):len(words)], below)...); err != nil {
			return err
		}
	}
	return nil
}

// commandsOf are the commands that a help lists.
func commandsOf(help string) (all []string) {
	_, list, _ := strings.Cut(help, "\nAvailable Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		if words := strings.Fields(line); len(words) > 0 && words[0] != "help" {
			all = append(all, words[0])
		}
	}
	return all
}

// roff is a text in which nothing is a macro or an escape of troff(1).
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "\n.", "\n\\&.").Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}
