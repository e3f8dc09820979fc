package record

import (
	"cmp"

	"netdyno/internal/contract"
)

// Span is one worker between the edges of its window, by its own clocks.
type Span struct {
	Worker   *Worker
	From, To Edge

	most float64 // seconds that count of its length; 0 for all of them
}

// SpanOf returns the worker's span; false when an edge is missing. A fixed
// amount of work has no closing mark at the client: its result closes the
// window.
func SpanOf(w *Worker) (Span, bool) {
	if w.Open == nil {
		return Span{}, false
	}
	s := Span{Worker: w, From: *w.Open, most: float64(w.TakenNs) / nsPerS}
	switch {
	case w.Close != nil:
		s.To = *w.Close
	case w.Result != nil && w.AtResult != nil:
		counts := w.Result.Counts
		counts.Exchanges += s.From.Reading.Counts.Exchanges
		counts.SentBytes += s.From.Reading.Counts.SentBytes
		counts.ReceivedBytes += s.From.Reading.Counts.ReceivedBytes
		s.To = Edge{
			Reading: contract.Reading{AtNs: w.Result.ToNs, Counts: counts, Runtime: w.Result.Runtime},
			Meter:   w.AtResult,
		}
	default:
		return Span{}, false
	}
	return s, true
}

// Seconds returns the span's length by the worker's clock; false when it is
// not positive.
func (s Span) Seconds() (float64, bool) {
	return s.length(s.From.Reading.AtNs, s.To.Reading.AtNs)
}

func (s Span) length(fromNs, toNs int64) (float64, bool) {
	length, ok := seconds(fromNs, toNs)
	if s.most > 0 {
		length = min(length, s.most)
	}
	return length, ok
}

// Metered reports the span's two meter readings and the seconds between them;
// false when one is missing or time did not pass.
func (s Span) Metered() (from, to *contract.Meter, length float64, ok bool) {
	from, to = s.From.Meter, s.To.Meter
	if from == nil || to == nil {
		return nil, nil, 0, false
	}
	length, ok = s.length(from.AtNs, to.AtNs)
	return from, to, length, ok
}

// SharesClock reports whether the meters of two spans read one clock: those of
// one host do. Records written before meters read the boot ID have only the
// seats, so that two seats of one host are then taken for two clocks.
func (s Span) SharesClock(other Span) bool {
	a, b := s.From.Meter, other.From.Meter
	if a == nil || b == nil || a.BootID == "" || b.BootID == "" {
		return s.Worker.Seat == other.Worker.Seat
	}
	return a.BootID == b.BootID
}

// Cores returns the CPU seconds per second of the worker's process tree.
func (s Span) Cores() (float64, bool) {
	from, to, length, ok := s.Metered()
	if !ok || to.Process.CPUNs < from.Process.CPUNs {
		return 0, false
	}
	return Growth(from.Process.CPUNs, to.Process.CPUNs) / nsPerS / length, true
}

// Elsewhere tells whether the worker stands for a server that is no process of
// its own and was not metered, or started one in whose place others answered: whatever
// is metered of the worker says nothing of that server.
func (w *Worker) Elsewhere() bool {
	if w.Ready == nil {
		return false
	}
	attached, why := w.attached()
	return !attached && w.Ready.Elsewhere || why != ""
}

// Unmetered returns why a server that the worker stands for was not metered, in a
// clause; "" for one that was, and for one that is not on the worker's host.
func (w *Worker) Unmetered() string {
	if w.Ready == nil {
		return ""
	}
	_, why := w.attached()
	return why
}

// attached tells whether the meter read a server in the worker's place at every
// edge, and why not the whole time.
func (w *Worker) attached() (always bool, why string) {
	if !w.Ready.Elsewhere {
		return false, w.against()
	}
	if w.AtReady == nil || w.AtReady.Attached == nil {
		return false, ""
	}
	if why = w.AtReady.Attached.Why; why != "" && w.Open == nil { // the marks may know better
		return true, why
	}
	if s, ok := SpanOf(w); ok {
		if from, to, _, ok := s.Metered(); ok && to.Process.CPUNs == from.Process.CPUNs {
			return true, "the processes that were taken for it spent no CPU time in the window, so they did not serve"
		}
	}
	lost := -1
	for _, edge := range []*Edge{w.Open, w.Close} {
		if edge == nil {
			continue
		}
		if edge.Meter == nil || edge.Meter.Attached == nil {
			return false, ""
		}
		a := edge.Meter.Attached
		switch {
		case a.Why != "":
			return true, a.Why
		case lost >= 0 && a.Lost != lost:
			return true, lostInWindow
		}
		lost = a.Lost
	}
	return true, ""
}

// lostInWindow says that a server's account lacks processes.
const lostInWindow = "processes of it came or ended in the window, and nobody's account holds their CPU time"

// against returns what speaks against the account of a program that the worker started: who
// else served, or that its children are in no account; "" for nothing.
func (w *Worker) against() string {
	lost := [2]int{}
	for i, edge := range []*Edge{w.Open, w.Close} {
		if edge == nil || edge.Meter == nil || edge.Meter.Attached == nil {
			continue
		}
		if edge.Meter.Attached.Why != "" {
			return edge.Meter.Attached.Why
		}
		lost[i] = edge.Meter.Attached.Lost
	}
	if w.Close != nil && lost[0] != lost[1] {
		return lostInWindow
	}
	return ""
}

