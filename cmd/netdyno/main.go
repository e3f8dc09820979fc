// Command netdyno is a dynamometer for network transports. This package is
// thin: it reads arguments, calls the rooms, prints and exits.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"netdyno/internal/quantity"
)

// The exit statuses of every command.
const (
	statusOK      = 0
	statusTainted = 1 // some trials failed or are invalid; a check did not pass
	statusRefused = 2 // nothing could be run or read
	statusOpen    = 3 // of a gate and of compare: it cannot be told
)

// status ends a command with an exit status and, unless quiet, its error.
type status struct {
	code int
	err  error
}

func (s *status) Error() string {
	if s.err == nil {
		return ""
	}
	return s.err.Error()
}

func (s *status) Unwrap() error { return s.err }

func main() {
	code := exitCode(root().ExecuteContext(ends.watch(context.Background())))
	flushScreens()
	os.Exit(code)
}

// exitCode prints what is left to say and chooses the exit status.
func exitCode(err error) int {
	if err == nil {
		return statusOK
	}
	if text := strings.TrimSpace(err.Error()); text != "" { // a quiet status joined to another is a bare newline
		fmt.Fprintln(stderr, "netdyno:", text)
	}
	var s *status
	if errors.As(err, &s) {
		return s.code
	}
	return statusRefused
}

// root assembles the commands: one file and one line each.
func root() *cobra.Command {
	c := &cobra.Command{
		Use:   "netdyno",
		Short: "A dynamometer for network transports",
		Long: `netdyno runs the same work through every way you might move data and says
which to use, what it costs, what limited it, and how sure it is.

  netdyno run event-loops                          a built-in study
  netdyno run transport=go-net,go-epoll connections=50,1000 blocks=8
  netdyno run my-study.yaml --dry-run
  netdyno report results/event-loops-20260102-150405`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version(),
	}
	c.SetFlagErrorFunc(unknownFlag)
	c.SetOut(stdout)
	c.SetErr(stderr)
	c.AddCommand(
		runCommand(),
		tourCommand(),
		listenCommand(),
		reportCommand(),
		compareCommand(),
		studiesCommand(),
		transportsCommand(),
		checkCommand(),
		calibrateCommand(),
		factsCommand(),
		doctorCommand(),
		meterCommand(),
	)
	return c
}

// unknownFlag adds the nearest name to cobra's error about a mistyped flag.
func unknownFlag(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || len(unknown.GetSpecifiedName()) < 2 {
		return err
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return fmt.Errorf("%w; %s", err, quantity.Hint("--"+unknown.GetSpecifiedName(), names))
}
