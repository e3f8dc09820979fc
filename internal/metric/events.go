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

// eventMetrics are about replies that come in parts, and the first byte of any reply.
func eventMetrics() []Metric {
	return append(timesOf(
		timed{record.FirstByte, "first byte", "time to the first byte: the reply's first byte − the moment when the request was due"},
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
