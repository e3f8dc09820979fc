package hist

import "iter"

// Steps are the steps of a histogram that hold values, the lowest first.
type Steps []step

type step struct{ middleNs, count int64 }

// Steps lists them once, for several questions: to walk through a histogram takes
// most of the time in which a run is read.
func (h *Histogram) Steps() Steps {
	var steps Steps
	for _, bar := range h.h.Distribution() {
		if bar.Count > 0 {
			steps = append(steps, step{bar.From + (bar.To-bar.From)/2, bar.Count})
		}
	}
	return steps
}

// Within returns how many values lie from fromNs up to, but not at, toNs, and
// their sum in ns, both to the histogram's three digits: a value counts by the
// middle of the step that holds it. 0 and 0 where there are none.
func (s Steps) Within(fromNs, toNs int64) (n int64, sumNs float64) {
	for _, x := range s {
		if x.middleNs >= fromNs && x.middleNs < toNs {
			n += x.count
			sumNs += float64(x.count) * float64(x.middleNs)
		}
	}
	return n, sumNs
}

// UpTo returns for each of the rising bounds, in ns, how many values lie at or below
// it, each counted by the middle of the step that holds it.
func (s Steps) UpTo(bounds []int64) []int64 {
	counts, n, next := make([]int64, len(bounds)), int64(0), 0
	for i, bound := range bounds {
		for next < len(s) && s[next].middleNs <= bound {
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
			if !yield(x.middleNs, x.count) {
				return
			}
		}
	}
}
