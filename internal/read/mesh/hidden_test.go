package mesh

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// slower makes a host answer late by a share, and move as much less.
func slower(host int, share float64) planted {
	return func(metric string, from, to int) float64 {
		switch {
		case from != host && to != host:
			return 0
		case metric == Goodput:
			return -math.Log1p(share)
		}
		return math.Log1p(share)
	}
}

// What a mesh calls as good as the others is no worse than it says: in at least 95 of 100
// meshes of a host that is a little worse, that host is named, or what could have hidden is
// no less than what did.
func TestNoMoreHidesThanIsSaid(t *testing.T) {
	for _, c := range []struct {
		size
		sd, share float64
	}{{size{5, 3, 0}, 0.01, 0.04}, {size{8, 3, 0}, 0.03, 0.05}, {size{8, 6, 0}, 0.03, 0.08}, {size{8, 3, 0}, 0.3, 0.3}, {size{12, 3, 0}, 1, 2}} {
		for _, noise := range laws {
			r := rand.New(rand.NewPCG(17, uint64(c.hosts)))
			n, wrong, asGood := runs(40), 0, 0
			for range n {
				m := scattered(r, c.size, noise, spread{c.sd, standardMargin}, slower(2, c.share))
				if said(m) != "" {
					continue
				}
				for _, h := range m.Hidden {
					if h.Hosts > 0 && h.Hosts < 1+c.share {
						wrong++
						break
					}
				}
				if answered(m) {
					asGood++
				}
			}
			t.Logf("%d hosts, %d blocks, %s noise of %g, worse by %g: less was said to hide in %d of %d, %d called as good as the others", c.hosts, c.blocks, noise.name, c.sd, c.share, wrong, n, asGood)
			if most := atMost(n, Level); wrong > most {
				t.Errorf("%d hosts, %s noise of %g: less than %g was said to hide in %d of %d, at most %d are chance", c.hosts, noise.name, c.sd, c.share, wrong, n, most)
			}
			if c.share > Alike && asGood > atMost(n, Level) {
				t.Errorf("%d hosts, %s noise of %g: a host that is worse by %g was called as good as the others in %d of %d", c.hosts, noise.name, c.sd, c.share, asGood, n)
			}
		}
	}
}

// Where the scatter is so large that nothing can be told, nothing is; where it is small,
// equal hosts are called equal.
func TestEqualityTakesPower(t *testing.T) {
	for _, c := range []struct {
		size
		sd          float64
		least, most int // of 40 meshes, in how many hosts are called as good as each other
	}{{size{8, 3, 0}, 0.01, 38, 40}, {size{8, 6, 0}, 0.03, 30, 40}, {size{8, 3, 0}, 0.3, 0, 0}, {size{4, 3, 0}, 1, 0, 0}, {size{16, 3, 0}, 1.5, 0, 0}} {
		for _, noise := range laws {
			r := rand.New(rand.NewPCG(19, uint64(c.hosts)))
			const n = 40
			told := 0
			for range n {
				if m := scattered(r, c.size, noise, spread{c.sd, standardMargin}, equal); len(m.Outliers) == 0 && answered(m) {
					told++
				}
			}
			t.Logf("%d hosts, %d blocks, %s noise of %g: called as good as each other in %d of %d", c.hosts, c.blocks, noise.name, c.sd, told, n)
			if told < c.least || told > c.most {
				t.Errorf("%d hosts, %d blocks, %s noise of %g: called as good as each other in %d of %d; want %d to %d", c.hosts, c.blocks, noise.name, c.sd, told, n, c.least, c.most)
			}
		}
	}
}

// A host without an interval is not called anything.
func TestNothingIsSaidOfAHostWithoutAnInterval(t *testing.T) {
	if got := furthest([]Effect{{Ratio: 1, Low: 0.95, High: 1.05}, {}}, 1); got != 0 {
		t.Errorf("hidden is %v", got)
	}
	if got := furthest([]Effect{{Ratio: 1, Low: 0.8, High: 1.05}}, -1); got != 1.25 {
		t.Errorf("of less goodput %v could hide, want 1.25", got)
	}
	if answered(&Mesh{Margin: 0.05}) {
		t.Error("a mesh without a figure has an answer")
	}
}

// answered tells whether a mesh has an answer: somebody is named, or by every metric its
// hosts are as good as each other.
func answered(m *Mesh) bool {
	return len(m.Outliers) > 0 || m.Unnamed == "" && len(m.Hidden) > 0 &&
		!slices.ContainsFunc(m.Hidden, func(h Hidden) bool { return !m.AsGood(h.Hosts) })
}
