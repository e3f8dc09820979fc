package metric

import (
	"strings"

	"netdyno/internal/events"
	"netdyno/internal/record"
)

// EventsPerS is the rate of events over all replies.
const EventsPerS = "events_per_s"

// OfEvents are the metrics of replies in events that users know them by.
func OfEvents() []string {
	return []string{
		PercentileName(record.FirstEvent, "p50"), PercentileName(record.FirstEvent, "p99"),
		PercentileName(record.Gap, "p50"), PercentileName(record.Gap, "p99"), EventsPerS,
	}
}

// CalledOf is what users of one kind of events call a metric: those of a chat are tokens.
func CalledOf(kind, name string) string {
	label := Shown(name).Label
	if kind == string(events.Chat) {
		label = strings.NewReplacer("event", "token", "gap", "token gap").Replace(label)
	}
	return label
}

// ResumedShare is the share of TLS handshakes that resumed a session.
const ResumedShare = "resumed_share"

// Stages are those of an exchange that clients tell, in their order, by kind of time.
var Stages = []string{record.Connect, record.Handshake, record.FirstByte}

// OfStages are the metrics of stages that users know them by.
func OfStages() (all []string) {
	for _, kind := range Stages {
		all = append(all, PercentileName(kind, "p50"), PercentileName(kind, "p99"))
	}
	return append(all, ResumedShare)
}

// stageMetrics are about stages of exchanges, where clients tell these.
func stageMetrics() []Metric {
	return append(timesOf(
		timed{record.Connect, "connect", "time to connect, of new connections: the transport's connection was there − it was begun"},
		timed{record.Handshake, "TLS handshake", "time of the TLS handshake, of new connections: TLS was there − the connection was; with QUIC, − it was begun"},
		timed{record.FirstByte, "first byte", "time to the first byte: the reply's first byte − the moment when the request was due"},
	), Metric{
		Name: ResumedShare, Unit: "share", Better: Higher, Label: "resumed", Doc: "share of the TLS handshakes of new connections that resumed a session",
		Formula: "handshakes that resumed a session ÷ all handshakes of connections made in the window, over all clients; only where clients tell stages",
		in: func(w *record.Window) (float64, bool) {
			all, ok := w.Histogram(record.Handshake)
			if !ok {
				return 0, false
			}
			resumed, ok := sumOf(w, func(g *record.Worker) (float64, bool) {
				if g.Result == nil || g.Result.Stages == nil {
					return 0, false
				}
				return float64(g.Result.Stages.Resumed), true
			})
			return resumed / float64(all.Count()), ok
		},
	})
}

// eventMetrics are about replies that come in parts.
func eventMetrics() []Metric {
	return append(timesOf(
		timed{record.FirstEvent, "first event", "time to the first event: end of the reply's first event − the moment when the request was due"},
		timed{record.Gap, "gap", "gap between events: end of an event − end of the event before it in the same reply"},
	), Metric{
		Name: EventsPerS, Unit: "1/s", Better: Higher, Label: "events", Doc: "rate of events of replies",
		Formula: "events that came in the window ÷ its length by the client's clock, summed over clients; only where clients tell events",
		in: func(w *record.Window) (float64, bool) {
			return sumOf(w, func(g *record.Worker) (float64, bool) {
				if g.Result == nil || g.Result.Events == nil {
					return 0, false
				}
				seconds, ok := g.ResultSeconds()
				return float64(g.Result.Events.Count) / seconds, ok
			})
		},
	})
}
