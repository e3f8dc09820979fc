package finding

import "testing"

func TestManyNamesAreCounted(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f", "g"}
	if got := firstOf(names); got != "a, b, c, d, e, f, g" { // one more is as short as its name
		t.Error(got)
	}
	if got := firstOf(append(names, "h", "i")); got != "a, b, c, d, e, f and 3 more" {
		t.Error(got)
	}
}
