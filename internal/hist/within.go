package hist

// Within returns how many values lie from fromNs up to, but not at, toNs, and
// their sum in ns, both to the histogram's three digits: a value counts by the
// middle of the step that holds it. 0 and 0 where there are none.
func (h *Histogram) Within(fromNs, toNs int64) (n int64, sumNs float64) {
	for _, bar := range h.h.Distribution() {
		middle := bar.From + (bar.To-bar.From)/2
		if bar.Count > 0 && middle >= fromNs && middle < toNs {
			n += bar.Count
			sumNs += float64(bar.Count) * float64(middle)
		}
	}
	return n, sumNs
}
