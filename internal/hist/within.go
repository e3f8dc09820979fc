package hist

import "iter"

// Steps are the steps of a histogram that hold values, the lowest first.
type Steps []step

// step holds the values from fromNs to toNs, both included.
type step struct{ fromNs, toNs, count int64 }

// middleNs is where a step's values count as lying between two bounds.
func (s step) middleNs() int64 { return s.fromNs + (s.toNs-s.fromNs)/2 }

// medianNs is what a step's values count as in a mean: the library's choice.
func (s step) medianNs() int64 { return s.fromNs + (s.toNs-s.fromNs+1)/2 }

// Steps lists them once, for all questions: to walk through the library's counts
// took most of the time in which a run was read. They belong to the histogram.
func (h *Histogram) Steps() Steps {
	if h.known || h.filled == nil {
		return h.steps
	}
	h.steps, h.known = nil, true
	for _, bar := range h.filled.Distribution() {
		if bar.Count > 0 {
			h.steps = append(h.steps, step{bar.From, bar.To, bar.Count})
		}
	}
	return h.steps
}

// merged returns the steps of two histograms of one geometry together.
func merged(a, b Steps) Steps {
	both := make(Steps, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].fromNs < b[0].fromNs:
			both, a = append(both, a[0]), a[1:]
		case a[0].fromNs > b[0].fromNs:
			both, b = append(both, b[0]), b[1:]
		default:
			both = append(both, step{a[0].fromNs, a[0].toNs, a[0].count + b[0].count})
			a, b = a[1:], b[1:]
		}
	}
	return append(append(both, a...), b...)
}

// Within returns how many values lie from fromNs up to, but not at, toNs, and
// their sum in ns, both to the histogram's three digits: a value counts by the
// middle of the step that holds it. 0 and 0 where there are none.
func (s Steps) Within(fromNs, toNs int64) (n int64, sumNs float64) {
	for _, x := range s {
		if at := x.middleNs(); at >= fromNs && at < toNs {
			n += x.count
			sumNs += float64(x.count) * float64(x.middleNs())
		}
	}
	return n, sumNs
}

// UpTo returns for each of the rising bounds, in ns, how many values lie at or below
// it, each counted by the middle of the step that holds it.
func (s Steps) UpTo(bounds []int64) []int64 {
	counts, n, next := make([]int64, len(bounds)), int64(0), 0
	for i, bound := range bounds {
		for next < len(s) && s[next].middleNs() <= bound {
			n += s[next].count
			next++
		}
		counts[i] = n
	}
	return counts
}

// All yields the middle of each step in ns, and how many values it holds.
func (s Steps) All() iter.Seq2[int64, int64] {
	return func(yield func(int64, int64) bool) {
		for _, x := range s {
			if !yield(x.middleNs(), x.count) {
				return
			}
		}
	}
}
