package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
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
	c.DisableAutoGenTag = true
	never := time.Unix(0, 0).UTC()
	header := doc.GenManHeader{Title: "NETDYNO", Section: "1", Source: "netdyno", Manual: "netdyno", Date: &never}
	if err := doc.GenManTree(c, &header, pages); err != nil {
		return fmt.Errorf("write man pages: %w", err)
	}
	return nil
}
