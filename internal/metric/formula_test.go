package metric_test

import (
	"strings"
	"testing"

	"netdyno/internal/metric"
)

// A formula that is longer is not read.
const mostWords = 40

// Both ends' metrics of one kind are the same thing: they have one formula.
func TestFormulasAreShort(t *testing.T) {
	ends := map[string]string{}
	for _, m := range metric.All() {
		if n := len(strings.Fields(m.Formula)); n > mostWords {
			t.Errorf("the formula of %s has %d words, want at most %d", m.Name, n, mostWords)
		}
		if end, kind, both := strings.Cut(m.Name, "."); both && end != "host" {
			if other, seen := ends[kind]; seen && other != m.Formula {
				t.Errorf("%s says %q of one end and %q of the other", kind, other, m.Formula)
			}
			ends[kind] = m.Formula
		}
	}
}
