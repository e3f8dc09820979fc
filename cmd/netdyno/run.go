package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"netdyno/internal/read/trial"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/doctor"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/arrange"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
	"netdyno/internal/run/target"
)

// runFlags are the options of run that are not part of the study.
type runFlags struct {
	rig     string
	out     string
	resume  bool
	goOn    bool // --continue
	dryRun  bool
	probes  string // --profile, as it was typed
	gate    bool
	tell    string // a difference, as it was typed
	pin     bool   // --pin-server
	own     ownMessage
	url     urlFlags
	result  resultFlags
	set     []session.Set // that the command says by itself
	arms    []session.Arm // that it made
	costs   bool          // of netdyno cost: without its models there is no point in a run
	command string        // that was typed; "" for run
	typed   []string      // as the command line has it, flags included
}

func runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run STUDY|FILE|TRANSPORT|URL… [KEY=LEVEL[,LEVEL…]…] | run DIR --continue",
		Short: "Run a study: a built-in one, a file, or one typed as keys and levels",
		Long: `Run a study and report what it found.

The keys are the factors of a study file (netdyno studies factors lists them).
Several levels vary a factor, one holds it. Every block runs every arm once, in
random order, and the baseline twice. A study is judged after 8, 16 and 32 blocks
and ends as soon as every primary comparison is settled. blocks=N gives the number;
--continue goes on to four times as many. With fewer than 6, no difference can reach p = 0.05.

The command run itself may be left out before a URL or where a KEY=LEVEL is typed;
rig=RIG is the same as --rig RIG.

A URL (http://, https://, grpc://, tcp://; localhost:8080/x is HTTP) names a server
of yours, and curl's flags say what is requested. Several URLs are compared.
Figures are on the screen within seconds and become more precise until every
rate is known within 5 % or you press Ctrl-C.`,
		Example: `  netdyno run http://127.0.0.1:8080/ -c 1,50 -H "Accept: text/html"
  netdyno run localhost:8080/orders --json @order.json -n 10000
  netdyno run event-loops
  netdyno run event-loops connections=50,10000 blocks=10
  netdyno run transport=go-net,go-epoll connections=50 rate=20k
  netdyno run messages --proto order.proto --message shop.Order --data order.json
  netdyno run transport=go-net build=before/bin,after/bin --gate
  netdyno go-net build=before/bin,after/bin
  netdyno calibrate-link rig=netns:1Gbit
  netdyno run my-study.yaml --dry-run
  netdyno run results/event-loops-20260102-150405 --continue`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeStudy,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return printChoices()
			}
			if urls, _ := splitURLs(args); len(urls) == 0 {
				if err := needURL(cmd.Flags(), args); err != nil {
					return err
				}
			}
			f.typed = typedAfter(os.Args, "run")
			return run(cmd.Context(), args, f)
		},
	}
	f.declare(c)
	c.Flags().BoolVar(&f.goOn, "continue", false, "go on with the run in a directory: first with its missing trials, then to its next look")
	c.Flags().StringVar(&f.probes, "profile", "", "profile every arm in `N` more rounds after the blocks; the same as probes=N, and 3 where no number is given")
	c.Flags().Lookup("profile").NoOptDefVal = "3"
	c.Flags().BoolVar(&f.gate, "gate", false, gateUsage)
	c.Flags().StringVar(&f.tell, "tell", "", tellUsage)
	f.addRequest(c)
	f.result.declare(c.Flags())
	for _, other := range []string{"rig", "out", "resume", "dry-run", "profile", "proto", "message", "data", "reply", "reply-data"} {
		c.MarkFlagsMutuallyExclusive("continue", other)
	}
	return c
}

// rigFlag declares where a command measures: what says what is there.
func rigFlag(c *cobra.Command, into *string, what string) {
	c.Flags().StringVar(into, "rig", rig.LoopbackName, what+": "+strings.Join(arrange.Forms(), ", "))
	completeFlags(c, map[string]cobra.CompletionFunc{"rig": completeRig})
}

// outFlag declares the directory of what a command keeps.
func outFlag(c *cobra.Command, into *string, what string) {
	c.Flags().StringVar(into, "out", "", "directory of "+what+" (default under results/)")
	completeFlags(c, map[string]cobra.CompletionFunc{"out": completeDirectories})
}

// declare declares what every command has that runs a study.
func (f *runFlags) declare(c *cobra.Command) {
	rigFlag(c, &f.rig, "where the workers run")
	outFlag(c, &f.out, "the run")
	c.Flags().BoolVar(&f.resume, "resume", false, "go on with a run that was stopped, by the command that began it")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "print the plan, its time and its warnings, and measure nothing")
}

