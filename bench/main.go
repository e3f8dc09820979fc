// Command bench compares netdyno with named peers on the same work, and with
// itself without its instruments. Every claim of speed that the project makes
// is a line of its output: a ratio within one run, interleaved in random
// order, with its 95 % interval and what was hoped for.
//
//	make bench                       # everything
//	go run ./bench -only echo,slot -blocks 12
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"netdyno/internal/read/stat"
)

// subject is one side of a comparison: measure runs it once in fresh
// processes and returns its figure.
type subject struct {
	name    string
	measure func(context.Context) (float64, error)
}

// question is one comparison: other ÷ base of every other.
type question struct {
	name   string
	unit   string
	hoped  string // what the project promises of the ratio
	base   subject
	others []subject
}

func main() {
	blocks := flag.Int("blocks", 8, "blocks: times that every side is measured")
	window := flag.Duration("window", time.Second, "length of each measurement")
	only := flag.String("only", "", "comma-separated beginnings of the questions to ask")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *blocks, *window, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, blocks int, window time.Duration, only string) error {
	rig, err := newRig(ctx, window)
	if err != nil {
		return err
	}
	for _, q := range rig.questions() {
		if only != "" && !slices.ContainsFunc(strings.Split(only, ","), func(w string) bool { return strings.HasPrefix(q.name, w) }) {
			continue
		}
		if err := q.ask(ctx, blocks); err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
	}
	return rig.absolutes(ctx, only)
}

// ask measures every side once in each block, in random order, and prints the
// ratios.
func (q question) ask(ctx context.Context, blocks int) error {
	sides := append([]subject{q.base}, q.others...)
	values := make([][]float64, len(sides))
	for b := range blocks {
		for _, i := range rand.New(rand.NewPCG(1, uint64(b))).Perm(len(sides)) {
			v, err := sides[i].measure(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", sides[i].name, err)
			}
			values[i] = append(values[i], v)
		}
	}
	fmt.Printf("\n%s (%s; hoped: %s)\n", q.name, q.unit, q.hoped)
	fmt.Printf("  %-34s %10.4g\n", q.base.name, stat.Median(values[0]))
	for i, other := range q.others {
		var ratios []float64
		for b := range blocks {
			ratios = append(ratios, values[i+1][b]/values[0][b])
		}
		e, _ := stat.GeometricMean(ratios)
		logs, _ := stat.Logs(ratios)
		fmt.Printf("  %-34s %10.4g   %.3f× (%.3f–%.3f), p %.3g, %d blocks\n",
			other.name, stat.Median(values[i+1]), e.Point, e.Low, e.High, stat.SignFlip(logs), blocks)
	}
	return nil
}
