package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"netdyno/internal/each"
	"netdyno/internal/head"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/curl"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
	"netdyno/internal/run/target"
	"netdyno/internal/unixsocket"
)

// said is what a run by URL said before its first measured request and after its last, for
// those who read its result elsewhere.
type said struct {
	asked []string // what is sent, a line each
	gone  []string // servers that listen no more
}

// say prints a line of what is asked, and keeps it.
func (s *said) say(line string) {
	stdout.say("%s", line)
	s.asked = append(s.asked, strings.TrimSpace(line))
}

// mostNames are the headers that a line names.
const mostNames = 12

// sayAsked says of a URL what is asked for and what came, by whom where that is not who was
// chosen first, what requests carry, and what every reply must have.
func (t urlFlags) sayAsked(asked target.Target, words curl.Request, found target.Found, instead string) {
	what := target.Shown(found.URL)
	switch {
	case t.workload != "":
		what += " as " + quantity.Clip(t.workload, 60) + " says"
	case strings.HasPrefix(found.URL.Scheme, "http"):
		what = methodOf(asked) + " " + what
	}
	if ip, _ := netip.ParseAddr(found.URL.Hostname()); !ip.IsValid() && found.At.IsValid() {
		what += " at " + found.At.String()
	}
	if t.paths != "" {
		what += ", paths of " + fileName(t.paths)
	}
	t.said.say(what + ": " + found.Words)
	if instead != "" {
		t.said.say("  " + instead)
	}
	if found.Offers && !t.HTTP3 {
		t.said.say("  offers HTTP/3: --http3 asks by it")
	}
	if found.Socket != "" {
		t.said.say("  through the Unix socket " + found.Socket + ", which has no figures of TCP")
	}
	if found.URL.Scheme == "tcp" {
		return
	}
	parts := slices.DeleteFunc([]string{t.carried(asked, found), leftOut(words), t.expected(asked, found)}, func(s string) bool { return s == "" })
	if line := "  with " + strings.Join(parts, "; "); !slices.Contains(t.said.asked, strings.TrimSpace(line)) { // of several URLs once
		t.said.say(line)
	}
}

// methodOf is the method of requests.
func methodOf(asked target.Target) string {
	switch {
	case asked.Method != "":
		return asked.Method
	case asked.Body != "":
		return "POST"
	}
	return "GET"
}

// carried names the headers, secret ones marked, and says where the body is from.
func (t urlFlags) carried(asked target.Target, found target.Found) string {
	var names []string
	for _, line := range asked.Headers {
		name, _, _ := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); head.Secret(name) {
			name += " ***"
		}
		names = append(names, name)
	}
	if more := len(names) - mostNames; more > 0 {
		names = append(names[:mostNames:mostNames], fmt.Sprintf("%d more", more))
	}
	text := "no headers of yours"
	if len(names) > 0 {
		text = quantity.And(names)
	}
	switch {
	case t.workload != "":
		return text
	case strings.HasPrefix(asked.URL, "grpc"):
		return text + ", message " + quantity.Clip(cmp.Or(asked.Data, "{}"), 60)
	case ofWebSocket(found) && found.Levels["request"] == "0B":
		return text + ", no message"
	case ofWebSocket(found):
		return text + ", messages of " + found.Levels["request"] + t.bodyFrom()
	case asked.Body == "":
		return text + ", no body"
	}
	return text + ", body of " + quantity.FormatBytes(float64(len(asked.Body))) + t.bodyFrom()
}

// ofWebSocket tells whether what is exchanged are messages of WebSocket.
func ofWebSocket(found target.Found) bool { return strings.HasPrefix(found.URL.Scheme, "ws") }

// bodyFrom says which files a body was made of; "" of one that was typed.
func (t urlFlags) bodyFrom() string {
	files := []string{fileName(t.bodyFile), fileName(t.words.Upload)}
	for _, p := range t.words.Pieces {
		if i := strings.IndexByte(p.Text, '@'); i == 0 && p.Kind != curl.Raw || i > 0 && p.Kind == curl.Encode && !strings.Contains(p.Text[:i], "=") {
			files = append(files, fileName(p.Text[i+1:]))
		}
	}
	for _, f := range t.words.Forms {
		if _, value, _ := strings.Cut(f, "="); strings.HasPrefix(value, "@") || strings.HasPrefix(value, "<") {
			value, _, _ = strings.Cut(value[1:], ";")
			files = append(files, fileName(value))
		}
	}
	files = slices.DeleteFunc(files, func(f string) bool { return f == "" })
	if len(files) == 0 {
		return ""
	}
	return " from " + quantity.And(files)
}

// fileName is a file as it was typed; - is standard input.
func fileName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return quantity.Clip(name, 60)
}