// addRequest declares what is requested: a message of one's own, or of a URL.
func (f *runFlags) addRequest(c *cobra.Command) {
	f.own.declare(c.Flags())
	f.url.declare(c.Flags())
	c.Flags().BoolVar(&f.pin, pinFlag, false, pinUsage)
	c.MarkFlagsMutuallyExclusive(pinFlag, "proxy")
	pem := completeFiles("pem", "crt", "key")
	completeFlags(c, map[string]cobra.CompletionFunc{
		"proto": completeFiles("proto"), "data": completeFiles("json"), "reply-data": completeFiles("json"),
		"ca": pem, "cacert": pem, "cert": pem, "key": pem,
	})
}

// run is the whole of a run: what it measures and what that means.
func run(ctx context.Context, args []string, f runFlags) error {
	if err := f.result.divert(f.dryRun); err != nil {
		return err
	}
	f.url.said = new(said)
	f.result.said = f.url.said
	dir, err := carryOut(ctx, args, f)
	if dir == "" {
		return err
	}
	if err = errors.Join(err, conclude(dir, showing{gate: f.gate, result: f.result})); err != nil {
		return &status{statusUnmet, err} // something ran
	}
	return nil
}

// carryOut measures a study, step by step. It returns the directory of what was
// measured, however little that is; none when nothing could begin.
func carryOut(ctx context.Context, args []string, f runFlags) (dir session.Directory, err error) {
	if err := session.RoomForTasks(1); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, session.RemoveRows()) }()
	request, err := f.request(ctx, args)
	defer func() { err = errors.Join(err, request.Recordings.Remove()) }()
	if err != nil {
		return "", err
	}
	s, err := session.Prepare(ctx, request)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := f.readyForCosts(s); err != nil {
		return "", err
	}
	if err := f.readyForGate(s); err != nil {
		return "", err
	}
	if f.dryRun {
		return "", printPlan(s)
	}
	r, err := s.Open()
	if err != nil {
		return "", err
	}
	printProblems(r.Dir, r.Problems)
	printBeginning(s, r, f.url.said)
	so := newSoFar(r.Dir, r.Left)
	shown := newProgress(told, s.Clock(r.Left), so.blocks.last())
	shown.bound = boundOf(s, r.Left)
	o := session.Observer{Trial: shown.finding(so), Look: shown.line}
	if refines(s, request) {
		o = refining(shown, so)
	}
	var failed atomic.Bool
	observe := o.Trial
	o.Trial = func(e bench.Event) {
		if e.Record != nil && e.Record.Failure != nil {
			failed.Store(true)
		}
		observe(e)
	}
	o.Left = shown.remaining
	stopped := r.Measure(ctx, o)
	shown.finish()
	if failed.Load() {
		f.url.said.ended(request.Arms)
	}
	switch {
	case errors.Is(stopped, context.Canceled): // the trials that are missing tell
		stderr.say("netdyno: stopped; what was measured is kept, and netdyno run %s --continue goes on", r.Dir)
		stopped = nil
	case stopped != nil:
		stopped = &status{statusUnmet, stopped} // something ran
	}
	return r.Dir, stopped
}

// readyForGate refuses a gate on a run that compares nothing.
func (f runFlags) readyForGate(s *session.Session) error {
	if compared := study.FindVaried(s.Study.Vary, s.Study.Compare.Factor); f.gate && (compared == nil || len(compared.Levels) < 2) {
		return errors.New("--gate judges arms against the first of them, and there is one; name a second, as build=before/bin,after/bin")
	}
	return nil
}

// request is what the flags ask of a session.
func (f runFlags) request(ctx context.Context, args []string) (session.Request, error) {
	args, err := f.takeRig(args)
	if err != nil {
		return session.Request{}, err
	}
	watch, err := doctor.Watch()
	if err != nil {
		return session.Request{}, err
	}
	r := session.Request{Watch: &watch, Rig: f.rig, Out: session.Directory(f.out), Resume: f.resume, DryRun: f.dryRun, Workers: new(session.Workers)}
	if r.Set, err = f.probing(); err != nil {
		return r, err
	}
	r.Set = append(r.Set, f.set...)
	var own []session.Set
	urls, others := splitURLs(args)
	for _, arg := range others {
		if err := noURL(arg); err != nil {
			return r, err
		}
	}
	switch {
	case len(urls) > 0 && f.goOn:
		return r, fmt.Errorf("continue: found the URL %s; name the directory of the run that measured it", urls[0])
	case f.pin && f.rig != rig.LoopbackName:
		return r, fmt.Errorf("--pin-server goes with servers of this host and rig %s; found --rig %s", rig.LoopbackName, f.rig)
	case len(urls) == 1 && f.url.compared() == nil && f.tell != "":
		return r, errors.New("--tell says how long it takes to tell several URLs apart; found one")
	case len(urls) > 0:
		r.Typed, r.PinServer = f.url.hide(f.typed), f.pin
		f.url.fill = target.Fill{}
		r.Hide, r.Recordings = f.url.fill.Hide, new(session.Recordings)
		f.url.loopback, f.url.workers, f.url.recordings = f.rig == rig.LoopbackName, r.Workers, r.Recordings
		r.Args = others
		own, r.Arms, err = f.url.request(ctx, urls, others, f.own)
	case f.goOn:
		if len(args) > 1 {
			return r, fmt.Errorf("continue: found %q after the directory; a run's study was declared before its first trial, so name the directory alone", args[1])
		}
		r, err = session.Begun(session.Directory(args[0]))
	default:
		if r.Args, err = asTransport(ctx, r.Workers, args); err == nil {
			f.own.data = f.url.last(f.own.data)
			own, err = f.own.level()
			r.Arms = f.arms
		}
	}
	r.Set = append(r.Set, own...)
	if f.command != "" {
		r.Typed, r.Command = f.typed, f.command
	}
	r.Version, r.Say, r.Hold = version(), remark, ends.hold
	judge, bad := f.judgeOf()
	if err == nil {
		err = bad
	}
	r.Judge = session.Judge{Look: judge, Allocate: allocate, Disturbed: trial.Disturbed, Calibration: calibrationOf}
	return r, err
}

