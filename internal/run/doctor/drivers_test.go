package doctor

import (
	"slices"
	"strings"
	"testing"
)

func TestVersionsOfDrivers(t *testing.T) {
	for text, want := range map[string][]int{
		"4.3-1.0.1": {4, 3, 1, 0, 1}, "3.0-1 (January 2015)": {3, 0, 1}, "2.12.1-k": {2, 12, 1}, "6.1.0-21-amd64": {6, 1, 0, 21}, "": nil, "unknown": nil,
	} {
		if got := numbers(text); !slices.Equal(got, want) {
			t.Errorf("numbers of %q are %v, want %v", text, got, want)
		}
	}
	open := problem{driver: "d", from: "2.1"}
	closed := problem{driver: "d", from: "2.1", to: "2.1.9"}
	for version, want := range map[string][2]bool{
		"2.0.9": {false, false}, "2.1": {true, true}, "2.1.9": {true, true}, "2.1.10": {true, false}, "2.10": {true, false}, "": {false, false},
	} {
		if got := [2]bool{open.has("d", version), closed.has("d", version)}; got != want {
			t.Errorf("%q: from 2.1 on, to 2.1.9: %v, want %v", version, got, want)
		}
	}
	if open.has("other", "2.1") {
		t.Error("another driver has the problem too")
	}
}

// The case that the publication could only tell of in prose: two hosts with the
// same card, one with MLNX_OFED's driver and one with the kernel's, which alone
// has the remark.
func TestDriversOfThePublication(t *testing.T) {
	ofed, kernel := recorded(t, "fast"), recorded(t, "fast-old")
	said := func(h Named) int {
		return slices.IndexFunc(Advise(h.Facts), func(a Advice) bool { return a.About == "nic.ens1f0.driver_version" })
	}
	if at := said(ofed); at >= 0 {
		t.Errorf("%s: %+v", ofed.Name, Advise(ofed.Facts)[at])
	}
	at := said(kernel)
	if at < 0 {
		t.Fatalf("%s: nothing is said of its driver", kernel.Name)
	}
	if a := Advise(kernel.Facts)[at]; a.Severity != Distort || !strings.Contains(a.Why, "will cause performance decay") || !strings.Contains(a.Fix, "ethtool -i ens1f0") {
		t.Errorf("%s: %+v", kernel.Name, a)
	}
	a := Differ([]Named{ofed, kernel})[0]
	for _, part := range []string{"driver_version 4.3-1.0.1 at node73, 3.0-1 (January 2015) at node76"} {
		if a.Severity != Distort || !strings.Contains(a.What, part) {
			t.Errorf("first difference %+v, want one that distorts and says %q", a, part)
		}
	}
}
