package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"netdyno/internal/quantity"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/report"
)

const (
	dotTime  = 10 * time.Second // for one graph; it takes a fraction of a second
	dotBytes = 4 << 20          // of a drawing
)

// drawCallGraphs adds call graphs to a page, or says why there are none. The report is
// the same without them.
func drawCallGraphs(page *report.Page, f finding.Findings) {
	if len(f.Flames) == 0 {
		fmt.Fprintln(stderr, "netdyno: report --callgraph: the run has no profiles; a run has them with --profile")
		return
	}
	draw, err := graphviz(context.Background())
	if err == nil {
		err = page.DrawCallGraphs(f, draw)
	}
	if err != nil {
		stderr.say("netdyno: report --callgraph: %v", err)
	}
}

// graphviz returns what draws call graphs; an error that says what to install where it
// is not here.
func graphviz(ctx context.Context) (func(dot string) ([]byte, error), error) {
	path, err := exec.LookPath("dot")
	if err != nil {
		return nil, errors.New("graphviz's dot is not on PATH, so no call graph is drawn; install it (Debian: graphviz)")
	}
	return func(dot string) ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, dotTime)
		defer cancel()
		c := exec.CommandContext(ctx, path, "-Tsvg")
		c.Env = append(os.Environ(), "LC_ALL=C")
		c.Stdin, c.WaitDelay = strings.NewReader(dot), time.Second
		drawn, said := bounded{most: dotBytes}, bounded{most: 4 << 10}
		c.Stdout, c.Stderr = &drawn, &said
		err := c.Run()
		switch line, _, _ := strings.Cut(strings.TrimSpace(said.kept.String()), "\n"); {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("dot was not done within %s", dotTime)
		case err != nil && line != "":
			return nil, fmt.Errorf("dot: %s", quantity.Clip(line, 200))
		case err != nil:
			return nil, fmt.Errorf("dot: %w", err)
		}
		return drawn.kept.Bytes(), nil
	}, nil
}

// bounded keeps what is written up to a bound, and refuses more. It has no other way in.
type bounded struct {
	kept bytes.Buffer
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.kept.Len()+len(p) > b.most {
		return 0, fmt.Errorf("more than %d bytes", b.most)
	}
	return b.kept.Write(p)
}