// probing is the key that --profile is short for.
func (f runFlags) probing() ([]session.Set, error) {
	if f.probes == "" {
		return nil, nil
	}
	if n, err := strconv.Atoi(f.probes); err != nil || n < 1 {
		return nil, fmt.Errorf("--profile=%s: expected a number of rounds, 1 or more", f.probes)
	}
	return []session.Set{{By: "--profile, which is short for probes=N", Key: "probes", Value: f.probes}}, nil
}

// remark prints what a session says of itself.
func remark(text string) { told.say("netdyno: %s", text) }

// needURL refuses flags that say how a URL is asked where there is none among the arguments.
func needURL(flags *pflag.FlagSet, args []string) (err error) {
	for _, arg := range args {
		if err := noURL(arg); err != nil {
			return err
		}
	}
	flags.Visit(func(f *pflag.Flag) {
		if _, is := f.Value.(*ofCurl); is && err == nil {
			err = fmt.Errorf("--%s is curl's and goes with a URL, such as netdyno run http://127.0.0.1:8080/", f.Name)
		}
	})
	if err != nil {
		return err
	}
	for _, name := range targetFlags {
		if !flags.Changed(name) {
			continue
		}
		switch name {
		case jsonFlag:
			return errors.New("--json goes with a URL, such as netdyno run http://127.0.0.1:8080/; netdyno export DIR prints any run's findings.json")
		case "connections", "rate":
			return fmt.Errorf("--%s goes with a URL; here write %s=%s", name, name, flags.Lookup(name).Value)
		}
		return fmt.Errorf("--%s goes with a URL, such as netdyno run http://127.0.0.1:8080/", name)
	}
	return nil
}

// typedAfter returns what follows a command's name, or all that the program was
// given where the name is implied.
func typedAfter(argv []string, command string) []string {
	if len(argv) > 1 && argv[1] == command {
		return slices.Clone(argv[2:])
	}
	return slices.Clone(argv[1:])
}

// ownMessage is the user's message as flags, a longer way to type a level of
// factor message.
type ownMessage struct {
	proto, kind, data    string
	replyKind, replyData string
}

func (o *ownMessage) declare(flags *pflag.FlagSet) {
	flags.StringVar(&o.proto, "proto", "", "the .proto file that describes it; of a grpc:// URL its service")
	flags.StringVar(&o.kind, "message", "", "its type, as pkg.Type")
	flags.StringVar(&o.replyKind, "reply", "", "the type that comes back, when it is another")
	flags.StringVar(&o.replyData, "reply-data", "", "a file with its values as JSON")
}

// level is the level that the flags spell out; nothing without them.
func (o ownMessage) level() ([]session.Set, error) {
	if o == (ownMessage{}) {
		return nil, nil
	}
	for _, f := range []struct{ name, value string }{{"--proto", o.proto}, {"--message", o.kind}, {"--data", o.data}} {
		if f.value == "" {
			return nil, fmt.Errorf("%s is missing: a message of your own needs --proto FILE, --message pkg.Type and --data FILE", f.name)
		}
	}
	if (o.replyKind == "") != (o.replyData == "") {
		return nil, errors.New("--reply and --reply-data belong together: the type that comes back, and its values")
	}
	level := strings.Join([]string{o.proto, o.kind, o.data}, ":")
	if o.replyKind != "" {
		level += ":" + o.replyKind + ":" + o.replyData
	}
	return []session.Set{{By: "--message", Key: "message", Value: level}}, nil
}
