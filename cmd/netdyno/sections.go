package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// sections head the flags in the help of a command that measures a URL, in this order.
// What stands in none of them comes last.
var sections = []struct {
	title string
	flags []string
}{
	{"Request (of a URL, in curl's words)", slices.Concat(requestFlags, wordFlags, []string{"data"})},
	{"Message of your own, as messages or over gRPC", []string{"proto", "message", "reply", "reply-data"}},
	{"Load (of a URL)", loadFlags},
	{"Where", []string{"rig", pinFlag}},
}

// inSections makes a template of cobra's for usage show flags by sections.
func inSections(template string) string {
	cobra.AddTemplateFunc("flagSections", flagSections)
	return strings.Replace(template, "Flags:\n{{.LocalFlags.FlagUsages |", "{{flagSections .LocalFlags |", 1)
}

func flagSections(flags *pflag.FlagSet) string {
	if flags.Lookup("method") == nil {
		return "Flags:\n" + flags.FlagUsages()
	}
	const rest = "Run and output"
	titles, of := []string{}, map[string]*pflag.FlagSet{}
	for _, s := range sections {
		titles = append(titles, s.title)
	}
	titles = append(titles, rest)
	for _, title := range titles {
		of[title] = pflag.NewFlagSet("", pflag.ContinueOnError)
	}
	flags.VisitAll(func(f *pflag.Flag) {
		title := rest
		for _, s := range sections {
			if slices.Contains(s.flags, f.Name) {
				title = s.title
			}
		}
		of[title].AddFlag(f)
	})
	var b strings.Builder
	for _, title := range titles {
		if of[title].HasAvailableFlags() {
			b.WriteString(title + ":\n" + of[title].FlagUsages() + "\n")
		}
	}
	return b.String()
}
