package tool

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/child"
	"netdyno/internal/work/load"
)

// Program is a client that is a load generator of the user's: a program that is started
// by its command line, measures itself, and prints at the end what it did. One process
// drives each server.
type Program struct{}

// command is such a program for one trial.
type command struct {
	argv    []string // with places to be filled in
	timed   bool     // it is told for how long to run
	runs    time.Duration
	reading reading
}

// CommandDoc ends the text on option command, which belongs to exec's server too.
const CommandDoc = "in that of a load generator {server} {host} {port} {connections} {inflight} {slots} {threads} {seconds} {rate} {rate_per_connection} {request} {response}"

// Options are those of the role besides command, for Describe.
func (Program) Options() []contract.Option { return readingOptions() }

// Client implements load.Transport.
func (Program) Client(setup contract.Setup) (load.Client, error) {
	c, err := newCommand(setup)
	if err != nil {
		return nil, load.Failure(contract.SetupFailed, err)
	}
	name := filepath.Base(c.argv[0])
	t := tool{
		name: name, program: c.argv[0], user: c,
		refuse:  c.refuse,
		threads: func(setup contract.Setup, _ int) int { return setup.Threads },
		drive: func(setup contract.Setup, f flow) []string {
			return fill(c.argv[1:], placesOf(setup, f, int64(c.runs/time.Second)))
		},
		silent: true, // checkTotals compares
	}
	if c.timed {
		t.runs = runTime
	}
	return Transport{t}.Client(setup)
}

// newCommand reads the options.
func newCommand(setup contract.Setup) (*command, error) {
	o := load.Options(setup.Options)
	argv, err := child.Split("command", o.Text("command"), "{host}", "{port}")
	if err == nil && len(argv) == 0 {
		err = errors.New(`option command is empty, expected the command line of a load generator, such as "wrk -t 1 -c {connections} -d {seconds}s http://{server}/"`)
	}
	if err == nil {
		err = checkPlaces(argv)
	}
	if err != nil {
		return nil, err
	}
	c := &command{argv: argv, timed: names(argv, "{seconds}"), runs: runTime(setup)}
	c.reading, err = newReading(filepath.Base(argv[0]), o)
	return c, err
}

// runTime is for how long a program has to run, in whole seconds: through warm-up and
// window, and what marks take on a busy machine.
func runTime(setup contract.Setup) time.Duration {
	const spare = 300 * time.Millisecond
	planned := time.Duration(setup.WarmupNs + setup.WindowNs)
	return (planned + spare + time.Second - 1).Truncate(time.Second)
}

// refuse says what a command line cannot carry out, because it does not name it.
func (c *command) refuse(setup contract.Setup) error {
	l := setup.Load
	missing := func(what, places string) error {
		return fmt.Errorf("%s is not told to %s: its command line lacks %s", what, c.argv[0], places)
	}
	switch {
	case setup.Exchange.Stream != "":
		return fmt.Errorf("%s exchanges requests and replies (stream is %s)", c.argv[0], setup.Exchange.Stream)
	case l.Fresh:
		return fmt.Errorf("%s keeps its connections or does not, by its own arguments (fresh is asked)", c.argv[0])
	case !names(c.argv, "{server}", "{port}"):
		return missing("which server to drive", "{server}, or {host} and {port}")
	case l.Connections > 1 && !names(c.argv, "{connections}", "{slots}"):
		return missing(fmt.Sprintf("connections=%d", l.Connections), "{connections}")
	case l.InFlight > 1 && !names(c.argv, "{inflight}", "{slots}"):
		return missing(fmt.Sprintf("inflight=%d", l.InFlight), "{inflight}")
	case setup.Threads > 0 && !names(c.argv, "{threads}"):
		return missing(fmt.Sprintf("threads=%d", setup.Threads), "{threads}")
	case l.Rate > 0 && !names(c.argv, "{rate}", "{rate_per_connection}"):
		return missing(fmt.Sprintf("rate=%g", l.Rate), "{rate} or {rate_per_connection}, of a program that keeps one")
	}
	return nil
}
