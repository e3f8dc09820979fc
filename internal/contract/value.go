package contract

import (
	"fmt"
	"slices"
)

// count is one figure of a message that nothing honest can put below 0.
type count struct {
	field string
	value int64
}

// wrongValue names the first count of a message that is below 0, "" when there
// is none. A reader that let it pass would subtract where it should add.
func (m *Message) wrongValue() string {
	for _, c := range m.counts() {
		if c.value < 0 {
			return fmt.Sprintf("%s is %d, expected 0 or more", c.field, c.value)
		}
	}
	return ""
}

func (m *Message) counts() []count {
	switch {
	case m.Ready != nil:
		r := m.Ready
		return []count{
			{"ready.connections", int64(r.Connections)},
			{"ready.verified", int64(r.Verified)},
			{"ready.threads", int64(r.Threads)},
			{"ready.up_bytes", r.UpBytes},
			{"ready.down_bytes", r.DownBytes},
		}
	case m.Mark != nil && m.Mark.Reading != nil:
		return m.Mark.Reading.Counts.counts("mark.reading.counts.")
	case m.Tick != nil:
		return m.Tick.counts()
	case m.Part != nil:
		return m.Part.Result.counts()
	case m.Result != nil:
		return m.Result.counts()
	case m.Error != nil && m.Error.Sent != nil:
		return m.Error.Sent.counts("error.sent.")
	}
	return nil
}

func (t *Tick) counts() []count {
	all := []count{
		{"tick.exchanges", t.Exchanges},
		{"tick.received_bytes", t.ReceivedBytes},
		{"tick.errors", t.Errors},
	}
	if times := t.Times; times != nil {
		all = append(all,
			count{"tick.times.count", times.Count},
			count{"tick.times.p50_ns", times.P50Ns},
			count{"tick.times.p99_ns", times.P99Ns},
			count{"tick.times.max_ns", times.MaxNs})
	}
	return all
}

func (r *Result) counts() []count {
	all := slices.Concat(r.Counts.counts("result.counts."), []count{
		{"result.drained", r.Drained},
		{"result.unfinished", r.Unfinished},
		{"result.over_max", r.OverMax},
	})
	if a := r.Arrivals; a != nil {
		all = append(all,
			count{"result.arrivals.gaps", a.Gaps},
			count{"result.arrivals.sum_ns", a.SumNs},
			count{"result.arrivals.stretch_ns", a.StretchNs})
	}
	for _, reason := range r.Reasons {
		all = append(all, count{"result.reasons.count", reason.Count})
	}
	if in := r.Inside; in != nil {
		all = append(all, count{"result.inside.idle_ns", in.IdleNs})
	}
	if r.Sent != nil {
		all = append(all, r.Sent.counts("result.sent.")...)
	}
	return all
}

func (s *Sent) counts(prefix string) []count {
	return []count{
		{prefix + "verify", s.Verify},
		{prefix + "before", s.Before},
		{prefix + "window", s.Window},
		{prefix + "drain", s.Drain},
		{prefix + "again", s.Again},
	}
}

func (c Counts) counts(prefix string) []count {
	all := []count{
		{prefix + "exchanges", c.Exchanges},
		{prefix + "sent_bytes", c.SentBytes},
		{prefix + "received_bytes", c.ReceivedBytes},
		{prefix + "connections", c.Connections},
		{prefix + "redialled", c.Redialled},
	}
	for kind, n := range c.Errors {
		all = append(all, count{prefix + "errors." + string(kind), n})
	}
	if c.Strangers != nil {
		all = append(all, count{prefix + "strangers.connections", c.Strangers.Connections})
	}
	return all
}

// Check reports a count of a result that is below 0, for readers of records that
// were kept before Parse refused it; nil when there is none.
func (r *Result) Check() error {
	m := Message{Result: r}
	if wrong := m.wrongValue(); wrong != "" {
		return fmt.Errorf("check a result: %s", wrong)
	}
	return nil
}
