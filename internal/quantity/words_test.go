package quantity

import "testing"

func TestManyNamesAreCounted(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f", "g"}
	if got := Names(names); got != "a, b, c, d, e, f, g" { // one more is as short as its name
		t.Error(got)
	}
	if got := Names(append(names, "h", "i")); got != "a, b, c, d, e, f and 3 more" {
		t.Error(got)
	}
}

func TestOneIsNoPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 blocks", 1: "1 block", 2: "2 blocks"} {
		if got := Plural(n, "block"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestListsInSentences(t *testing.T) {
	for want, texts := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"}} {
		if got := And(texts); got != want {
			t.Errorf("%q became %q", texts, got)
		}
	}
}
