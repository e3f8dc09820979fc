package tool

import (
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
)

// place is what a command line may leave to be filled in.
var place = regexp.MustCompile(`\{[a-z_]+\}`)

// placesOf returns what is filled in for one client process of a trial. seconds is for
// how long it shall run.
func placesOf(setup contract.Setup, f flow, seconds int64) map[string]string {
	share := float64(f.connections) / float64(max(1, setup.Load.Connections))
	decimal := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	rate := setup.Load.Rate * share
	return map[string]string{
		"{server}": net.JoinHostPort(f.host, f.port), "{host}": f.host, "{port}": f.port,
		"{connections}":         strconv.Itoa(f.connections),
		"{inflight}":            strconv.Itoa(max(1, setup.Load.InFlight)),
		"{slots}":               strconv.Itoa(f.connections * max(1, setup.Load.InFlight)),
		"{threads}":             strconv.Itoa(max(1, setup.Threads)),
		"{seconds}":             strconv.FormatInt(seconds, 10),
		"{rate}":                decimal(rate),
		"{rate_per_connection}": decimal(rate / float64(max(1, f.connections))),
		"{request}":             strconv.FormatInt(setup.Exchange.UpBytes, 10),
		"{response}":            strconv.FormatInt(setup.Exchange.DownBytes, 10),
	}
}

// checkPlaces refuses a place that nothing is known to be filled in for.
func checkPlaces(argv []string) error {
	known := slices.Sorted(maps.Keys(placesOf(contract.Setup{}, flow{}, 0)))
	for _, word := range argv {
		for _, found := range place.FindAllString(word, -1) {
			if !slices.Contains(known, found) {
				return fmt.Errorf("option command: nothing is known to fill in for %s; %s", found, quantity.Hint(found, known))
			}
		}
	}
	return nil
}

// fill enters what a client process is told.
func fill(argv []string, places map[string]string) []string {
	filled := make([]string, len(argv))
	for i, word := range argv {
		filled[i] = place.ReplaceAllStringFunc(word, func(found string) string { return places[found] })
	}
	return filled
}

// names tells whether a command line leaves one of some places to be filled in.
func names(argv []string, places ...string) bool {
	return slices.ContainsFunc(argv, func(word string) bool {
		return slices.ContainsFunc(places, func(p string) bool { return strings.Contains(word, p) })
	})
}
