// Command peers measures what no study can: netdyno without its instruments, workers
// of two builds, and peers that are no pair of a server and a client, as ranks of MPI
// are. Each line of its output is a ratio within one run, interleaved in random order,
// with its 95 % interval and what was hoped for. Other peers are arms of the
// studies beside this file.
//
//	make bench                       # everything, the studies too
//	go run ./peers -only rings,slot -blocks 12
//	go run ./peers -before DIR       # the workers in bin/ against those of an earlier build
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"time"

	"netdyno/internal/quantity"
	"netdyno/internal/read/stat"
	"netdyno/peers/result"
)

// subject is one side of a comparison: measure runs it once in fresh
// processes and returns its figure.
type subject struct {
	name    string
	measure func(context.Context) (figure, error)
}

// figure is what one measurement gave.
type figure struct {
	value float64
	cost  float64 // what it took besides, in question.cost; 0 where nobody asks
}

// question is one comparison: other ÷ base of every other.
type question struct {
	name   string
	unit   string
	hoped  string    // what the project promises of the ratio
	base   []subject // the one with the highest mean is the base
	others []subject
	cost   string   // unit of the figures' cost; empty for none
	needs  []string // programs without which it cannot be asked,
	ours   []string // and transports
}

func main() {
	blocks := flag.Int("blocks", 8, "blocks: times that every side is measured")
	window := flag.Duration("window", time.Second, "length of each measurement")
	only := flag.String("only", "", "comma-separated beginnings of the questions to ask")
	quick := flag.Bool("quick", false, "3 blocks, for a first look")
	before := flag.String("before", "", "directory of an earlier build's workers: compare both builds and ask nothing else")
	flag.Parse()
	if *quick {
		*blocks = 3
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, asking{*blocks, *window, *only, *before}); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// asking is what the command line asks.
type asking struct {
	blocks       int
	window       time.Duration
	only, before string
}

func run(ctx context.Context, a asking) error {
	rig, err := newRig(ctx, a.window)
	if err != nil {
		return err
	}
	defer rig.remove()
	asked := func(name string) bool {
		return a.only == "" || slices.ContainsFunc(strings.Split(a.only, ","), func(w string) bool { return strings.HasPrefix(name, w) })
	}
	questions := rig.questions()
	if a.before != "" {
		questions = rig.buildQuestions(ctx, a.before)
	}
	for _, q := range questions {
		if !asked(q.name) {
			continue
		}
		if missing := append(absent(q.needs), rig.unoffered(q.ours)...); len(missing) > 0 {
			fmt.Printf("\n%s: left out, there is no %s here\n", q.name, strings.Join(missing, ", no "))
			continue
		}
		rows, err := q.ask(ctx, a.blocks)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		if a.before == "" { // two builds are no peers
			if err := keep(ctx, rows); err != nil {
				return err
			}
		}
	}
	if a.before != "" {
		return nil
	}
	return rig.absolutes(ctx, asked)
}

// keep enters ratios into the files of results, from which docs/benchmarks.md is written.
func keep(ctx context.Context, rows []result.Row) error {
	origin, err := result.Here(ctx, ".", result.ThisMachine())
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].Origin = origin
	}
	return result.Keep("peers/results", rows)
}

// absent returns the programs that are not on PATH.
func absent(programs []string) []string {
	return slices.DeleteFunc(slices.Clone(programs), func(p string) bool {
		_, err := exec.LookPath(p)
		return err == nil
	})
}

// ask measures every side once in each block, in random order, and prints the
// ratios, which are also its answer.
func (q question) ask(ctx context.Context, blocks int) ([]result.Row, error) {
	sides := append(slices.Clone(q.base), q.others...)
	values, costs := make([][]float64, len(sides)), make([][]float64, len(sides))
	for b := range blocks {
		for _, i := range rand.New(rand.NewPCG(1, uint64(b))).Perm(len(sides)) {
			f, err := sides[i].measure(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", sides[i].name, err)
			}
			values[i], costs[i] = append(values[i], f.value), append(costs[i], f.cost)
		}
	}
	base := 0
	for i := range q.base {
		if mean(values[i]) > mean(values[base]) {
			base = i
		}
	}
	var rows []result.Row
	fmt.Printf("\n%s (%s; hoped: %s)\n", q.name, q.unit, q.hoped)
	for i, side := range sides {
		fmt.Printf("  %-34s %10.4g", side.name, mean(values[i]))
		if q.cost != "" {
			fmt.Printf("  %8.4g %s", mean(costs[i]), q.cost)
		}
		if i >= len(q.base) {
			fmt.Print("   ", against(values[i], values[base]))
			rows = append(rows, q.row(side.name, sides[base].name, values[i], values[base]))
			if q.cost != "" {
				fmt.Print("; cost ", against(costs[i], costs[base]))
			}
		} else if i == base && len(q.base) > 1 {
			fmt.Print("   the base, as the best of its kind")
		}
		fmt.Println()
	}
	return rows, nil
}

// row is one ratio as it is kept.
func (q question) row(ours, peer string, own, others []float64) result.Row {
	study, work, _ := strings.Cut(q.name, ": ")
	r := result.Row{
		Study: study, Work: work, What: q.unit, Asked: q.hoped, Ours: strings.TrimPrefix(ours, "netdyno "), Peer: peer, Best: len(q.base) > 1,
		OursValue: quantity.FormatFigure(mean(own)), PeerValue: quantity.FormatFigure(mean(others)), Blocks: len(own),
	}
	ratios := make([]float64, len(own))
	for b := range own {
		ratios[b] = own[b] / others[b]
	}
	r.Ratio = mean(ratios)
	if e, ok := stat.GeometricMean(ratios); ok {
		r.Ratio, r.Low, r.High = e.Point, e.Low, e.High
	}
	for _, transport := range q.ours {
		r.Code = result.Union(r.Code, result.Code(".", transport))
	}
	if len(r.Code) == 0 {
		r.Code = []string{"internal", "native"}
	}
	return r
}

// mean is the geometric mean over blocks, so that the ratios are the quotients of
// what is printed; arithmetic where a value is 0.
func mean(xs []float64) float64 {
	logs, ok := stat.Logs(xs)
	if !ok {
		return stat.Mean(xs)
	}
	return math.Exp(stat.Mean(logs))
}

// against prints other ÷ base, block by block.
func against(other, base []float64) string {
	ratios := make([]float64, len(base))
	for b := range base {
		ratios[b] = other[b] / base[b]
	}
	e, ok := stat.GeometricMean(ratios)
	logs, positive := stat.Logs(ratios)
	if !ok || !positive {
		return fmt.Sprintf("%.3g×, without an interval: that takes two blocks", mean(ratios))
	}
	return fmt.Sprintf("%.3g× (%.3g–%.3g), p %.3g, %d blocks", e.Point, e.Low, e.High, stat.SignFlip(logs), len(base))
}
