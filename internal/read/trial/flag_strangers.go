package trial

import "fmt"

// Strangers says that somebody else connected to the server, which refused that.
const Strangers = "strangers"

var flagStrangers = Flag{
	Name:    Strangers,
	Changes: "the server's costs include the refusing of connections from others",
	Warning: "refused connections from addresses that are none of the clients'",
	Advice:  "find out who connects from there, or measure where nobody else reaches the server's address",
	raise: func(e *audit) string {
		n, first := int64(0), ""
		for _, w := range e.window.Record.Workers {
			if w.Result != nil && w.Result.Counts.Strangers != nil {
				n += w.Result.Counts.Strangers.Connections
				first = w.Result.Counts.Strangers.First
			}
		}
		if n <= 0 {
			return ""
		}
		return fmt.Sprintf("the server refused %d connections from others, the first from %.45s", n, first)
	},
}
