package session

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/doctor"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// preflight asks the doctor whether every host can run every kind of trial, and
// adds the doctor's warnings to the plan's.
func (p *Plan) preflight(s *site, c *record.Calibration) error {
	needs := map[string][]doctor.Needs{}
	for _, d := range p.demands(s) {
		needs[d.host] = append(needs[d.host], d.Needs)
	}
	said := map[string]bool{}
	var refusals []error
	for _, h := range s.hosts {
		if needs[h.Name] == nil {
			continue
		}
		host := s.facts[h.Name]
		now := doctor.SampleOf(host)
		if !s.speaksForItsHost(h.Name) {
			now = doctor.Sample{}
		}
		warnings, err := doctor.Preflight(needs[h.Name], host, now)
		if err != nil {
			refusals = append(refusals, fmt.Errorf("preflight of %s: %w", h.Name, err))
		}
		for _, w := range warnings {
			if len(s.hosts) > 1 {
				w.Text = h.Name + ": " + w.Text
			}
			if !said[w.About+w.Text] {
				said[w.About+w.Text] = true
				p.Warnings = append(p.Warnings, w)
			}
		}
	}
	if len(refusals) > 0 {
		return errors.Join(refusals...)
	}
	if len(p.Kinds) > 0 {
		p.Warnings = append(p.Warnings, doctor.Undetectable(c, p.Study.Compare.Primary, p.Study.Blocks, p.Kinds[0].Window)...)
	}
	return nil
}

// demand is what one kind of trial needs of one host.
type demand struct {
	host string
	doctor.Needs
}

// demands are the plan's distinct demands on its hosts.
func (p *Plan) demands(s *site) []demand {
	var all []demand
	seen := map[string]bool{}
	for _, k := range p.Kinds {
		work := k.Work
		kind := fmt.Sprint(work.Load.Connections, work.Clients, work.Servers, work.Placement, work.Load.Fresh, work.Hosts)
		if !seen[kind] {
			seen[kind] = true
			all = append(all, demandsOf(s, work)...)
		}
	}
	return all
}

func demandsOf(s *site, work study.Work) []demand {
	server, clients, err := s.seat(work)
	if err != nil {
		return nil // the trial's record will say so
	}
	var all []demand
	for _, host := range s.hosts {
		d := demand{host.Name, doctor.Needs{
			Connections: work.Load.Connections, Placement: work.Placement, Fresh: work.Load.Fresh, CPUSets: map[string][]int{},
		}}
		if host.Name == server.Name && work.ServerOptions["address"] == "" { // what runs already has limits of its own
			d.Servers, d.CPUSets["server"] = work.Servers, server.CPUs
		}
		there := 0
		for i, c := range clients {
			if c.Name == host.Name {
				d.Clients++
				d.CPUSets["client"] = c.CPUs
				there += work.ClientLoad(i).Connections
			}
		}
		if d.Clients > 0 {
			d.Connections, d.SourceAddresses = (work.Load.Connections+work.Clients-1)/work.Clients, bench.SourcesFor(there)
		}
		if d.Servers+d.Clients > 0 {
			all = append(all, d)
		}
	}
	return all
}

// leaveProbesOut takes the probes out of a built-in study that were not asked for, where
// perf does not see into the kernel, and says so: what they would show is less than half
// of what an exchange costs. A run that goes on keeps its plan.
func (s *Session) leaveProbesOut() {
	if s.Study.Probes == 0 || s.request.Continue || !s.request.builtIn() || s.request.sets("probes") {
		return
	}
	for _, h := range s.site.hosts {
		sees := s.site.facts[h.Name].Values["perf.sees"]
		if sees == "" || sees == "programs and kernel" && s.site.facts[h.Name].Values["perf.path"] != "none" {
			continue
		}
		why := "perf may not see into the kernel (sudo sysctl kernel.perf_event_paranoid=1 lets it)"
		if s.site.facts[h.Name].Values["perf.path"] == "none" {
			why = "perf is not installed (Debian: linux-perf)"
		}
		isProbe := func(t record.Trial) bool { return t.Probe }
		s.Study.Probes = 0
		s.All, s.Trials = slices.DeleteFunc(slices.Clone(s.All), isProbe), slices.DeleteFunc(slices.Clone(s.Trials), isProbe)
		s.Warnings = append(s.Warnings, record.Warning{
			About: "profile", Text: "no profiles on " + h.Name + ": " + why,
			Advice: fmt.Sprintf("probes=%d profiles all the same, as far as the programs see themselves", studiedProbes),
		})
		return
	}
}

