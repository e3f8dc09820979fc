package trial

import (
	"fmt"
	"math"

	"netdyno/internal/record"
)

// streamed returns the sizes of the messages that carry a foreign client's
// bytes. What asks for a stream or confirms it, its program does not send.
func streamed(g *record.Worker) (up, down int64) {
	x := g.Setup.Exchange
	x.UpBytes, x.DownBytes, _ = g.Sizes()
	return x.Streamed()
}

// streamedBytes demands of a foreign client that its exchanges are its bytes,
// both directions taken together: each runs at its own pace.
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
	if math.Abs(got-exchanges*size) > Slots(g.Setup.Load)*size {
		return fmt.Sprintf("%s moved %.0f bytes, but %.0f exchanges of %.0f make %.0f", g.Name, got, exchanges, size, exchanges*size)
	}
	return ""
}

// workOf returns the bytes of one direction of a client's work: exchanges × size,
// and of a foreign client what was counted, as its directions differ.
func workOf(g *record.Worker, counted, size int64) int64 {
	if Foreign(g) {
		return counted
	}
	return g.Result.Counts.Exchanges * size
}

// directions tells which way the ends' bytes can be compared: both, but where a
// foreign client streams, the way it streams.
func directions(e *audit) (up, down bool) {
	up, down = true, true
	for _, g := range e.generators {
		if Foreign(g) {
			toServer, toClient := streamed(g)
			up, down = up && toServer > 0, down && toClient > 0
		}
	}
	return up, down
}

// unverified: a foreign client checks no content, so nobody knows whether what
// arrived is what was sent.
func unverified(e *audit) (flag, why string) {
	for _, g := range e.generators {
		if Foreign(g) {
			return Unverified, g.Name + " wraps a program that does not check what it receives"
		}
	}
	return "", ""
}
