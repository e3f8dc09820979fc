package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// A transport's package benchmarks one exchange of its client, and of a bare
// client of the same library, under these names; what follows is the shape.
const ourClient, bareClient = "BenchmarkClient", "BenchmarkBareClient"

// perExchange is what one exchange allocates.
type perExchange struct{ bytes, objects string }

var benchmarkLine = regexp.MustCompile(`^(Benchmark\w+)(\S*?)(?:-\d+)?\s+\d+\s.*?(\d+) B/op\s+(\d+) allocs/op`)

// allocations prints what each client allocates per exchange beside a bare
// client of the same library: what we add is the difference.
func allocations(ctx context.Context) error {
	fmt.Println("\nallocations per exchange, our client against a bare one of its library (hoped: no object more)")
	c := exec.CommandContext(ctx, "go", "test", "./internal/work/transport/...", "-run", "^$",
		"-bench", "^("+ourClient+"|"+bareClient+")$", "-benchmem", "-benchtime", "1000x")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	rows := pairs(out)
	if len(rows) == 0 {
		fmt.Printf("  left out: no package has %s and %s\n", ourClient, bareClient)
	}
	for _, row := range rows {
		fmt.Printf("  %-34s %8s B %6s objects   bare %8s B %6s objects\n", row.name,
			row.ours.bytes, row.ours.objects, row.bare.bytes, row.bare.objects)
	}
	return nil
}

// pair is a client and the bare one, in one shape.
type pair struct {
	name       string
	ours, bare perExchange
}

// pairs finds the benchmarks that both exist in the output of go test.
func pairs(out []byte) []pair {
	type place struct{ of, shape string }
	ours, bare := map[place]perExchange{}, map[place]perExchange{}
	var order []place
	of := ""
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "pkg: "); ok {
			of = name[strings.LastIndexByte(name, '/')+1:]
			continue
		}
		found := benchmarkLine.FindStringSubmatch(lines.Text())
		if found == nil {
			continue
		}
		at, what := place{of, found[2]}, perExchange{found[3], found[4]}
		switch found[1] {
		case ourClient:
			ours[at] = what
			order = append(order, at)
		case bareClient:
			bare[at] = what
		}
	}
	var all []pair
	for _, at := range order {
		if b, ok := bare[at]; ok {
			all = append(all, pair{at.of + at.shape, ours[at], b})
		}
	}
	return all
}
