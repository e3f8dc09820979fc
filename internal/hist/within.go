package hist

import "iter"

// Steps are the steps of a histogram that hold values, the lowest first.
type Steps []step

// step holds the values from lowNs on that are counted as one.
type step struct{ lowNs, widthNs, count int64 }

func (s step) highNs() int64   { return s.lowNs + s.widthNs - 1 }
func (s step) middleNs() int64 { return s.lowNs + (s.widthNs-1)/2 }

// Steps lists them, and keeps them until the histogram changes: the library's
// iterators take most of the time in which a large run is read, on the thousands of
// steps that hold nothing.
func (h *Histogram) Steps() Steps {
	if h.steps != nil || h.Count() == 0 {
		return h.steps
	}
	for i, n := range h.h.Export().Counts {
		if n > 0 {
			h.steps = append(h.steps, step{valueAt(i), 1 << max(0, i>>halfMagnitude-1), n})
		}
	}
	return h.steps
}

// atRanks returns the highest value of the step in which the value of each rank lies;
// ranks rise, from 1.
func (s Steps) atRanks(ranks []int64) []int64 {
	values, n, next := make([]int64, 0, len(ranks)), int64(0), 0
	for _, rank := range ranks {
		for next < len(s) && n+s[next].count < rank {
			n += s[next].count
			next++
		}
		if next == len(s) {
			break
		}
		values = append(values, s[next].highNs())
	}
	return values
}

// Within returns how many values lie from fromNs up to, but not at, toNs, and
// their sum in ns, both to the histogram's three digits: a value counts by the
// middle of the step that holds it. 0 and 0 where there are none.
func (s Steps) Within(fromNs, toNs int64) (n int64, sumNs float64) {
	for _, x := range s {
		if x.middleNs() >= fromNs && x.middleNs() < toNs {
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
