package record

import (
	"slices"
	"strings"
)

// Loopback is the interface that counts every packet as sent and as received.
const Loopback = "lo"

// BusiestInterface returns the interface that carried most bytes in the span;
// false when none carried any. Of two that carried the same, the first by name,
// so that the same record gives the same figure.
func (s Span) BusiestInterface() (name string, ok bool) {
	from, to, _, ok := s.Metered()
	if !ok {
		return "", false
	}
	most := 0.0
	for _, after := range to.Interfaces {
		before, known := from.Interfaces.Of(after.Name)
		carried := Growth(before.ReceivedBytes, after.ReceivedBytes) + Growth(before.SentBytes, after.SentBytes)
		if known && carried > most {
			name, most = after.Name, carried
		}
	}
	return name, most > 0
}

// Link names the interfaces that carried the clients' traffic, "seat/eth0",
// sorted and without repeats: trials of the same name crossed the same link.
// False when a client's is not known, or is loopback, which is no link but
// CPU time.
func (w *Window) Link() (string, bool) {
	var names []string
	for _, g := range w.Generators() {
		span, ok := w.Span(g)
		if !ok {
			return "", false
		}
		name, ok := span.BusiestInterface()
		if !ok || name == Loopback {
			return "", false
		}
		names = append(names, g.Seat+"/"+name)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " "), len(names) > 0
}
