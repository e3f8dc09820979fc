package trial

import (
	"fmt"
	"math"

	"netdyno/internal/record"
)

// checkClientBytes demands exchanges × size of each client's bytes, within what
// was in flight at the window's edges.
func checkClientBytes(e *audit) string {
	for _, g := range e.generators {
		up, down, ok := g.Sizes()
		if !ok {
			continue
		}
		if Foreign(g) {
			if reason := streamedBytes(g); reason != "" {
				return reason
			}
			continue
		}
		meanUp, meanDown := g.DrawnSizes()
		exchanges, slack := float64(g.Result.Counts.Exchanges), g.Setup.Load.Slots()
		for _, end := range []struct {
			verb      string
			got, size int64
			mean      float64 // where sizes vary
		}{
			{"received", g.Result.Counts.ReceivedBytes, down, meanDown},
			{"sent", g.Result.Counts.SentBytes, up, meanUp},
		} {
			if end.verb == "received" && g.AnyReply() || end.verb == "sent" && g.Fills() {
				continue
			}
			want := exchanges * float64(end.size)
			if mean := end.mean; mean > 0 {
				if off := math.Abs(float64(end.got) - exchanges*mean); off > slack*float64(end.size)+drawnScatter(exchanges, mean, float64(end.size)) {
					return fmt.Sprintf("%s %s %d bytes, but %.0f exchanges of %.4g on average make %.4g", g.Name, end.verb, end.got, exchanges, mean, exchanges*mean)
				}
				continue
			}
			if math.Abs(float64(end.got)-want) > slack*float64(end.size) {
				return fmt.Sprintf("%s %s %d bytes, but %.0f exchanges of %d make %.0f",
					g.Name, end.verb, end.got, exchanges, end.size, want)
			}
		}
	}
	return ""
}

// drawnScatter is by how much the sum of so many drawn sizes may lie off their mean: six
// standard deviations. That of sizes between 0 and the largest is at most √(mean · largest)
// (Bhatia and Davis, A Better Bound on the Variance, Amer. Math. Monthly 107, 2000).
func drawnScatter(exchanges, mean, largest float64) float64 {
	return 6 * math.Sqrt(exchanges*mean*largest)
}

// streamed returns the sizes of the messages that carry a foreign client's bytes. The
// messages that ask for a stream or confirm one are none of its program's.
func streamed(g *record.Worker) (up, down int64) {
	x := g.Setup.Exchange
	x.UpBytes, x.DownBytes, _ = g.Sizes()
	return x.Streamed()
}

// streamedBytes demands of a foreign client that its exchanges are its bytes divided by
// their size. Both directions are taken together, as each runs at its own pace.
func streamedBytes(g *record.Worker) string {
	up, down := streamed(g)
	got := 0.0
	if up > 0 {
		got += float64(g.Result.Counts.SentBytes)
	}
	if down > 0 {
		got += float64(g.Result.Counts.ReceivedBytes)
	}
	size, exchanges := float64(up)+float64(down), float64(g.Result.Counts.Exchanges)
	if math.Abs(got-exchanges*size) > g.Setup.Load.Slots()*size {
		return fmt.Sprintf("%s moved %.0f bytes, but %.0f exchanges of %.0f make %.0f", g.Name, got, exchanges, size, exchanges*size)
	}
	return ""
}
