// Command truth holds netdyno to what is known beforehand, on the machine that
// it runs on: how often two arms that are the same are called different, how
// often a planted difference is found, how far measured times are from
// injected ones, whether a planted limit is named, and which builds a gate
// lets through. Each figure is printed beside the one that is asked, each
// share with its interval.
//
//	make truth                     # everything but power-peers, about three hours
//	go run ./truth -only aa,gate
//	go run ./truth -only limits -record test/limits/testdata   # renews what its test reads
//	go run ./truth -only grid -record truth/testdata           # renews the grid that is raced
//	go run ./truth -only power-peers -runs 10                  # renews the table of docs/benchmarks.md
//
// Exit status: 0 when everything asked is met, 1 when something is not.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"netdyno/internal/each"
)

// answer is one figure beside what is asked of it.
type answer struct {
	what, measured, asked string
	met                   bool
}

// question is asked of a pipeline and has some answers.
type question struct {
	name string
	ask  func(context.Context, *pipeline) ([]answer, error)
}

var questions = []question{
	{"aa", alike},
	{"looks", alikeAtLooks},
	{"planted", planted},
	{"times", times},
	{"rates", rates},
	{"limits", limited},
	{"gate", gated},
	{"apart", madeApart},
	{"mesh", meshed},
	{"tune", tuned},
	{"grid", tunedOnRecords},
	{"capacity", carried},
	{"cost", modelled},
	{"power", powered},
	{"stood", stoodStill},
	{"small", smallTimes},
	{"streams", streamed},
	{"beside", besideLoad},
	{"link", filledLink},
	{"mix", mixed},
	{"tails", tailed},
	{"hops", relayed},
	{"running", running},
	{"pairs", paired},
	{"settled", settling},
	{"offered", offered},
	{"power-pairs", powerPairs},
}

// unasked are questions that are asked by name alone.
var unasked = []question{{"power-peers", powerPeers}}

func main() {
	if isRelay(os.Args) {
		if err := relay(os.Args[2], os.Args[3], os.Args[4]); err != nil {
			fmt.Fprintln(os.Stderr, "relay:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 3 && os.Args[1] == unequalServer {
		if err := serveUnequal(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, unequalServer+":", err)
			os.Exit(1)
		}
		return
	}
	only := flag.String("only", "", "comma-separated names of the questions to ask; empty for all but power-peers")
	bin := flag.String("bin", "bin", "directory of netdyno and its workers, as make build fills it")
	record := flag.String("record", "", "directory in which to keep the trials of the questions limits, mesh and grid")
	server := flag.String("server", "", "part of the names of the servers that are asked by URL; empty for all")
	runs := flag.Int("runs", 30, "runs of each kind that the questions power-pairs and power-peers make")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	met, err := run(ctx, *bin, *only, pipeline{record: *record, server: *server, runs: *runs})
	if err != nil {
		fmt.Fprintln(os.Stderr, "truth:", err)
	}
	if err != nil || !met {
		os.Exit(1)
	}
}

// run asks the chosen questions, one load at a time.
func run(ctx context.Context, bin, only string, with pipeline) (met bool, err error) {
	chosen, err := choose(only)
	if err != nil {
		return false, err
	}
	p, err := open(ctx, bin)
	if err != nil {
		return false, err
	}
	p.record, p.server, p.runs = with.record, with.server, with.runs
	met = true
	for _, q := range chosen {
		began := time.Now()
		answers, failed := q.ask(ctx, p)
		for _, a := range answers {
			mark := "met"
			if !a.met {
				mark, met = "NOT MET", false
			}
			fmt.Printf("%-8s %-74s %-40s asked %-18s %s\n", q.name, a.what, a.measured, a.asked, mark)
		}
		fmt.Fprintf(os.Stderr, "%s took %s\n", q.name, time.Since(began).Round(time.Second))
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", q.name, failed))
		}
	}
	return met, err
}

func choose(only string) ([]question, error) {
	if only == "" {
		return questions, nil
	}
	questions := slices.Concat(questions, unasked)
	var chosen []question
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(questions, func(q question) bool { return q.name == name })
		if i < 0 {
			names := each.Of(questions, func(q question) string { return q.name })
			return nil, fmt.Errorf("-only: unknown question %q; there are %s", name, strings.Join(names, ", "))
		}
		chosen = append(chosen, questions[i])
	}
	return chosen, nil
}
