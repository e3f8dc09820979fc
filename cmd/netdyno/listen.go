package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netdyno/internal/input"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// listenFlags are the options of listen that are not part of the trial.
type listenFlags struct {
	bind   string
	length time.Duration
	out    string
}

func listenCommand() *cobra.Command {
	var f listenFlags
	c := &cobra.Command{
		Use:   "listen [STUDY|FILE] KEY=LEVEL… [bind=HOST:PORT]",
		Short: "Stand up one trial's server, metered, for clients elsewhere",
		Long: `Stand up the server of one trial, so that any client can drive it: netdyno run
with --rig at:HOST:PORT on another host, curl, wrk, h2load, grpcurl, your own.
The keys and levels are those of netdyno run. It is metered as in a run and lets
everybody in who reaches the address; Ctrl-C ends it. Its directory holds a
record of every time it was driven; netdyno report RUN --server DIR shows them
with the run that drove it. Nothing is compared here: that takes blocks.`,
		Example: `  netdyno listen transport=go-http1 bind=10.0.0.1:8080
  netdyno listen transport=go-http1 request=0B response=4MiB --bind 127.0.0.1:8080
  netdyno listen server=go-epoll placement=free --for 10s`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			args, err := f.takeBind(args, cmd.Flags().Changed("bind"))
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			if f.length > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, f.length)
				defer cancel()
			}
			return listen(ctx, args, f)
		},
	}
	c.Flags().StringVar(&f.bind, "bind", "127.0.0.1:0", "address to listen on, host:port; port 0 is any free one")
	c.Flags().DurationVar(&f.length, "for", 0, "end after this long, such as 10s (0: at Ctrl-C)")
	c.Flags().StringVar(&f.out, "out", "", "directory of its account (default under results/)")
	return c
}

// takeBind takes bind=HOST:PORT out of the arguments, where users of iperf3 and
// of the publications write it.
func (f *listenFlags) takeBind(args []string, given bool) ([]string, error) {
	var rest []string
	for _, a := range args {
		address, ok := strings.CutPrefix(a, "bind=")
		switch {
		case !ok:
			rest = append(rest, a)
		case given:
			return nil, fmt.Errorf("%s: the address is given twice", a)
		default:
			f.bind, given = address, true
		}
	}
	if err := checkBind(f.bind); err != nil {
		return nil, err
	}
	if len(rest) == 0 {
		return nil, errors.New("listen: no transport is named; expected one, such as transport=go-http1")
	}
	return rest, nil
}

func checkBind(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("bind: %w; expected host:port, such as 127.0.0.1:8080", err)
	}
	return nil
}

// listen is the whole of the command.
func listen(ctx context.Context, args []string, f listenFlags) error {
	chosen, trial, err := onlyTrial(ctx, args)
	if err != nil {
		return err
	}
	structures, err := messages(ctx, []record.Trial{trial})
	if err != nil {
		return err
	}
	catalog, err := discover(ctx, []record.Trial{trial})
	if err != nil {
		return err
	}
	if err := compileFor(ctx, catalog, trial, structures); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	account, err := newAccount(f.out, chosen, trial, catalog)
	if err != nil {
		return err
	}
	shown := &standing{out: stdout, catalog: catalog, arguments: args}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	b := bench.Bench{Rig: rig.Loopback{}, Catalog: catalog, Meter: []string{self, "meter"}, Messages: structures, Keep: account.keep}
	ends.hold()
	worker, err := b.Serve(ctx, trial, bench.Standing{Listen: f.bind, Segment: shown.segment, Observe: func(w record.Worker) {
		if w.Close == nil {
			if err := account.open(w, append([]string{"netdyno", "listen"}, append(args, "bind="+f.bind)...)); err != nil {
				stop(err)
			}
		}
		shown.observe(w)
	}})
	shown.out.clear()
	if err == nil || worker.Close != nil {
		shown.sum(worker)
	}
	if cause := context.Cause(ctx); err == nil && !ended(cause) {
		err = cause // the account could not be opened
	}
	err = cmp.Or(err, account.close())
	if account.file != nil {
		fmt.Fprintf(stdout, "records %s\n", account.dir.records())
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return &status{statusTainted, err}
	}
	return nil
}

// ended tells whether a server was meant to end: by Ctrl-C or its time.
func ended(cause error) bool {
	return cause == nil || errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded)
}

// onlyTrial returns the study and the one trial that the arguments describe. A server named
// alone is enough: its clients are the user's.
func onlyTrial(ctx context.Context, args []string) (*study.Study, record.Trial, error) {
	server, client := "", false
	for _, a := range args {
		if level, ok := strings.CutPrefix(a, "server="); ok {
			server = level
		}
		client = client || strings.HasPrefix(a, "client=") || strings.HasPrefix(a, "transport=") || !strings.Contains(a, "=")
	}
	if server != "" && !client {
		args = append(args[:len(args):len(args)], "client="+server)
	}
	s, err := study.ParseArgs(args, input.Within(ctx, study.MaxFile))
	if err != nil {
		return nil, record.Trial{}, err
	}
	trials, _, err := s.Plan()
	if err != nil {
		return nil, record.Trial{}, err
	}
	for _, t := range trials[1:] {
		if !reflect.DeepEqual(t.Levels, trials[0].Levels) {
			return nil, record.Trial{}, fmt.Errorf("%s varies %s: one server stands at a time, so name one level of each",
				s.Name, strings.Join(varied(trials), ", "))
		}
	}
	return s, trials[0], nil
}

// varied names the factors in which trials differ.
func varied(trials []record.Trial) []string {
	var names []string
	for _, f := range study.Factors() {
		for _, t := range trials {
			if t.Levels[f.Name] != trials[0].Levels[f.Name] {
				names = append(names, f.Name)
				break
			}
		}
	}
	if len(names) == 0 {
		return []string{"options"}
	}
	return names
}
