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

// Packages benchmark one exchange of their client and of a bare client of the
// same library, as BenchmarkClient and BenchmarkBareClient with the shapes below
// them, or as the shapes of BenchmarkExchange with ours and bare below those.
const twins = "^Benchmark(Client|BareClient|Exchange)$"

// perExchange is what one exchange allocates.
type perExchange struct{ bytes, objects string }

var benchmarkLine = regexp.MustCompile(`^Benchmark(Client|BareClient|Exchange)((?:/\S+?)?)(?:-\d+)?\s+\d+\s.*?(\d+) B/op\s+(\d+) allocs/op`)

// allocations prints what each client allocates per exchange beside a bare
// client of the same library: what we add is the difference.
func allocations(ctx context.Context) error {
	fmt.Println("\nallocations per exchange, our client against a bare one of its library (hoped: no object more)")
	c := exec.CommandContext(ctx, "go", "test", "./internal/work/...", "-run", "^$", "-bench", twins, "-benchmem", "-benchtime", "300x")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	rows := pairs(out)
	if len(rows) == 0 {
		fmt.Println("  left out: no package has benchmarks of both")
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
	sides := map[bool]map[place]perExchange{true: {}, false: {}} // by whether it is ours
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
		ours, shape := found[1] == "Client", found[2]
		if found[1] == "Exchange" {
			shape, ours = strings.CutSuffix(shape, "/ours")
			shape = strings.TrimSuffix(shape, "/bare")
		}
		at := place{of, shape}
		if ours {
			order = append(order, at)
		}
		sides[ours][at] = perExchange{found[3], found[4]}
	}
	var all []pair
	for _, at := range order {
		if bare, ok := sides[false][at]; ok {
			all = append(all, pair{at.of + at.shape, sides[true][at], bare})
		}
	}
	return all
}
