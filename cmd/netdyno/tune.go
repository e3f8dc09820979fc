package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/namespaces"
	"netdyno/internal/run/session"
	"netdyno/internal/run/tune"
)

// tuneFlags are the options of tune that are not those of run.
type tuneFlags struct {
	best    string
	within  []string
	options []string
	time    string
	most    int
	link    bool
}

// Limits of a tuning.
const (
	tuneConfirm = 10                     // blocks that confirm the winner
	mostRace    = 40                     // blocks of the race
	tuneWindow  = time.Second            // where no window is typed
	tuneWarmup  = 250 * time.Millisecond // likewise
	tuneTrial   = 400 * time.Millisecond // starting, connecting and ending
	tuneConnect = 300 * time.Microsecond // more for each connection
	mostTuned   = 64
	leastLink   = 32 // settings of a link, each by itself and some pairs
	mostTime    = 24 * time.Hour
)

func tuneCommand() *cobra.Command {
	var f runFlags
	var t tuneFlags
	c := &cobra.Command{
		Use:   "tune TRANSPORT --for METRIC [KEY=LEVEL…] | tune --link [TRANSPORT] [--rig RIG]",
		Short: "Find the settings of a transport that are best for your load",
		Long: `Race the settings of a transport under your load: the values of each of its options
by itself, and combinations of two of them. Every block runs each setting that may
still be the best, with the defaults among them; what is worse is left out. The
winner is then compared with the defaults in fresh blocks, whose figures chose
nothing, and recommended only where these show it better.

The options, with the values that are tried, are those of the transport (netdyno
transports TRANSPORT); --options names others, or fewer. A bound of --within is kept
by what is recommended. What was run is a study like any other, with the section
race (docs/studies.md): netdyno run DIR --continue goes on with one that was stopped.

--link tunes a link for a stream, by go-net unless another TRANSPORT is named: how many
connections and threads, the chunk, buffers, sendfile or zero copy, and what the hosts
are set to: congestion control, the bounds of TCP's buffers, busy polling, the MTU. What
a host does not take is named with the reason, and does not race. Settings of hosts are
put back after each trial, also when netdyno is killed.`,
		Example: `  netdyno tune go-grpc request=64KiB response=64KiB connections=50 --for exchanges_per_s
  netdyno tune go-grpc connections=1000 --for exchanges_per_s --within 'server.rss_bytes <= 2GB'
  netdyno tune go-grpc --options opt.server.read_buffer,opt.server.write_buffer --for server.cpu_us_per_exchange --time 2m
  netdyno tune fasthttp rate=20k connections=100 --for response_p99_us --dry-run
  netdyno tune --link --rig netns:1Gbit
  netdyno tune --link uring --rig ssh:node76,node73 --for server.cpu_s_per_gb --within 'goodput_bytes_per_s >= 9GB'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if t.link {
				return nil
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		ValidArgsFunction: completeTransport,
		RunE: func(cmd *cobra.Command, args []string) error {
			if t.link && !cmd.Flags().Changed("for") {
				t.best = metric.Goodput
			}
			return t.run(cmd.Context(), args, f)
		},
	}
	c.Flags().StringVar(&t.best, "for", metric.ExchangesPerS, "the metric that is to be best, in its own direction")
	c.Flags().StringArrayVar(&t.within, "within", nil, "a bound that settings must keep, such as 'server.rss_bytes <= 2GB'; repeatable")
	c.Flags().StringSliceVar(&t.options, "options", nil, "options to vary, such as opt.server.read_buffer (default: all that have a grid)")
	c.Flags().StringVar(&t.time, "time", "4m", "about how long the whole may take")
	c.Flags().IntVar(&t.most, "most", 24, "settings that may take part, combinations included")
	c.Flags().BoolVar(&t.link, "link", false, "tune a link for a stream: also how many connections, the chunk, and settings of the hosts; --for is then goodput_bytes_per_s unless given")
	rigFlag(c, &f.rig, "where the workers run")
	outFlag(c, &f.out, "the run")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "print the plan, its time and its warnings, and measure nothing")
	completeFlags(c, map[string]cobra.CompletionFunc{"for": completeMetric})
	return c
}

// completeMetric offers the metrics that can be best.
func completeMetric(*cobra.Command, []string, string) (words []string, _ cobra.ShellCompDirective) {
	for _, m := range metric.All() {
		if m.Better != "" {
			words = append(words, m.Name)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// linkTransport is the one that tunes a link where none is named: it needs nothing
// installed, and can send from a file.
const linkTransport = "go-net"

// run races the settings of the transport that the first argument names.
func (t tuneFlags) run(ctx context.Context, args []string, f runFlags) error {
	args, err := f.takeRig(args)
	if err != nil {
		return err
	}
	if t.link && (len(args) == 0 || strings.Contains(args[0], "=")) {
		args = append([]string{linkTransport}, args...)
	}
	name, typed := args[0], args[1:]
	if strings.Contains(name, "=") {
		return fmt.Errorf("tune: found %q; expected a transport first, such as netdyno tune go-grpc", quantity.Clip(name, 80))
	}
	catalog, err := session.Discover(ctx, nil)
	if err != nil {
		return err
	}
	offer, err := catalog.Named(name)
	if err != nil {
		return err
	}
	p := looked{typed: typed}
	for _, key := range []string{"transport", "server", "client", "blocks", "race", "compare.baseline"} {
		if p.sets(key) {
			return fmt.Errorf("tune: %s= is chosen by the command; leave it out", key)
		}
	}
	whole, err := quantity.ParseDuration(t.time)
	if err != nil || whole > mostTime {
		return fmt.Errorf("tune: --time %s: expected a duration of at most %s, such as 4m", quantity.Clip(t.time, 40), quantity.DurationText(mostTime))
	}
	trials, err := t.trials(&p, whole)
	if err != nil {
		return err
	}
	if t.most < 2 || t.most > mostTuned {
		return fmt.Errorf("tune: --most %d; expected 2 to %d settings", t.most, mostTuned)
	}
	field, err := t.field(ctx, offer.Transport, f.rig, &p, (trials-2*tuneConfirm)/2)
	if err != nil {
		return err
	}
	if field.LeftOut > 0 {
		remark(fmt.Sprintf("%d combinations of two settings are left out; --most and --time make room for more", field.LeftOut))
	}
	p.lack("transport", name)
	p.lack("compare.baseline", tune.Defaults)
	p.lack("blocks", strconv.Itoa(t.blocks(trials, len(field.Arms))))
	p.lack("compare.primary", t.best)
	f.typed = typedAfter(os.Args, "tune")
	f.command = "tune"
	for _, a := range field.Arms {
		f.arms = append(f.arms, session.Arm{Given: "tune " + name, Name: a.Name, Levels: a.Levels})
	}
	f.race = &session.Race{
		Given: "tune " + name, Within: t.within,
		Race: record.Race{Best: t.best, Confirm: tuneConfirm, Trials: trials, TimeS: whole.Seconds(), As: field.As},
	}
	f.set = p.set
	return run(ctx, p.typed, f)
}

// field chooses what races, at most as many settings as there is time for, and says what
// of a link is left out.
func (t tuneFlags) field(ctx context.Context, of contract.Transport, where string, p *looked, room int) (tune.Field, error) {
	if !t.link {
		p.lack("study", "tune-"+studyName(of.Name))
		p.lack("question", "Which settings of "+of.Name+" are best for "+t.best+"?")
		return tune.Plan(of, t.options, p.sets, min(t.most, room))
	}
	p.lack("study", "tune-link")
	p.lack("question", "With which settings does "+of.Name+" carry a stream over this link best, by "+t.best+"?")
	for _, level := range []struct{ key, level string }{{"stream", "up"}, {"request", "4MiB"}, {"response", "1B"}, {"inflight", "4"}} {
		p.lack(level.key, level.level)
	}
	found, err := session.TrySettings(ctx, where, ends.hold, tune.Read(), func(found session.Settings) []string { return linkOf(found).Try() })
	if err != nil {
		return tune.Field{}, err
	}
	field, left, err := tune.PlanLink(of, linkOf(found), t.options, p.sets, min(max(t.most, leastLink), room))
	for _, words := range left {
		remark("left out: " + words)
	}
	return field, err
}

// linkOf is what was found out of a rig's hosts, as a link.
func linkOf(found session.Settings) tune.Link {
	loopback := found.Rig == rig.LoopbackName
	l := tune.Link{
		Loopback: loopback, Virtual: loopback || strings.HasPrefix(found.Rig, namespaces.Kind.Name),
		Now: found.Now, Refused: found.Refused,
	}
	if l.Virtual { // both ends are on this host, each with a half
		l.CPUs = runtime.NumCPU() / 2
	}
	return l
}

// trials is the number of trials that fit into a time; the run itself measures how long
// they take. It sets the window and the warm-up where these are not typed.
func (t tuneFlags) trials(p *looked, whole time.Duration) (int, error) {
	if !p.sets("amount") {
		p.lack("window", tuneWindow.String())
	}
	p.lack("warmup", tuneWarmup.String())
	each := tuneTrial
	for _, key := range []string{"window", "warmup"} {
		d, err := quantity.ParseDuration(p.level(key))
		if err != nil && p.sets(key) {
			return 0, fmt.Errorf("%s: %w", key, err)
		}
		each += d
	}
	if n, err := quantity.ParseCount(p.level("connections")); err == nil {
		each += time.Duration(n) * tuneConnect
	}
	trials := int(min(whole/each, 1<<20))
	if least := 2*tuneConfirm + 4; trials < least {
		return 0, errors.New("tune: --time " + t.time + fmt.Sprintf(" suffices for %d trials of %s; a race and its %d confirming blocks need at least %d", trials, quantity.DurationText(each), tuneConfirm, least))
	}
	return trials, nil
}

// blocks are the most that such a race may take: as many as its trials allow when two
// arms are left of it.
func (t tuneFlags) blocks(trials, arms int) int {
	return tuneConfirm + max(2, min(mostRace, (trials-2*tuneConfirm-arms)/2+1))
}