// studiedProbes are as many as tell in what two arms differ.
const studiedProbes = 3

// lookTimeout bounds how long a host may take to look for a program.
const lookTimeout = 10 * time.Second

// checkCommands refuses programs of the user's (transport exec) without a command line,
// and servers among them whose program is not at the host that shall start it: a load
// generator that is missing is an empty cell. A host that cannot be asked refuses
// nothing: the trial's record will say why.
func (s *site) checkCommands(ctx context.Context, kinds []Kind) error {
	var asked []string
	var missing []error
	for _, k := range kinds {
		if err := emptyCommand(k.Work); err != nil {
			return err
		}
		program := firstWord(k.ServerOptions["command"])
		server, _, err := s.seat(k.Work)
		if k.Server != "exec" || program == "" || err != nil || s.external() || slices.Contains(asked, server.Host.Name+" "+program) {
			continue
		}
		asked = append(asked, server.Host.Name+" "+program)
		if !hasProgram(ctx, server.Host, program) {
			where := ""
			if len(s.hosts) > 1 {
				where = " at " + server.Host.Name
			}
			missing = append(missing, fmt.Errorf("opt.server.command: there is no program %q%s; install it, or give its path", program, where))
		}
	}
	return errors.Join(missing...)
}

// emptyCommand refuses an end by a command line that has none.
func emptyCommand(w study.Work) error {
	for _, end := range []struct {
		role, transport, command, example string
	}{
		{"server", w.Server, w.ServerOptions["command"], "./server --port {port}"},
		{"client", w.Client, w.ClientOptions["command"], "wrk -c {connections} -d {seconds}s http://{server}/"},
	} {
		if end.transport == "exec" && end.command == "" && w.BothOptions["command"] == "" {
			return fmt.Errorf("%s=exec starts a program of yours: opt.%s.command is empty, expected its command line, such as %q", end.role, end.role, end.example)
		}
	}
	return nil
}

// hasProgram tells whether a shell of a host finds a program, in PATH or by its path.
func hasProgram(ctx context.Context, host rig.Host, program string) bool {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	argv := host.Command("sh", "-c", `command -v -- "$0" >/dev/null || exit 127`, program)
	err := exec.CommandContext(ctx, argv[0], argv[1:]...).Run()
	const notFound = 127
	ended := (*exec.ExitError)(nil)
	return !errors.As(err, &ended) || ended.ExitCode() != notFound
}

// firstWord is the program of a command line, as the worker of transport exec reads
// it; "" where the first word has quotes within, or a placeholder.
func firstWord(command string) string {
	command = strings.TrimLeft(command, " \t\n")
	for _, quote := range []string{`"`, `'`} {
		if quoted, ok := strings.CutPrefix(command, quote); ok {
			word, rest, closed := strings.Cut(quoted, quote)
			if !closed || rest != "" && !strings.ContainsAny(rest[:1], " \t\n") {
				return ""
			}
			command = strings.ReplaceAll(word, " ", "\x00")
		}
	}
	words := strings.Fields(command)
	if len(words) == 0 || strings.ContainsAny(words[0], "\"'{}") {
		return ""
	}
	return strings.ReplaceAll(words[0], "\x00", " ")
}
