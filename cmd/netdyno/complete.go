package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netdyno/internal/contract"
	"netdyno/internal/run/rig/arrange"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// tabTimeout bounds how long Tab waits for workers to say what they are: a shell stands still
// meanwhile.
const tabTimeout = 3 * time.Second

// suggestion is a way to complete what was begun.
type suggestion struct {
	text string // whole, with what was typed of it
	doc  string // one line; "" for none
	open bool   // more of the same argument follows, so that no space ends it
}

// completeStudy offers what may come next where a study is typed: a built-in study, a key, or a
// transport. With --continue it is the directory of a run.
func completeStudy(c *cobra.Command, typed []string, begun string) ([]string, cobra.ShellCompDirective) {
	if goOn := c.Flags().Lookup("continue"); goOn != nil && goOn.Changed {
		return completeRun(c, typed, begun)
	}
	if key, _, isLevel := strings.Cut(begun, "="); isLevel {
		f, err := study.FactorNamed(key)
		if err != nil || f.Kind != study.Transport {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		words := offered(c)
		for i := range words {
			words[i].text = key + "=" + words[i].text
		}
		return shown(words, begun)
	}
	words := keys()
	if len(typed) == 0 {
		words = append(studyWords(), words...)
	}
	texts, directive := shown(words, begun)
	if len(texts) == 0 {
		return nil, cobra.ShellCompDirectiveDefault // a file
	}
	return texts, directive
}

// studyWords are the built-in studies.
func studyWords() (all []suggestion) {
	for _, name := range source.List() {
		if s, err := source.Named(name); err == nil { // each is held by a test
			all = append(all, suggestion{text: name, doc: s.Question})
		}
	}
	return all
}

// keys are the factors and keys of a study.
func keys() (all []suggestion) {
	for _, f := range study.Factors() {
		if !strings.HasPrefix(f.Name, study.OptionPrefix) {
			all = append(all, suggestion{f.Name + "=", f.Doc, true})
		}
	}
	for _, k := range source.Keys() {
		if k.Typed != "" {
			all = append(all, suggestion{k.Typed + "=", k.Doc, true})
		}
	}
	return all
}

// shown is what cobra passes to a shell of those words that begin so.
func shown(words []suggestion, begun string) (texts []string, directive cobra.ShellCompDirective) {
	directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	for _, w := range words {
		if !strings.HasPrefix(w.text, begun) {
			continue
		}
		texts = append(texts, cobra.CompletionWithDesc(w.text, w.doc))
		if w.open {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
	}
	return texts, directive
}

// offered are the transports of the workers found; what is absent is not offered.
func offered(c *cobra.Command) (all []suggestion) {
	ctx, cancel := context.WithTimeout(cmp.Or(c.Context(), context.Background()), tabTimeout)
	defer cancel()
	catalog, err := session.Discover(ctx, nil)
	if err != nil {
		cobra.CompErrorln(err.Error())
		return nil
	}
	for _, o := range catalog.Offers() {
		if !slices.Contains(o.Transport.Roles, contract.Hop) {
			all = append(all, suggestion{text: o.Transport.Name, doc: o.Transport.Doc})
		}
	}
	return all
}

// completeTransport offers the transports of the workers found.
func completeTransport(c *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	return shown(offered(c), begun)
}

// completeStudyName offers the built-in studies.
func completeStudyName(_ *cobra.Command, typed []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(typed) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return shown(studyWords(), begun)
}

// completeRun offers the directories of runs, the newest first: those under
// results/, or under what is typed.
func completeRun(_ *cobra.Command, typed []string, begun string) ([]string, cobra.ShellCompDirective) {
	var runs []string
	for _, d := range session.Runs(begun) {
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
	return func(c *cobra.Command, typed []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(typed) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completeRun(c, typed, begun)
	}
}

// completeRig offers the kinds of rigs.
func completeRig(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	var words []suggestion
	for _, form := range arrange.Forms() {
		kind, needs, open := strings.Cut(form, ":")
		kind, _, optional := strings.Cut(kind, "[")
		if needs != "" && !optional {
			kind += ":"
		}
		if !strings.HasSuffix(form, ".yaml") { // files are offered by the shell
			words = append(words, suggestion{kind, form, open})
		}
	}
	texts, directive := shown(words, begun)
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
