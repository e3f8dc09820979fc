package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netdyno/internal/contract"
	"netdyno/internal/input"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/arrange"
	"netdyno/internal/run/study"
)

// runFlags are the options of run that are not part of the study.
type runFlags struct {
	rig    string
	out    string
	resume bool
	goOn   bool // --continue
	dryRun bool
	gate   bool
	own    ownMessage
	named  string // the study that began the run which goes on
}

func runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run STUDY|FILE [KEY=LEVEL[,LEVEL…]…] | run DIR --continue",
		Short: "Run a study: a built-in one, a file, or one typed as keys and levels",
		Long: `Run a study and report what it found.

The keys are the factors of a study file (netdyno studies factors): several
levels vary a factor, one holds it. Every block runs every arm once in random
order and the baseline twice. Unless it says otherwise a study has stages: it
ends after 6, 10 or 16 blocks, the first at which every primary comparison is
settled, and --continue takes it on to 26, then to 42. blocks=N fixes the
number; fewer than 6 cannot reach p = 0.05.

Exit status: 0 all trials valid, 1 some failed, are invalid
or stood still, 2 the study could not run.

` + gateHelp,
		Example: `  netdyno run event-loops
  netdyno run event-loops connections=50,10000 blocks=10
  netdyno run transport=go-net,go-epoll connections=50 rate=20k
  netdyno run messages --proto order.proto --message shop.Order --data order.json
  netdyno run transport=go-net build=before/bin,after/bin --gate
  netdyno run my-study.yaml --dry-run
  netdyno run results/event-loops-20260102-150405 --continue`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.goOn {
				var err error
				if f, err = f.begun(args); err != nil {
					return err
				}
			}
			return run(cmd.Context(), args, f)
		},
	}
	c.Flags().StringVar(&f.rig, "rig", rig.LoopbackName, "where the workers sit: "+strings.Join(arrange.Forms(), ", "))
	c.Flags().StringVar(&f.out, "out", "", "directory of the run (default under results/)")
	c.Flags().BoolVar(&f.resume, "resume", false, "go on with a run that was stopped, by the command that began it")
	c.Flags().BoolVar(&f.goOn, "continue", false, "go on with the run in a directory: with what it has left, else to its next declared look")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "print the plan, its time and its warnings, and run nothing")
	c.Flags().BoolVar(&f.gate, "gate", false, gateUsage)
	c.Flags().StringVar(&f.own.proto, "proto", "", "your own message: the .proto file that describes it")
	c.Flags().StringVar(&f.own.kind, "message", "", "your own message: its type, as pkg.Type")
	c.Flags().StringVar(&f.own.data, "data", "", "your own message: a file with its values as JSON")
	c.Flags().StringVar(&f.own.replyKind, "reply", "", "the type that comes back, when it is another")
	c.Flags().StringVar(&f.own.replyData, "reply-data", "", "a file with its values as JSON")
	for _, other := range []string{"rig", "out", "resume", "dry-run", "proto", "message", "data", "reply", "reply-data"} {
		c.MarkFlagsMutuallyExclusive("continue", other)
	}
	return c
}

// run is the whole of a run: what it measures and what that means.
func run(ctx context.Context, args []string, f runFlags) error {
	dir, err := carryOut(ctx, args, f)
	if dir == "" {
		return err
	}
	concluded := conclude(dir, f.gate)
	var ended *status
	switch {
	case err == nil:
		return concluded
	case !errors.As(err, &ended): // it broke off: whatever was measured, that could not run
		return errors.Join(&status{statusRefused, err}, concluded)
	case f.gate: // interrupted: the trials that are missing leave the gate in doubt
		return concluded
	}
	return errors.Join(concluded, err)
}

// carryOut measures a study, step by step. It returns the directory of what was
// measured, however little that is; none when nothing could begin.
func carryOut(ctx context.Context, args []string, f runFlags) (dir directory, err error) {
	args, err = f.own.arguments(args)
	if err != nil {
		return "", err
	}
	if !f.resume && !f.dryRun { // told before anything is built
		if err := directory(f.out).vacant(); err != nil {
			return "", err
		}
	}
	p, err := prepare(ctx, args, f)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if f.dryRun {
		return "", p.print()
	}
	dir, file, done, err := p.open(args, f)
	if err != nil {
		return "", err
	}
	left := remaining(p.trials, done)
	fmt.Fprintf(stdout, "%s: %s; %s\n", p.study.Name, p.extent(left), p.placements())
	stopped := p.measure(ctx, dir, file, left)
	if stopped == nil && len(left) > 0 {
		stopped = p.surveyAfter(ctx, file)
	}
	if err := file.Close(); err != nil && stopped == nil {
		stopped = err
	}
	if errors.Is(stopped, context.Canceled) {
		fmt.Fprintln(stderr, "netdyno: stopped; what was measured is kept, and netdyno run", dir, "--continue goes on")
		stopped = &status{statusTainted, nil}
	}
	return dir, stopped
}

