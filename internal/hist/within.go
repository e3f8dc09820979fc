package hist

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
