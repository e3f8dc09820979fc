package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// slower stands in front of a worker and makes its setups 5 % worse: a build
// with a regression.
const slower = `#!/bin/sh
sed -u 's/"service":1000000/"service":1050000/' | "$(dirname "$0")/real"
`

// gated runs netdyno as a gate between two builds, as continuous integration
// would.
func gated(ctx context.Context, p *pipeline) ([]answer, error) {
	const each = 8
	dir, err := os.MkdirTemp("", "netdyno-truth-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // copies of ours in a temporary directory
	if err := p.layOut(dir); err != nil {
		return nil, err
	}
	const worse, noWorse = "\ngate: worse", "\ngate: no worse" // its status is 0 where it cannot tell, too
	timed := []string{"transport=null", "opt.service=1ms", "connections=4", "compare.primary=service_p50_us"}
	var answers []answer
	for _, g := range []struct {
		what  string
		after string
		args  []string
		asked string
		met   func(ended map[string]int) bool
		count string // the end to count
	}{
		{"gates closed by a build that is 5 % worse (8 blocks)", "slow", timed, "all", func(s map[string]int) bool { return s[worse] == each }, worse},
		{"gates opened to an identical build (8 blocks)", "after", timed, "all", func(s map[string]int) bool { return s[noWorse] == each }, noWorse},
		{"gates closed by an identical build of a real server (go-net, 8 blocks)", "after", append([]string{"transport=go-net"}, brief...), "0", func(s map[string]int) bool { return s[worse] == 0 }, worse},
	} {
		ended := map[string]int{}
		for i := range each {
			args := append([]string{"run"}, g.args...)
			args = append(args, "build=before,"+g.after, "blocks=8", "window=200ms", "warmup=50ms", fmt.Sprintf("seed=%d", i+1), "--gate", "--out", filepath.Join(dir, fmt.Sprintf("%d-%d", len(answers), i)))
			c := exec.CommandContext(ctx, filepath.Join(p.bin, "netdyno"), args...)
			c.Dir = dir
			said, err := c.Output()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				return answers, err
			}
			for _, end := range []string{worse, noWorse} {
				if bytes.Contains(said, []byte(end)) {
					ended[end]++
				}
			}
		}
		answers = append(answers, answer{g.what, share(ended[g.count], each), g.asked, g.met(ended)})
	}
	return answers, nil
}

// layOut makes the directories of three builds: two alike, one with a handicap.
func (p *pipeline) layOut(dir string) error {
	program, err := os.ReadFile(filepath.Join(p.bin, "netdyno-worker-net"))
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"before/netdyno-worker-net": program, "after/netdyno-worker-net": program, "slow/real": program, "slow/netdyno-worker-net": []byte(slower),
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o755); err != nil {
			return err
		}
	}
	return nil
}
