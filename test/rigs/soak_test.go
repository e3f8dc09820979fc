package rigs_test

import (
	"os"
	"testing"
)

// thorough is how make soak runs these tests: every fault in every state. Each
// costs some seconds of waiting, so make test-all takes of each kind those few in
// which the most different things are under way.
var thorough = os.Getenv("NETDYNO_SOAK") != ""

// few returns the chosen ones of all, by index; all of them when thorough.
func few[T any](all []T, chosen ...int) []T {
	if thorough {
		return all
	}
	var some []T
	for _, i := range chosen {
		some = append(some, all[i])
	}
	return some
}

// soak leaves a test to make soak.
func soak(t *testing.T) {
	t.Helper()
	if !thorough {
		t.Skip("minutes of waiting: make soak runs it (NETDYNO_SOAK=1)")
	}
}
