// Package turns tells two servers apart with load generators of others, as is done by hand:
// each server is loaded in turn, and a t test compares what is printed.
package turns

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
)

// Loader is the command of a load generator without the URL. It prints a rate after a time, or
// takes a time for an amount (-n).
type Loader string

// Loaders are those that everybody has.
var Loaders = []Loader{"wrk -t 1 -c 10 -d 2s", "hey -cpus 1 -c 10 -z 2s", "oha --no-tui -c 10 -z 2s", "ab -q -k -c 10 -n 3000", "hey -cpus 1 -c 10 -n 3000"}

// Looks are when the figures are compared, each time at a third of the level.
var Looks = [3]time.Duration{15 * time.Second, 30 * time.Second, 60 * time.Second}

// Missing says why the program does not run here; nil where it does.
func (l Loader) Missing() error {
	_, err := exec.LookPath(strings.Fields(string(l))[0])
	return err
}

// Told loads both servers in turn, the first by lot, and returns after which look they are told
// apart; 0 after none.
func (l Loader) Told(ctx context.Context, urls [2]string) (time.Duration, error) {
	var rates [2][]float64
	begun, longest := time.Now(), time.Duration(0)
	for _, look := range Looks {
		for time.Since(begun)+longest < look { // there is time for both
			from := time.Now()
			for _, i := range rand.Perm(2) {
				rate, err := l.load(ctx, urls[i])
				if err != nil {
					return 0, fmt.Errorf("%s: %w", l, err)
				}
				rates[i] = append(rates[i], rate)
			}
			longest = max(longest, time.Since(from))
		}
		if differ(rates, cells.Level/float64(len(Looks))) {
			return look, nil
		}
	}
	return 0, nil
}

var printed = regexp.MustCompile(`Requests/sec:\s+([\d.]+)`)

// load loads a server once and returns a rate, in any unit.
func (l Loader) load(ctx context.Context, url string) (float64, error) {
	words := append(strings.Fields(string(l)), url)
	begun := time.Now()
	out, err := exec.CommandContext(ctx, words[0], words[1:]...).Output()
	took := time.Since(begun).Seconds()
	if err != nil || strings.Contains(string(l), " -n ") {
		return 1 / took, err
	}
	found := printed.FindSubmatch(out)
	if found == nil {
		return 0, fmt.Errorf("find the rate in %q: expected %s", out, printed)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}

// differ tells whether two means differ, by Welch's t test.
func differ(of [2][]float64, level float64) bool {
	a, ok := stat.MeanComponent(of[0])
	b, also := stat.MeanComponent(of[1])
	return ok && also && stat.Apart(stat.Mean(of[1])-stat.Mean(of[0]), a, b).Beyond(0) <= level
}