// plan is a study made ready: parsed, unfolded and checked against what is
// here.
type plan struct {
	study    *study.Study
	all      []record.Trial // of every look
	trials   []record.Trial // of those that this command goes to
	kinds    []kind
	warnings []record.Warning
	catalog  *bench.Catalog
	messages map[string]contract.Structure // by level
	self     string                        // path of this program
	external bool                          // the servers stand already
	rig      rig.Rig
	hosts    []rig.Host // of the rig, completed by their facts
	facts    record.Facts
}

func prepare(ctx context.Context, args []string, f runFlags) (*plan, error) {
	var p plan
	var err error
	choice, err := arrange.Parse(f.rig, input.Within(ctx, arrange.MaxFile))
	if err != nil {
		return nil, err
	}
	if p.study, err = f.study(ctx, args, choice); err != nil {
		return nil, err
	}
	if p.all, p.warnings, err = p.study.Plan(); err != nil {
		return nil, err
	}
	p.trials = study.Before(p.all, p.study.Blocks)
	if p.kinds, err = kindsOf(p.trials); err != nil {
		return nil, err
	}
	if p.messages, err = messages(ctx, p.trials); err != nil {
		return nil, err
	}
	if err = p.ownLimits(); err != nil {
		return nil, err
	}
	if p.catalog, err = discover(ctx, p.trials); err != nil {
		return nil, err
	}
	if p.external = choice.External(); p.external {
		leaveServerOut(p.study)
	}
	if err := p.checkEnds(cmp.Or(f.named, args[0])); err != nil {
		return nil, err
	}
	if err := p.compile(ctx, f.dryRun); err != nil {
		return nil, err
	}
	if err := p.arrange(ctx, choice); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return &p, nil
}

// compile has workers built for the plan's messages.
func (p *plan) compile(ctx context.Context, dry bool) error {
	works := make([]study.Work, len(p.kinds))
	for i, k := range p.kinds {
		works[i] = k.Work
	}
	warnings, err := compiled(ctx, p.catalog, works, p.messages, dry)
	p.warnings = append(p.warnings, warnings...)
	return err
}

// arrange builds the rig and finds out what its hosts are and whether they
// can run the plan.
func (p *plan) arrange(ctx context.Context, choice arrange.Choice) error {
	ends.hold()
	var err error
	if p.self, err = os.Executable(); err != nil {
		return err
	}
	built, err := choice.Build(ctx)
	if err != nil {
		return err
	}
	p.rig = built
	if carrier, ok := p.rig.(rig.Deployer); ok {
		programs := p.programs()
		if err := carrier.Deploy(ctx, append(programs, p.self)); err != nil {
			return err
		}
		p.tryOut(ctx, programs)
	}
	p.facts = record.Facts{Rig: p.rig.Name(), Tools: p.catalog.Binaries()}
	if p.hosts, p.facts.Seats, err = rig.Survey(ctx, p.rig.Hosts(), p.self); err != nil {
		return err
	}
	if err := errors.Join(p.checkLink(), p.checkTrust()); err != nil {
		return err
	}
	if p.facts.Calibration, err = calibrationOf(p.facts); err != nil { // a run can do without
		p.warnings = append(p.warnings, record.Warning{About: "calibration", Text: err.Error()})
	}
	return p.preflight()
}

// surveyAfter records what the hosts are like now.
func (p *plan) surveyAfter(ctx context.Context, file *record.File) error {
	_, after, err := rig.Survey(ctx, p.hosts, p.self)
	if err != nil {
		return fmt.Errorf("facts after the run: %w", err)
	}
	return file.End(after)
}

// close gives the rig back, if it was built.
func (p *plan) close() error {
	if p.rig == nil {
		return nil
	}
	return p.rig.Close()
}

// measure runs the trials that are left.
func (p *plan) measure(ctx context.Context, dir directory, file *record.File, left []record.Trial) error {
	shown := newProgress(stderr, p.time(left))
	defer shown.finish()
	b := bench.Bench{
		Rig: p.rig, Hosts: p.hosts, Catalog: p.catalog, Meter: []string{p.self, "meter"}, Keep: file.Append, Observe: shown.observe,
		Messages: p.messages, Enough: p.looks(dir, file, shown.line),
	}
	return b.Run(ctx, left)
}

// open makes the run's directory, or finds the one to go on with.
func (p *plan) open(args []string, f runFlags) (directory, *record.File, []record.Record, error) {
	text, err := p.study.YAML()
	if err != nil {
		return "", nil, nil, err
	}
	dir := directory(f.out)
	if f.resume {
		return p.reopen(dir, f)
	}
	if dir == "" {
		if dir, err = freshDirectory(p.study.Name); err != nil {
			return "", nil, nil, err
		}
	}
	summary := study.Summary(p.study)
	summary.Warnings = p.warnings
	command := append([]string{"netdyno", "run"}, args...)
	if f.rig != rig.LoopbackName {
		command = append(command, "--rig", f.rig)
	}
	header := record.Header{
		Netdyno: version(), CreatedAt: time.Now().UTC(), Command: command,
		Study: summary, Facts: p.facts,
	}
	file, err := dir.create(text, header, p.all)
	if err != nil {
		return dir, nil, nil, err
	}
	return dir, file, nil, dir.writeMessages(p.messages)
}
