package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

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

// Cobra escapes what it offers as bash's printf %q does, commas included, and
// compares that with what was typed, where nobody escapes a comma. These are the
// places, each with what follows it in our script.
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
