package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"netdyno/internal/read/expect"
	"netdyno/internal/read/finding"
	"netdyno/internal/run/rig/namespaces"
)

// linkRuns is how many runs each of the two series has; NETDYNO_LINK_RUNS is another
// number.
func linkRuns() int {
	if n, err := strconv.Atoi(os.Getenv("NETDYNO_LINK_RUNS")); err == nil {
		return n
	}
	return 20
}

// filledLink asks whether runs over a link of 1 Gbit/s between two namespaces say that
// TCP fills the link, as it does: on the idle machine, and beside one busy process per
// CPU. No run may say so of a link that is declared to be twice as fast as it is.
func filledLink(ctx context.Context, p *pipeline) ([]answer, error) {
	const quick = "line-rate-quick"
	arms := []string{quick, "arm=go-net,uring,go-net-sendfile", "connections=4", "probes=0", "link.rate=1Gbit"}
	series := []struct {
		what     string
		busy     bool
		declared string
		want     func(said, runs int) bool
		asked    string
	}{
		{"runs over a full link of 1 Gbit/s that say that TCP fills it", false, "", func(said, runs int) bool { return said == runs }, "all"},
		{"  the same beside one busy process per CPU", true, "", func(said, runs int) bool { return said == runs }, "all"},
		{"  of the same link, declared to carry 2 Gbit/s", false, "2Gbit/s", func(said, _ int) bool { return said == 0 }, "0"},
	}
	var answers []answer
	for _, s := range series {
		said, runs := 0, linkRuns()
		for range runs {
			f, err := p.overLink(ctx, s.busy, s.declared, arms...)
			if err != nil {
				return answers, err
			}
			of := slices.IndexFunc(f.Expect, func(r expect.Result) bool { return r.Spec.Title == "Can TCP fill this link?" })
			if of < 0 {
				return answers, fmt.Errorf("study %s does not ask whether TCP fills the link", quick)
			}
			if f.Expect[of].State == expect.Holds {
				said++
			}
			fmt.Fprintln(os.Stderr, " ", f.Expect[of].Ground)
		}
		answers = append(answers, answer{s.what, share(said, runs), s.asked, s.want(said, runs)})
	}
	return answers, nil
}

// overLink runs a study over a link between two namespaces. Declared, where it is not "",
// is the rate that readers are told in place of the link's own.
func (p *pipeline) overLink(ctx context.Context, busy bool, declared string, args ...string) (f finding.Findings, err error) {
	r, err := namespaces.Build(namespaces.Options{Hosts: 2})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if busy {
		defer busyCPUs(ctx)()
	}
	on := p.on(r)
	on.facts.Rig = r.Name()
	header, trials, records, err := on.records(ctx, args...)
	if err != nil {
		return f, err
	}
	for i := range trials {
		if declared != "" {
			trials[i].Levels["link.rate"], records[i].Trial.Levels["link.rate"] = declared, declared
		}
	}
	return finding.Find(header, trials, records)
}
