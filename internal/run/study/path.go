package study

import (
	"errors"
	"fmt"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// ownHop begins a hop that is a command line of the user's, which may hold any sign and so
// ends the path.
const ownHop = "exec:"

// maxHops bounds the hops of a path.
const maxHops = 4

// Hop is one program between clients and server.
type Hop struct {
	Transport string // that a worker has in role hop; "" for the user's own
	Own       bool   // it is started by Command
	Command   string
}

// Path is what lies between clients and server, from the clients on. Given tells that the
// study speaks of a path, so that the CPUs of a hop are kept free where there is none.
type Path struct {
	Hops  []Hop
	Given bool
}

// readPath reads a level of factor path: direct, or hops joined by +.
func readPath(text string) (Level, error) {
	if err := CheckText(text); err != nil {
		return Level{}, err
	}
	p := pathOf(text)
	if len(p.Hops) > maxHops {
		return Level{}, fmt.Errorf("%d hops in a row; expected at most %d", len(p.Hops), maxHops)
	}
	for _, h := range p.Hops {
		switch {
		case h.Transport == record.Direct:
			return Level{}, errors.New("direct is a path without hops, and stands alone")
		case h.Own && strings.TrimSpace(h.Command) == "":
			return Level{}, errors.New("exec: needs the command line of a hop, such as exec:socat TCP-LISTEN:{port},fork TCP:{upstream}")
		case !h.Own && !transportName().MatchString(h.Transport):
			return Level{}, fmt.Errorf("%q is no hop; expected %s, hops joined by + such as nginx+envoy, or exec:COMMAND", quantity.Clip(h.Transport, 40), record.Direct)
		}
	}
	return Level{Text: text}, nil
}

// pathOf takes a level of factor path apart; the level was read before.
func pathOf(level string) Path {
	if level == "" || level == record.Direct {
		return Path{Given: level != ""}
	}
	p := Path{Given: true}
	for more := true; more; {
		if command, own := strings.CutPrefix(level, ownHop); own {
			p.Hops = append(p.Hops, Hop{Own: true, Command: command})
			break
		}
		var name string
		name, level, more = strings.Cut(level, "+")
		p.Hops = append(p.Hops, Hop{Transport: name})
	}
	return p
}
