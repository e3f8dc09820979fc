package trial

import "fmt"

// Reconnected says that connections ended between exchanges and were opened again, so
// not all connections of the window are those that were verified.
const Reconnected = "reconnected"

var flagReconnected = Flag{
	Name:    Reconnected,
	Changes: "times and costs include connecting anew, and not every connection was verified",
	Warning: "reopened connections that had ended between exchanges",
	Advice:  "raise the server's keep-alive timeout and its requests per connection: HTTP/1.1 lets both ends close after a reply, HTTP/2 lets a server leave (GOAWAY)",
	raise: func(e *audit) string {
		n := int64(0)
		for _, g := range e.generators {
			if g.Result != nil && g.Setup != nil && !g.Setup.Load.Fresh {
				n += g.Result.Counts.Redialled
			}
		}
		if n <= 0 {
			return ""
		}
		return fmt.Sprintf("%d connections ended between exchanges and were opened again", n)
	},
}