// leftOut names the headers that were given and are not sent.
func leftOut(r curl.Request) string {
	if len(r.LeftOut) == 0 {
		return ""
	}
	return "without " + quantity.And(r.LeftOut) + ", which the client makes itself"
}

// expected says what every reply must have.
func (t urlFlags) expected(asked target.Target, found target.Found) string {
	status := "status " + cmp.Or(found.Levels["opt.client.status"], "200")
	switch {
	case strings.HasPrefix(found.URL.Scheme, "grpc"):
		status = "status OK"
	case ofWebSocket(found):
		status = "a message"
	case t.workload != "":
		status = "the status of its class"
	case len(asked.Paths) > 0:
		status = "a status 2xx"
	}
	switch kind, pattern, _ := strings.Cut(asked.Expect, ":"); kind {
	case "length", "body":
		status += " and the " + kind + " of the first"
	case "", "status":
	default:
		status += " and " + kind + " " + quantity.Clip(pattern, 60)
	}
	return "every reply must have " + status
}

// willDo says in one line how a run by URL asks: by how many connections, how often, what
// becomes of failures, how long, and from where.
func willDo(s *session.Session, r *session.Run) string {
	levels := func(factor, absent string) (all []string) {
		for _, t := range r.Left {
			if level := cmp.Or(t.Levels[factor], absent); !slices.Contains(all, level) {
				all = append(all, level)
			}
		}
		return all
	}
	connections := levels("connections", "1")
	slices.SortFunc(connections, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	text := quantity.And(connections) + " connection"
	if !slices.Equal(connections, []string{"1"}) {
		text += "s"
	}
	rates, arrivals := levels("rate", ""), levels("arrival", "")
	switch {
	case s.Study.Capacity != nil:
		text += ", at rates that are searched for"
	case strings.HasPrefix(arrivals[0], "trace:"):
		text += ", when the recording says"
	case strings.HasPrefix(arrivals[0], "steps:"), strings.HasPrefix(arrivals[0], "ramp:"):
		text += ", requests/s by " + arrivals[0]
	case rates[0] == "" || rates[0] == "max":
		text += ", each asks again as soon as it is answered"
	default:
		text += ", " + quantity.And(rates) + " requests/s in all"
		if arrivals[0] != "" && arrivals[0] != "constant" {
			text += " (" + arrivals[0] + ")"
		}
	}
	if levels(study.PaceFactor, "")[0] == study.PaceCheap {
		text += ", sent with others up to " + quantity.FormatDuration(study.Gathered) + " after each was due"
	}
	if amount := levels("amount", "0"); amount[0] != "0" {
		text += ", " + quantity.And(amount) + " on each"
	}
	if fresh := levels("fresh", "no"); fresh[0] == "yes" {
		text += ", each on a new connection"
	}
	if limit := levels("deadline", ""); limit[0] != "" {
		text += ", within " + quantity.And(limit)
	}
	if limit := levels("connect_deadline", ""); limit[0] != "" {
		text += ", connected within " + quantity.And(limit)
	}
	share := levels("max_errors", "1%")[0]
	if of, err := quantity.ParseShare(share); err == nil {
		share = quantity.ChosenShare(of)
	}
	return fmt.Sprintf("%s; up to %s may fail, none is sent again; %s; %s", text, share, extent(s, r.Left), clientsOf(s))
}

// clientsOf says which CPUs the clients get, for each placement of the plan.
func clientsOf(s *session.Session) string {
	var all []string
	for _, p := range s.Placements() {
		text := "clients " + seated(s, p.Clients...)
		if len(p.Peers) > 0 && s.Roams() {
			text += ", to the server's and back as the kernel moves that"
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, "; ")
}

// ended finds which servers of a run's arms listen no more, and says so.
func (s *said) ended(arms []session.Arm) {
	for _, arm := range arms {
		if arm.Levels["opt.server.wire"] == target.WireHTTP3 {
			continue // datagrams have no listener that refuses
		}
		network, to := unixsocket.Network(arm.Levels["opt.server.address"])
		conn, err := net.DialTimeout(network, to, time.Second)
		if err == nil {
			_ = conn.Close()
		} else if errors.Is(err, syscall.ECONNREFUSED) && !slices.Contains(s.gone, to) {
			s.gone = append(s.gone, to)
		}
	}
	for _, w := range s.warnings() {
		remark(w.Text + "; " + w.Advice)
	}
}

// warnings of servers that ended during the run.
func (s *said) warnings() []record.Warning {
	return each.Of(s.gone, func(address string) record.Warning {
		return record.Warning{About: "server-ended", Text: "nothing listens on " + address + " any more: the server ended during the run", Advice: "its own log, or dmesg where the kernel ended it, says why"}
	})
}