// Onward returns what moved until the window's end on connections that the server which
// the worker stands for had made to others; nil where nothing is known to have moved,
// or it is less than a byte for each of so many exchanges and nothing was made anew.
func (w *Worker) Onward(exchanges float64) *contract.Onward {
	if w.Elsewhere() || w.Close == nil || w.Close.Meter == nil || w.Close.Meter.Attached == nil {
		return nil
	}
	o := w.Close.Meter.Attached.Onward
	if o == nil || o.Begun == 0 && float64(o.Bytes) < exchanges {
		return nil
	}
	return o
}

// ChoosesPath tells whether the worker's messages need not take the connections to
// the server's addresses, so that their counters say nothing of the messages.
func (w *Worker) ChoosesPath() bool { return w.Ready != nil && w.Ready.Path != nil }

// Path returns what the messages of a client went over (contract.PathTCP, …) where its
// library chose it; "" where it could not choose.
func (w *Worker) Path() string {
	if !w.ChoosesPath() {
		return ""
	}
	return w.Ready.Path.Over
}

// Polls tells whether the worker's threads are busy when there is nothing to do.
func (w *Worker) Polls() bool { return w.Ready != nil && w.Ready.Polls }

// Sizes returns the bytes of an exchange's messages: the sizes after encoding
// where the worker told them, else those of its setup, the largest where they vary; false
// without a setup.
func (w *Worker) Sizes() (up, down int64, ok bool) {
	switch {
	case w.Setup == nil:
		return 0, 0, false
	case w.Ready != nil && (w.Ready.UpBytes != 0 || w.Ready.DownBytes != 0):
		return w.Ready.UpBytes, w.Ready.DownBytes, true
	}
	return w.Setup.Exchange.UpBytes, w.Setup.Exchange.DownBytes, true
}

// MeanSizes returns the mean bytes of an exchange's messages: those of Sizes unless they
// vary; false without a setup.
func (w *Worker) MeanSizes() (up, down float64, ok bool) {
	most, largest, ok := w.Sizes()
	if up, down = float64(most), float64(largest); !ok {
		return 0, 0, false
	}
	meanUp, meanDown := w.DrawnSizes()
	return cmp.Or(meanUp, up), cmp.Or(meanDown, down), true
}

// DrawnSizes returns the mean bytes of an exchange's messages where they vary, as the worker
// told them or its setup says; 0 of a direction whose messages have one size.
func (w *Worker) DrawnSizes() (up, down float64) {
	return w.Setup.Exchange.UpMeanBytes, w.Setup.Exchange.DownMeanBytes
}

// Fills reports whether a client filled its requests with rows (option data), so that they
// have different lengths.
func (w *Worker) Fills() bool {
	data, _ := w.Setup.Options["data"].(string)
	return data != ""
}

// AnyReply reports whether a client took replies of any length (option verify).
func (w *Worker) AnyReply() bool {
	if w.Ready == nil {
		return false
	}
	switch w.Ready.Options["verify"] {
	case "status", "body", "regexp", "not-regexp", "json":
		return true
	}
	return false
}

// ResultSeconds returns the length of the worker's window by its own result,
// which must be there; false when it is not positive.
func (w *Worker) ResultSeconds() (float64, bool) {
	if w.TakenNs > 0 {
		return float64(w.TakenNs) / nsPerS, true
	}
	return seconds(w.Result.FromNs, w.Result.ToNs)
}

// Directions returns which way goodput's payload goes: the stream's way, else the way
// of the larger message. The message that asks for the payload, or confirms it, is no
// payload: of 64 B up and 1 MiB down the way is down. False without a setup.
func (w *Worker) Directions() (up, down, ok bool) {
	toServer, toClient, ok := w.MeanSizes()
	if !ok {
		return false, false, false
	}
	switch w.Setup.Exchange.Stream {
	case contract.StreamUp:
		return true, false, true
	case contract.StreamDown:
		return false, true, true
	case contract.StreamBoth:
		return true, true, true
	}
	return toServer > toClient, toServer <= toClient, true
}

// Edge is a worker's and its meter's account at one edge of the window.
type Edge struct {
	Reading  contract.Reading `json:"reading"`
	Meter    *contract.Meter  `json:"meter,omitempty"`
	AnswerNs int64            `json:"answer_ns,omitempty"` // from the mark to its answer, by the bench's clock; absent from older records
}

// nsPerS turns the clocks' nanoseconds into seconds.
const nsPerS = 1e9

func seconds(fromNs, toNs int64) (float64, bool) {
	length := Growth(fromNs, toNs) / nsPerS
	return length, length > 0
}

// Growth returns to − from of a counter. It subtracts in floating point: a
// garbled counter may be anything, and an integer difference could wrap into a
// plausible one.
func Growth(from, to int64) float64 { return float64(to) - float64(from) }
