package trial

import (
	"fmt"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// Onward says that a server which ran before the run asked others while it served, so
// its CPU and memory are not all that an exchange took.
const Onward = "onward"

var flagOnward = Flag{
	Name:    Onward,
	Changes: "the server's CPU and memory are not all that an exchange took",
	Warning: "had a server that asked others while it served",
	Advice:  "measure what lies behind it by its own URL, or run it as server=exec, which counts all that a command starts",
	raise: func(e *audit) string {
		for w := range e.workers() {
			if text := AskedOnward(e.window.Record, w); text != "" {
				return text
			}
		}
		return ""
	},
}

// AskedOnward says whom a server which ran before the run asked while it served, as far
// as that was seen: "nginx asked 127.0.0.1:9000 while it served (3 connections, at least
// 2.10 MB)"; "" where nobody.
func AskedOnward(r *record.Record, server *record.Worker) string {
	exchanges := int64(0)
	for _, g := range record.NewWindow(r).Generators() {
		if g.Result != nil {
			exchanges += g.Result.Counts.Exchanges
		}
	}
	o := server.Onward(float64(exchanges))
	if o == nil {
		return ""
	}
	return fmt.Sprintf("%s asked %s while it served (%s, at least %s)", strings.Join(server.Close.Meter.Attached.Names, ", "),
		strings.Join(o.To, ", "), quantity.Plural(o.Connections, "connection"), quantity.FormatBytes(float64(o.Bytes)))
}
