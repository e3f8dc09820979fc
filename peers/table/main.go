// Command table runs the studies of peers beside it, with those of their arms whose
// programs are on PATH, keeps their ratios in peers/results, and writes docs/benchmarks.md
// from all that is kept there:
//
//	make bench-table                                  # all of it
//	go run ./peers/table peers/http1.yaml             # one study
//	go run ./peers/table -with 'blocks=2' peers/echo.yaml
//	go run ./peers/table -take results/DIR            # a run that is there
//	go run ./peers/table                              # the page alone
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"netdyno/peers/result"
)

const (
	root = "."
	kept = "peers/results"
	page = "docs/benchmarks.md"
)

func main() {
	with := flag.String("with", "", "KEY=LEVEL words for netdyno run")
	take := flag.String("take", "", "directory of a run whose ratios to keep")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, flag.Args(), strings.Fields(*with), *take); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

// run measures some studies, takes a run that is there, and writes the page, also after
// a study that could not be run.
func run(ctx context.Context, studies, with []string, taken string) error {
	var failed error
	for _, path := range studies {
		failed = errors.Join(failed, measure(ctx, path, with))
	}
	if taken != "" {
		failed = errors.Join(failed, keep(ctx, taken))
	}
	rows, err := result.Read(kept)
	if err != nil {
		return errors.Join(failed, err)
	}
	return errors.Join(failed, write(ctx, page, rows))
}

// measure runs one study without the arms whose programs are not here.
func measure(ctx context.Context, path string, with []string) error {
	text, left, err := present(path)
	if err != nil {
		return err
	}
	for _, arm := range left {
		fmt.Printf("%s: %s is left out, it is not on PATH\n", path, arm)
	}
	build := filepath.Join("build", "peers")
	if err := os.MkdirAll(build, 0o755); err != nil {
		return err
	}
	there := filepath.Join(build, filepath.Base(path))
	if err := os.WriteFile(there, text, 0o644); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(build, strings.TrimSuffix(filepath.Base(path), ".yaml")+"-")
	if err != nil {
		return err
	}
	out := filepath.Join(dir, "run")
	run := exec.CommandContext(ctx, "bin/netdyno", append([]string{"run", there, "--out", out}, with...)...)
	run.Stdout, run.Stderr = os.Stdout, os.Stderr
	if err := run.Run(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return keep(ctx, out)
}
