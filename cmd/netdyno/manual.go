package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manualCommand writes what a package installs beside the programs. Who builds
// packages calls it, so it is not among the commands that help lists.
func manualCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "manual DIRECTORY",
		Short:  "Write man pages and shell completions into a directory",
		Args:   cobra.ExactArgs(1),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeManual(cmd.Root(), args[0])
		},
	}
}

// writeManual writes under dir, as under /usr/share: a man page for each command
// in man/man1, and completions where bash, zsh and fish look for them. Nothing in
// them depends on the day.
func writeManual(c *cobra.Command, dir string) error {
	// In the order of writing: the directory, the file in it, and what writes it.
	shells := []struct {
		dir, file string
		write     func(path string) error
	}{
		{"bash-completion/completions", c.Name(), func(path string) error {
			var script bytes.Buffer
			if err := writeBash(c, &script, true); err != nil {
				return err
			}
			return os.WriteFile(path, script.Bytes(), 0o644)
		}},
		{"zsh/vendor-completions", "_" + c.Name(), c.GenZshCompletionFile},
		{"fish/vendor_completions.d", c.Name() + ".fish", func(path string) error { return c.GenFishCompletionFile(path, true) }},
	}
	for _, s := range shells {
		if err := os.MkdirAll(filepath.Join(dir, s.dir), 0o755); err != nil {
			return err
		}
		if err := s.write(filepath.Join(dir, s.dir, s.file)); err != nil {
			return fmt.Errorf("write the completion %s: %w", s.file, err)
		}
	}
	pages := filepath.Join(dir, "man/man1")
	if err := os.MkdirAll(pages, 0o755); err != nil {
		return err
	}
	return writePages(c, pages)
}

// writePages writes the man pages of a command and of those below it that help lists.
func writePages(c *cobra.Command, dir string) error {
	if err := os.WriteFile(filepath.Join(dir, pageName(c)+".1"), []byte(manPage(c)), 0o644); err != nil {
		return fmt.Errorf("write man pages: %w", err)
	}
	for _, below := range listed(c) {
		if err := writePages(below, dir); err != nil {
			return err
		}
	}
	return nil
}

// listed are the commands below one that help lists.
func listed(c *cobra.Command) (all []*cobra.Command) {
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() && !below.IsAdditionalHelpTopicCommand() {
			all = append(all, below)
		}
	}
	return all
}

// pageName is the name of a command's man page.
func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage is the man page of a command in the macros of man(7). Its texts have the lines
// that help prints: they are laid out already. cobra/doc would take them for Markdown,
// and bring its parser and one of YAML.
func manPage(c *cobra.Command) string {
	c.InitDefaultHelpCmd()
	c.InitDefaultHelpFlag()
	var page strings.Builder
	section := func(title, text string) {
		fmt.Fprintf(&page, ".SH %s\n.nf\n%s\n.fi\n", title, roff(strings.TrimSpace(text)))
	}
	page.WriteString(".TH NETDYNO 1 \"\" netdyno \"User Commands\"\n")
	section("NAME", pageName(c)+" - "+c.Short)
	section("SYNOPSIS", c.UseLine())
	description := c.Long
	if description == "" {
		description = c.Short
	}
	section("DESCRIPTION", description)
	for _, flags := range []struct {
		title string
		set   *pflag.FlagSet
	}{{"OPTIONS", c.NonInheritedFlags()}, {"OPTIONS INHERITED FROM PARENT COMMANDS", c.InheritedFlags()}} {
		if flags.set.HasAvailableFlags() {
			fmt.Fprintf(&page, ".SH %s\n", flags.title)
			flags.set.VisitAll(func(f *pflag.Flag) { page.WriteString(manFlag(f)) })
		}
	}
	if c.Example != "" {
		section("EXAMPLE", c.Example)
	}
	var also []string
	if c.HasParent() {
		also = append(also, pageName(c.Parent())+"(1)")
	}
	for _, below := range listed(c) {
		also = append(also, pageName(below)+"(1)")
	}
	if len(also) > 0 {
		section("SEE ALSO", strings.Join(also, "\n"))
	}
	return page.String()
}

// manFlag is the paragraph of a flag; nothing of one that help hides.
func manFlag(f *pflag.Flag) string {
	if f.Hidden || f.Deprecated != "" {
		return ""
	}
	value, usage := pflag.UnquoteUsage(f)
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if value != "" {
		value = " " + value
	}
	if d := f.DefValue; d != "" && d != "false" && d != "0" && d != "[]" {
		usage += " (default " + d + ")"
	}
	return fmt.Sprintf(".TP\n\\fB%s\\fP%s\n%s\n", roff(name), roff(value), roff(usage))
}

// roff is a text in which nothing is a macro or an escape of troff.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
