// Package check holds conversations with a worker executable, bare and without
// the meter, and says section by section where it departs from
// contract/CONTRACT.md. Each case is one small function in a table.
package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/each"
	"netdyno/internal/run/identity"
	"netdyno/internal/run/rig"
)

// Options of a check.
type Options struct {
	Transports []string // only these; empty checks every one that the worker offers
	Env        []string // added to the worker's environment
	Stretch    float64  // stretches the contract's times, for a machine that is busy with other things; 0 means 1
}

// Outcome is what one case found.
type Outcome struct {
	Case      string // "marks are answered"
	Transport string // empty for a case that concerns the worker as a whole
	Pass      bool
	Skipped   bool   // not checked; Text says why
	Text      string // of a failure: what was sent, what came, what the section says, how to fix it
	Section   string // of CONTRACT.md
}

// The contract's own bounds, and times that go beyond the bounds. Options.Stretch
// lengthens each time where it is used.
const (
	helloTakes = 10 * time.Second // as the bench waits: a virtual machine starts slowly on a busy host
	prompt     = 2 * time.Second  // marks, the end after EOF
	setupTakes = 10 * time.Second // four connections; the contract sets no bound
	drain      = time.Second      // given in every load
	drainTakes = drain + prompt
)

// skipError marks a case that could not be carried out, and why.
type skipError struct{ reason string }

func (e skipError) Error() string { return e.reason }

// rule is one case: what the case looks at, what the contract says about it, and what a
// worker's author usually has to do when it fails.
type rule struct {
	name    string
	section string
	says    string
	fix     string
	run     func(*subject) error
}

// subject is the worker under check, and the transport that a case is about.
type subject struct {
	ctx       context.Context
	argv      []string
	env       []string
	stretch   float64
	transport contract.Transport
	tls       *contract.TLS // for a transport that is always encrypted
	open      []*session
}

// Run checks the worker that argv starts. Its error means that nothing could
// be checked: the worker does not start, or the context ended. Every process
// it started has ended when it returns.
func Run(ctx context.Context, argv []string, opt Options) ([]Outcome, error) {
	s := &subject{ctx: ctx, argv: argv, env: opt.Env, stretch: cmp.Or(opt.Stretch, 1)}
	first, err := rig.Start(argv, rig.Options{Env: opt.Env})
	if err != nil {
		return nil, err
	}
	first.Kill()
	first.Wait(prompt)

	var outcomes []Outcome
	if outcomes = append(outcomes, s.judge(workerRules[0])); !outcomes[0].Pass {
		return outcomes, ctx.Err() // a worker that does not say hello cannot be talked to
	}
	for _, r := range workerRules[1:] {
		outcomes = append(outcomes, s.judgeBusy(r))
	}
	hello, err := s.hello()
	if err != nil {
		return outcomes, err
	}
	if err := known(opt.Transports, hello.Transports); err != nil {
		return outcomes, err
	}
	for _, t := range hello.Transports {
		if len(opt.Transports) > 0 && !slices.Contains(opt.Transports, t.Name) {
			continue
		}
		s.transport = t
		s.tls = nil
		if t.Encrypted {
			if s.tls, err = identity.New(loopbackHost); err != nil {
				return outcomes, err
			}
		}
		for _, r := range rules() {
			outcomes = append(outcomes, s.judgeBusy(r))
		}
	}
	return outcomes, ctx.Err()
}

func known(asked []string, offered []contract.Transport) error {
	for _, name := range asked {
		if !slices.ContainsFunc(offered, func(t contract.Transport) bool { return t.Name == name }) {
			names := each.Of(offered, func(t contract.Transport) string { return t.Name })
			return fmt.Errorf("check transport %q: the worker offers %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}

// hello starts the worker once more for what it says of itself.
func (s *subject) hello() (*contract.Hello, error) {
	defer s.close()
	w, err := s.idle()
	if err != nil {
		return nil, err
	}
	return w.hello, nil
}

// judgeBusy judges a case up to twice again that failed while the machine was busy: what
// could run waited for a CPU in a quarter of the time.
func (s *subject) judgeBusy(r rule) Outcome {
	for again := 2; ; again-- {
		began, waited := time.Now(), waitedForCPU()
		o := s.judge(r)
		if o.Pass || o.Skipped || again == 0 || waitedForCPU()-waited < time.Since(began)/4 {
			return o
		}
	}
}

// waitedForCPU is for how long something that could run has waited for a CPU, since boot; 0
// where the kernel keeps no account of it. Source: Documentation/accounting/psi.rst of Linux.
func waitedForCPU() time.Duration {
	text, err := os.ReadFile("/proc/pressure/cpu")
	if err != nil {
		return 0
	}
	some, _, _ := strings.Cut(string(text), "\n")
	_, total, _ := strings.Cut(some, " total=")
	us, err := strconv.ParseInt(total, 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(us) * time.Microsecond
}

// judge runs one case and ends whatever processes it started.
func (s *subject) judge(r rule) Outcome {
	o := Outcome{Case: r.name, Transport: s.transport.Name, Section: r.section}
	err := s.ctx.Err()
	if err == nil {
		err = r.run(s)
	}
	s.close()
	var skip skipError
	switch {
	case err == nil:
		o.Pass = true
	case s.ctx.Err() != nil:
		o.Skipped, o.Text = true, "not checked: "+s.ctx.Err().Error()
	case errors.As(err, &skip):
		o.Skipped, o.Text = true, "not checked: "+skip.reason
	default:
		o.Text = fmt.Sprintf("%v. CONTRACT.md, section %s: %s. %s.", err, r.section, r.says, r.fix)
	}
	return o
}

// close ends the processes of a case.
func (s *subject) close() {
	for _, w := range s.open {
		w.process.Kill()
		w.process.Wait(prompt)
	}
	s.open = nil
}

// patient stretches one of the contract's times.
func (s *subject) patient(d time.Duration) time.Duration {
	return time.Duration(float64(d) * s.stretch)
}

// has reports whether the transport under check plays a role.
func (s *subject) has(role contract.Role) bool { return slices.Contains(s.transport.Roles, role) }
