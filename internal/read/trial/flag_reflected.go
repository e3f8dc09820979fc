package trial

import (
	"slices"
	"strings"
)

// Reflected says that a worker encoded the user's message by reflection, which costs
// more than the code that protoc generates for an application.
const Reflected = "reflected"

var flagReflected = Flag{
	Name:    Reflected,
	Changes: "codecs are not compared, and between transports of one codec the same difference is a smaller share of a larger cost",
	Warning: "encoded your message by reflection, which costs more than generated code",
	Advice:  "put Go on PATH, so that netdyno builds workers with the generated code (docs/messages.md)",
	raise: func(e *audit) string {
		var ends []string
		for _, w := range e.window.Record.Workers {
			if w.Reflected() && !slices.Contains(ends, string(w.Role)) {
				ends = append(ends, string(w.Role))
			}
		}
		if len(ends) == 0 {
			return ""
		}
		return strings.Join(ends, " and ") + " encoded its message by reflection"
	},
}
