package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netdyno/internal/contract"
	"netdyno/internal/input"
	"netdyno/internal/run/rig/arrange"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study/source"
	"netdyno/internal/run/suggest"
)

// tabTimeout bounds how long Tab waits for workers to say what they are, and for a
// study file: a shell stands still meanwhile.
const tabTimeout = 3 * time.Second

// completeStudy offers what may come next where a study is typed. With
// --continue it is the directory of a run.
func completeStudy(c *cobra.Command, typed []string, word string) ([]string, cobra.ShellCompDirective) {
	if goOn := c.Flags().Lookup("continue"); goOn != nil && goOn.Changed {
		return completeRun(c, typed, word)
	}
	ctx, cancel := context.WithTimeout(cmp.Or(c.Context(), context.Background()), tabTimeout)
	defer cancel()
	line := suggest.Line{
		Typed:       typed,
		Read:        input.Within(ctx, source.MaxFile),
		Transports:  func() []contract.Transport { return offered(ctx) },
		Directories: func(begun string) []string { return directories(begun + "*") },
	}
	if urls, others := splitURLs(typed); len(urls) > 0 {
		line.Typed, line.Keys = others, true
	}
	words := line.Next(word)
	if len(words) == 0 && !strings.Contains(word, "=") {
		return nil, cobra.ShellCompDirectiveDefault // a file
	}
	return shown(words, word)
}

// shown is what cobra passes to a shell of those words that begin so.
func shown(words []suggest.Word, begun string) (texts []string, directive cobra.ShellCompDirective) {
	directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	for _, w := range words {
		if !strings.HasPrefix(w.Text, begun) {
			continue
		}
		texts = append(texts, cobra.CompletionWithDesc(w.Text, w.Doc))
		if w.Open {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
	}
	return texts, directive
}

// offered are the transports of the workers found; what is absent is not offered.
func offered(ctx context.Context) []contract.Transport {
	catalog, err := session.Discover(ctx, nil)
	if err != nil {
		cobra.CompErrorln(err.Error())
		return nil
	}
	var all []contract.Transport
	for _, o := range catalog.Offers() {
		all = append(all, o.Transport)
	}
	return all
}

// completeTransport offers the transports of the workers found.
func completeTransport(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmp.Or(c.Context(), context.Background()), tabTimeout)
	defer cancel()
	return shown(suggest.Transports(offered(ctx), ""), word)
}

// completeStudyName offers the built-in studies.
func completeStudyName(_ *cobra.Command, typed []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(typed) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return shown(suggest.Studies(), word)
}

// completeRun offers the directories of runs, the newest first: those under
// results/, or under what is typed.
func completeRun(_ *cobra.Command, typed []string, word string) ([]string, cobra.ShellCompDirective) {
	var runs []string
	for _, d := range session.Runs(word) {
		if !slices.Contains(typed, string(d)) {
			runs = append(runs, string(d))
		}
	}
	if len(runs) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return runs, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeRuns is for a command that takes most directories of runs.
func completeRuns(most int) cobra.CompletionFunc {
	return func(c *cobra.Command, typed []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(typed) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completeRun(c, typed, word)
	}
}

// directories are those that match a pattern.
func directories(pattern string) []string {
	matches, err := filepath.Glob(pattern)
	if err != nil {
		return nil // a bracket that was typed and never closed
	}
	return slices.DeleteFunc(matches, func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || !info.IsDir()
	})
}

// completeRig offers the kinds of rigs.
func completeRig(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	var words []suggest.Word
	for _, form := range arrange.Forms() {
		kind, needs, open := strings.Cut(form, ":")
		kind, _, optional := strings.Cut(kind, "[")
		if needs != "" && !optional {
			kind += ":"
		}
		if !strings.HasSuffix(form, ".yaml") { // files are offered by the shell
			words = append(words, suggest.Word{Text: kind, Doc: form, Open: open})
		}
	}
	texts, directive := shown(words, word)
	return texts, directive &^ cobra.ShellCompDirectiveNoFileComp // or a rig file
}

// completeFlags says what may follow some flags of a command; it panics on a flag
// that the command lacks.
func completeFlags(c *cobra.Command, of map[string]cobra.CompletionFunc) {
	for name, complete := range of {
		if err := c.RegisterFlagCompletionFunc(name, complete); err != nil {
			panic(fmt.Errorf("complete --%s: %w", name, err))
		}
	}
}

// completeFiles offers files with one of these extensions.
func completeFiles(extensions ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
}

// completeDirectories offers directories.
func completeDirectories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// mendBash makes `completion bash` write our script, where cobra's would never
// complete a level behind a comma.
func mendBash(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	bash, _, err := root.Find([]string{"completion", "bash"})
	if err != nil {
		panic(err) // cobra has just made it
	}
	bash.RunE = func(c *cobra.Command, _ []string) error {
		plain, err := c.Flags().GetBool("no-descriptions")
		if err != nil {
			return err
		}
		return writeBash(root, c.OutOrStdout(), !plain)
	}
}

// Cobra escapes what it offers as bash's printf %q does, commas included, and compares
// the escaped text with the typed one, in which nobody escapes a comma. These are the
// places in our script that compare, each with the text that follows.
var escapes = []struct{ after, add string }{
	{`completions -d '' < <(printf "%q\n" "${completions[@]%%$tab*}")`, `completions=("${completions[@]//\\,/,}")`},
	{`COMPREPLY -d '' < <(printf "%q\n" "${COMPREPLY[@]}")`, `COMPREPLY=("${COMPREPLY[@]//\\,/,}")`},
	{`completions -d '' < <(printf "%q\n" "${completions[@]}")`, `completions=("${completions[@]//\\,/,}")`},
	{`COMPREPLY[0]=$(printf "%q" "${COMPREPLY[0]}")`, `COMPREPLY[0]=${COMPREPLY[0]//\\,/,}`},
	{`|| comp=$(printf "%q" "${compline%%$tab*}")`, `comp=${comp//\\,/,}`},
	{`COMPREPLY[0]=$(printf "%q" "${COMPREPLY[0]%%$tab*}")`, `COMPREPLY[0]=${COMPREPLY[0]//\\,/,}`},
}

// writeBash writes the completion for bash.
func writeBash(root *cobra.Command, w io.Writer, descriptions bool) error {
	var theirs bytes.Buffer
	if err := root.GenBashCompletionV2(&theirs, descriptions); err != nil {
		return err
	}
	script := theirs.String()
	for _, e := range escapes {
		if strings.Count(script, e.after+"\n") != 1 {
			return fmt.Errorf("the completion script of this version of cobra is another one: it lacks %s", e.after)
		}
		script = strings.Replace(script, e.after+"\n", e.after+"; "+e.add+"\n", 1)
	}
	_, err := io.WriteString(w, script)
	return err
}
