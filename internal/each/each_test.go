package each_test

import (
	"slices"
	"strconv"
	"testing"

	"netdyno/internal/each"
)

func TestOf(t *testing.T) {
	if got := each.Of([]int{3, 1, 2}, strconv.Itoa); !slices.Equal(got, []string{"3", "1", "2"}) {
		t.Errorf("made %q of 3, 1, 2", got)
	}
	if got := each.Of(nil, strconv.Itoa); got != nil {
		t.Errorf("made %q of nothing", got)
	}
}
