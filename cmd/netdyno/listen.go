package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/cpuset"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

func listenCommand() *cobra.Command {
	var bind string
	var length time.Duration
	c := &cobra.Command{
		Use:   "listen [STUDY|FILE] KEY=LEVEL…",
		Short: "Stand up one trial's server, metered, for clients of yours",
		Long: `Stand up the server of one trial, so that any client can drive it: curl, wrk,
h2load, grpcurl, your own. The keys and levels are those of netdyno run. It is
metered as in a run and lets everybody in who reaches the address; Ctrl-C ends
it, and what it did is summed up. Nothing is compared: that takes blocks.`,
		Example: `  netdyno listen transport=go-http1 request=0B response=4MiB --bind 127.0.0.1:8080
  netdyno listen server=go-epoll placement=free --for 10s`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if length > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, length)
				defer cancel()
			}
			return listen(ctx, args, bind)
		},
	}
	c.Flags().StringVar(&bind, "bind", "127.0.0.1:0", "address to listen on, host:port; port 0 is any free one")
	c.Flags().DurationVar(&length, "for", 0, "end after this long, such as 10s (0: at Ctrl-C)")
	return c
}

// listen is the whole of the command.
func listen(ctx context.Context, args []string, bind string) error {
	if _, _, err := net.SplitHostPort(bind); err != nil {
		return fmt.Errorf("flag --bind: %w; expected host:port, such as 127.0.0.1:8080", err)
	}
	trial, err := onlyTrial(args)
	if err != nil {
		return err
	}
	structures, err := messages([]record.Trial{trial})
	if err != nil {
		return err
	}
	catalog, err := discover(ctx)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	b := bench.Bench{Rig: rig.Loopback{}, Catalog: catalog, Meter: []string{self, "meter"}, Messages: structures}
	shown := &standing{out: os.Stdout, terminal: term.IsTerminal(int(os.Stdout.Fd())), catalog: catalog}
	worker, err := b.Serve(ctx, trial, bench.Standing{Listen: bind, Observe: shown.observe})
	shown.clear()
	if err == nil || worker.Close != nil {
		shown.sum(worker)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return &status{statusTainted, err}
	}
	return nil
}

// onlyTrial returns the one trial that the arguments describe. A server named
// alone is enough: its clients are the user's.
func onlyTrial(args []string) (record.Trial, error) {
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
	s, err := study.ParseArgs(args, os.ReadFile)
	if err != nil {
		return record.Trial{}, err
	}
	trials, _, err := s.Plan()
	if err != nil {
		return record.Trial{}, err
	}
	for _, t := range trials[1:] {
		if !reflect.DeepEqual(t.Levels, trials[0].Levels) {
			return record.Trial{}, fmt.Errorf("%s varies %s: one server stands at a time, so name one level of each",
				s.Name, strings.Join(varied(trials), ", "))
		}
	}
	return trials[0], nil
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

// standing shows a server that stands. One goroutine uses it.
type standing struct {
	out      io.Writer
	terminal bool
	catalog  *bench.Catalog
	last     *record.Edge // of the reading before
}

// observe shows one state: where the server listens, then a line that is
// redrawn with every reading.
func (s *standing) observe(w record.Worker) {
	if w.Close == nil {
		s.introduce(w)
		return
	}
	before := w.Open
	if s.last != nil {
		before = s.last
	}
	s.last = w.Close
	if s.terminal {
		fmt.Fprintf(s.out, "\r\x1b[K%s", rates(w, before))
	}
}

func (s *standing) introduce(w record.Worker) {
	wire := wireSpoken(s.catalog, w)
	where := "wherever the scheduler puts it"
	if len(w.CPUSet) > 0 {
		where = "on CPU " + cpuset.Format(w.CPUSet)
	}
	fmt.Fprintf(s.out, "%s listens on %s, wire %s, %s\n", w.Transport, strings.Join(w.Ready.Addresses, " "), wire, where)
	for _, line := range drive(wire, w) {
		fmt.Fprintf(s.out, "  %s\n", line)
	}
	fmt.Fprintln(s.out, "Ctrl-C ends it")
}

func (s *standing) clear() {
	if s.terminal {
		fmt.Fprint(s.out, "\r\x1b[K")
	}
}

// rates is the status line: what happened since the reading before.
func rates(w record.Worker, before *record.Edge) string {
	since := record.Span{Worker: &w, From: *before, To: *w.Close}
	var parts []string
	if seconds, ok := since.Seconds(); ok && !w.Ready.Foreign {
		from, to := since.From.Reading.Counts, since.To.Reading.Counts
		parts = append(parts,
			quantity.FormatRate(float64(to.Exchanges-from.Exchanges)/seconds),
			"up "+quantity.FormatByteRate(float64(to.ReceivedBytes-from.ReceivedBytes)/seconds),
			"down "+quantity.FormatByteRate(float64(to.SentBytes-from.SentBytes)/seconds),
			quantity.FormatCount(float64(to.Connections))+" connections")
	}
	if cores, ok := since.Cores(); ok && !w.Ready.Elsewhere {
		parts = append(parts, fmt.Sprintf("%.2f cores", cores), quantity.FormatBytes(float64(since.To.Meter.Process.RSSBytes)))
	}
	return strings.Join(parts, "  ")
}

// sum says what the server did from its first reading to its last.
func (s *standing) sum(w record.Worker) {
	span, ok := record.SpanOf(&w)
	seconds, long := span.Seconds()
	if !ok || !long {
		fmt.Fprintln(s.out, "it was not metered: it ended before its first second was over")
		return
	}
	from, to := span.From.Reading.Counts, span.To.Reading.Counts
	exchanges, down := float64(to.Exchanges-from.Exchanges), float64(to.SentBytes-from.SentBytes)
	fmt.Fprintf(s.out, "\nin %s", quantity.FormatDuration(time.Duration(seconds*float64(time.Second))))
	if w.Ready.Foreign {
		fmt.Fprintln(s.out, ": a foreign program, whose exchanges are not seen")
	} else {
		fmt.Fprintf(s.out, ": %s exchanges, %s up, %s down\n", quantity.FormatCount(exchanges),
			quantity.FormatBytes(float64(to.ReceivedBytes-from.ReceivedBytes)), quantity.FormatBytes(down))
		for _, kind := range sortedKinds(to.Errors) {
			fmt.Fprintf(s.out, "  %d errors of kind %s\n", to.Errors[kind]-from.Errors[kind], kind)
		}
	}
	cores, ok := span.Cores()
	if !ok || w.Ready.Elsewhere {
		return
	}
	fmt.Fprintf(s.out, "CPU %s, %.2f cores", quantity.FormatDuration(time.Duration(cores*seconds*float64(time.Second))), cores)
	if exchanges > 0 {
		fmt.Fprintf(s.out, ", %s per exchange", quantity.FormatDuration(time.Duration(cores*seconds/exchanges*float64(time.Second))))
	}
	if exchanges > 0 && down > 0 {
		fmt.Fprintf(s.out, ", %s s per GB sent", quantity.FormatCount(cores*seconds/down*1e9))
	}
	process := span.To.Meter.Process
	fmt.Fprintf(s.out, "; memory %s, at most %s\n", quantity.FormatBytes(float64(process.RSSBytes)), quantity.FormatBytes(float64(process.PeakRSSBytes)))
}
