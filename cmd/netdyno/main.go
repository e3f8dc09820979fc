// Command netdyno is a dynamometer for network transports. This package is
// thin: it reads arguments, calls the rooms, prints and exits.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/meter"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study/source"
)

func main() {
	os.Args = hide(os.Args)
	meter.LeaveNoCore()
	session.RemoveAbandoned()
	c := root()
	c.SetArgs(bareJSON(withRun(os.Args[1:], func(name string) bool { return named(c, name) })))
	code := exitCode(c.ExecuteContext(ends.watch(context.Background())))
	flushScreens()
	os.Exit(code)
}

// root assembles the commands: one file and one line each.
func root() *cobra.Command {
	c := &cobra.Command{
		Use:   "netdyno",
		Short: "A dynamometer for network transports",
		Long: `netdyno runs the same work through every way you might move data and says
which to use, what it costs, what limited it, and how certain that is.

  netdyno http://127.0.0.1:8080/                   a server of yours, by its URL
  netdyno run event-loops                          a built-in study
  netdyno run transport=go-net,go-epoll connections=50,1000 blocks=8
  netdyno run my-study.yaml --dry-run
  netdyno report results/event-loops-20260102-150405`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version(),
	}
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		return unknownCommand(c, args[0])
	}
	c.SetFlagErrorFunc(unknownFlag)
	c.SetVersionTemplate(versions())
	c.SetUsageTemplate(inSections(c.UsageTemplate()))
	c.SetOut(stdout)
	c.SetErr(stderr)
	c.AddCommand(
		runCommand(),
		curlCommand(),
		capacityCommand(),
		costCommand(),
		tuneCommand(),
		tourCommand(),
		listenCommand(),
		recordCommand(),
		reportCommand(),
		exportCommand(),
		serveCommand(),
		compareCommand(),
		studiesCommand(),
		transportsCommand(),
		checkCommand(),
		calibrateCommand(),
		doctorCommand(),
		explainCommand(),
	)
	c.CompletionOptions.HiddenDefaultCmd = true
	c.InitDefaultCompletionCmd()
	withStatuses(c)
	return c
}

// named tells whether a command has a subcommand of that name.
func named(c *cobra.Command, name string) bool {
	return slices.ContainsFunc(c.Commands(), func(sub *cobra.Command) bool { return sub.Name() == name || sub.HasAlias(name) })
}

// unknownCommand says what may have been meant by a first argument.
func unknownCommand(c *cobra.Command, arg string) error {
	names := source.List()
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	return fmt.Errorf("%q is no command, study or URL; %s", quantity.Clip(arg, 80), quantity.Hint(arg, names))
}

// elsewhere says what to write for flags by which others send and expect messages of WebSocket.
var elsewhere = map[string]string{
	"send": "--data TEXT or --data @FILE", "expect-message": "--expect regexp:PATTERN or --expect json:CONDITION",
	"subprotocol": "-H 'Sec-WebSocket-Protocol: NAME'",
}

// unknownFlag adds the nearest name to cobra's error about a mistyped flag.
func unknownFlag(c *cobra.Command, err error) error {
	var refused *notOfferedError
	if errors.As(err, &refused) {
		return refused
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || len(unknown.GetSpecifiedName()) < 2 {
		return err
	}
	if here := elsewhere[unknown.GetSpecifiedName()]; here != "" {
		return fmt.Errorf("%w; write %s", err, here)
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	if near := quantity.Nearest("--"+unknown.GetSpecifiedName(), names); near != "" {
		return fmt.Errorf("%w; did you mean %q?", err, near)
	}
	return fmt.Errorf("%w; %s --help lists those that there are", err, c.CommandPath())
}

// release and releaseCommit are what `make dist` builds and from which commit, set
// by the linker; empty in a build from a checkout. Go itself records no commit in
// a second work tree of a repository.
var release, releaseCommit string

// versions are the release, its commit, and the versions of the contract and of records.
func versions() string {
	info, _ := debug.ReadBuildInfo()
	return fmt.Sprintf("netdyno %s\ncommit    %s\ncontract  %d\nrecords   %d\n", version(), orUnknown(commit(info)), contract.Version, record.Schema)
}

// version is the release, or the module's version as the build recorded it.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := info.Main.Version
	if c := commit(info); c != "" && (version == "" || version == "(devel)") {
		version = "devel+" + c[:min(12, len(c))]
	}
	return version
}

// commit is the revision that the program was built from, with "+changes" where
// the checkout had some; empty if the build recorded none.
func commit(info *debug.BuildInfo) string {
	if releaseCommit != "" || info == nil {
		return releaseCommit
	}
	var revision, changes string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changes = "+changes"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + changes
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
