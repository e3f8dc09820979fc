package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"netdyno"
	"netdyno/internal/each"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/expect"
	"netdyno/internal/read/export"
	"netdyno/internal/read/profile"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
	"netdyno/internal/sizes"
)

// explained is a word of a report or of a command line, explained.
type explained struct {
	group, name string
	lines       [][2]string // of a label and a text, without the empty ones
}

func explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [WORD…]",
		Short: "Say what a word means that netdyno prints: a term, a flag, a warning, a limit, a verdict, a metric, a factor, a format",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return wordsOf(glossary()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			all := glossary()
			if len(args) == 0 {
				printWords(all)
				return nil
			}
			word := strings.ToLower(strings.TrimSpace(strings.Join(args, " ")))
			found := slices.DeleteFunc(slices.Clone(all), func(e explained) bool { return !e.asked(word) })
			if len(found) == 0 {
				near := quantity.Nearests(word, wordsOf(all), 3)
				return fmt.Errorf("no word %q; the nearest are %s (netdyno explain lists all)", quantity.Clip(strings.Join(args, " "), 80), strings.Join(near, ", "))
			}
			for _, e := range found {
				printEntry(e)
			}
			return nil
		},
	}
}

// glossary gathers what the registries know of their own words.
func glossary() []explained {
	var all []explained
	add := func(group, name string, lines ...[2]string) {
		all = append(all, explained{group, name, slices.DeleteFunc(lines, func(l [2]string) bool { return l[1] == "" })})
	}
	const spec = "docs/specification.md, section "
	for _, v := range compare.Verdicts() {
		add("verdict", string(v), [2]string{"means", v.Means()}, [2]string{"source", spec + "6.3"})
	}
	for _, o := range expect.States() {
		add("statement", string(o), [2]string{"means", o.Means()}, [2]string{"source", spec + "6.13"})
	}
	for _, l := range trial.Limits() {
		add("limit", string(l), [2]string{"means", l.Means().Means}, [2]string{"do", l.Means().Cure}, [2]string{"source", spec + "5"})
	}
	for _, f := range trial.Flags() {
		add("flag", f.Name, [2]string{"means", "trials with it " + f.Warning}, [2]string{"so", "in them " + f.Changes}, [2]string{"do", f.Advice}, [2]string{"source", spec + "2.3"})
	}
	for _, w := range record.Words() {
		add("warning", w.Name, [2]string{"means", w.Means}, [2]string{"do", w.Do})
	}
	for _, m := range metric.All() {
		better := ""
		if m.Better != "" {
			better = m.Better + " is better"
		}
		add("metric", m.Name, [2]string{"means", m.Doc}, [2]string{"is", m.Formula}, [2]string{"unit", strings.TrimSpace(m.Unit + m.Suffix)}, [2]string{"", better})
	}
	for _, f := range study.Factors() {
		choices := strings.Join(f.Choices, ", ")
		add("factor", f.Name, [2]string{"means", f.Doc}, [2]string{"is", string(f.Kind)}, [2]string{"levels", choices}, [2]string{"unless given", f.Default})
	}
	for _, s := range sizes.Published() {
		mean := quantity.FormatBytes(s.Mean())
		add("distribution", s.Text, [2]string{"means", s.Words}, [2]string{"mean", mean}, [2]string{"source", s.Source}, [2]string{"write", "request=" + s.Text})
	}
	for _, k := range source.Keys() {
		add("key", cmp.Or(k.Typed, k.Name), [2]string{"means", k.Doc}, [2]string{"is", k.Form})
	}
	for _, f := range export.Formats() {
		add("format", f.Name, [2]string{"means", f.Doc}, [2]string{"write", "netdyno export DIR --format " + f.Name}, [2]string{"source", "docs/export.md"})
	}
	for _, a := range profile.Activities() {
		add("activity", a.Name, [2]string{"means", a.Doc})
	}
	return append(all, terms()...)
}

func wordsOf(all []explained) []string {
	return each.Of(all, func(e explained) string { return e.name })
}

// printWords lists the words by group.
func printWords(all []explained) {
	group := ""
	for _, e := range all {
		if e.group != group {
			group = e.group
			groups := strings.TrimSuffix(group, "y") + map[bool]string{true: "ies", false: "s"}[strings.HasSuffix(group, "y")]
			fmt.Fprintf(stdout, "%s%s:\n", map[bool]string{true: "\n"}[e.name != all[0].name], groups)
		}
		fmt.Fprintf(stdout, "  %s\n", e.name)
	}
	fmt.Fprintln(stdout, "\nnetdyno explain WORD says what one of them means.")
}

func printEntry(e explained) {
	fmt.Fprintf(stdout, "%s (%s)\n", e.name, e.group)
	for _, l := range e.lines {
		fmt.Fprintf(stdout, "  %-13s %s\n", l[0], l[1])
	}
}

// terms are the words of GLOSSARY.md. A line of it may have several, each with its
// meaning after a semicolon, or with one for all of them.
func terms() []explained {
	var all []explained
	for line := range strings.SplitSeq(netdyno.Glossary, "\n") {
		columns := strings.Split(strings.Trim(line, "| "), "|")
		if !strings.HasPrefix(line, "| ") || len(columns) < 2 || strings.HasPrefix(line, "| word ") {
			continue
		}
		for i := range columns {
			columns[i] = strings.TrimSpace(columns[i])
		}
		names, means := strings.Split(columns[0], ", "), strings.Split(columns[1], "; ")
		for i, name := range names {
			meaning := columns[1]
			if len(means) == len(names) {
				meaning = means[i]
			}
			e := explained{group: "term", name: name, lines: [][2]string{{"means", strings.ReplaceAll(meaning, "`", "")}}}
			if len(columns) > 2 && columns[2] != "" {
				e.lines = append(e.lines, [2]string{"others say", columns[2]})
			}
			all = append(all, e)
		}
	}
	return all
}

// asked tells whether a word is the entry's: as it is, in the plural, or as others call
// it.
func (e explained) asked(word string) bool {
	return slices.ContainsFunc(e.names(), func(name string) bool {
		name = strings.ToLower(name)
		return word == name || word == name+"s" || word == name+"es" || word == strings.TrimSuffix(name, "y")+"ies"
	})
}

// names are the entry's own, and those that others use.
func (e explained) names() []string {
	names := []string{e.name}
	for _, l := range e.lines {
		if l[0] == "others say" {
			for other := range strings.SplitSeq(l[1], ", ") {
				if !strings.Contains(other, " ") { // "which is a worker's last message" is no name
					names = append(names, other)
				}
			}
		}
	}
	return names
}
