package study

import (
	"fmt"

	"netdyno/internal/record"
)

// rule is a pair of factors whose levels exclude each other.
type rule struct {
	a, b   string
	clash  func(a, b Level) bool
	reason string
}

var rules = []rule{
	{"message", "codec", func(_, b Level) bool { return b.Text == rawCodec },
		"bytes are random content of the sizes request and response; a message needs proto, json or json-fast"},
	{"request", "message", func(a, _ Level) bool { return explicit(a) },
		"the message and its codec decide the size"},
	{"response", "message", func(a, _ Level) bool { return explicit(a) },
		"the message and its codec decide the size"},
	{"request", WorkloadFactor, func(a, _ Level) bool { return explicit(a) },
		"the workload's classes say the sizes"},
	{"response", WorkloadFactor, func(a, _ Level) bool { return explicit(a) },
		"the workload's classes say the sizes"},
	{"codec", WorkloadFactor, func(a, _ Level) bool { return a.Text != rawCodec },
		"a workload's classes say their own codecs and messages"},
	{"stream", WorkloadFactor, func(a, _ Level) bool { return streams(a) },
		"a workload's classes say their own streams"},
	{"stream", "codec", func(a, b Level) bool { return streams(a) && b.Text != rawCodec },
		"a stream cuts bytes into chunks; messages are not cut"},
	{"chunk", "stream", func(_, b Level) bool { return !streams(b) },
		"a message that is not streamed travels whole"},
	{"every", "stream", func(a, b Level) bool { return positive(a) && b.Text != "down" },
		"only a server that streams down is paced"},
	{"stream", "request", func(a, b Level) bool { return (a.Text == "up" || a.Text == "both") && !positive(b) },
		"nothing would be streamed up"},
	{"stream", "response", func(a, b Level) bool { return (a.Text == "down" || a.Text == "both") && !positive(b) },
		"nothing would be streamed down"},
	{"stream", "request", func(a, b Level) bool { return streams(a) && vary(b) },
		"messages of several sizes travel whole"},
	{"stream", "response", func(a, b Level) bool { return streams(a) && vary(b) },
		"messages of several sizes travel whole"},
	{"rate", "arrival", func(a, b Level) bool { return explicit(a) && positive(b) },
		"its rates are its own"},
	{"rate", "arrival", func(a, b Level) bool { return explicit(a) && fromFile(b) },
		"its times are its own; speed replays them faster"},
	{"amount", "arrival", func(a, b Level) bool { return positive(a) && fromFile(b) },
		"a trial replays times for its window"},
	{"think", "arrival", func(a, b Level) bool { return positive(a) && (positive(b) || fromFile(b)) },
		"an open loop follows its schedule and does not think"},
	{"work.by", "work", func(a, b Level) bool { return explicit(a) && !positive(b) },
		"the server does no work"},
	{"rate", "think", func(a, b Level) bool { return positive(a) && positive(b) },
		"an open loop follows its schedule and does not think"},
	{"rate", "amount", func(a, b Level) bool { return isShare(a.Text) && positive(b) },
		"how long an amount takes at a share is not known before the run"},
	{record.RateOf, "rate", func(_, b Level) bool { return !isShare(b.Text) },
		"the rate is no share of another"},
	{"amount", "window", func(a, b Level) bool { return positive(a) && explicit(b) },
		"a trial ends after an amount or after a window"},
	{"inflight", "fresh", func(a, b Level) bool { return a.Value > 1 && positive(b) },
		"a connection per exchange carries one exchange"},
	{"resumption", "tls", func(a, b Level) bool { return positive(a) && !positive(b) },
		"without TLS there is no session to resume"},
	{"resumption", "fresh", func(a, b Level) bool { return positive(a) && !positive(b) },
		"connections that stay open resume nothing"},
	{"connections", "clients", func(a, b Level) bool { return a.Value < b.Value },
		"every client process needs a connection"},
	{"active", "connections", func(a, b Level) bool { return a.Value*b.Value < 1 },
		"no connection would carry load"},
}

// check refuses a design that contradicts itself, naming both positions. Every
// combination is run, so one bad pair of levels is enough.
func (d *design) check() error {
	for _, arm := range d.armsOrNone() {
		if err := d.checkEnds(arm); err != nil {
			return err
		}
		for _, r := range rules {
			if err := d.checkRule(arm, r); err != nil {
				return err
			}
		}
		if err := d.checkMessage(arm); err != nil {
			return err
		}
		if err := d.checkOptions(arm); err != nil {
			return err
		}
	}
	return nil
}

// checkMessage demands a message for a codec that encodes one.
func (d *design) checkMessage(arm *Arm) error {
	if d.choices(arm, "message") != nil {
		return nil
	}
	for _, l := range d.choices(arm, "codec") {
		if l.Text != rawCodec {
			return Errorf(l.At, "codec=%s has no message to encode; expected message=simple, complex or FILE.proto:pkg.Type:DATA.json, or codec=%s", l.Text, rawCodec)
		}
	}
	return nil
}

func (d *design) checkRule(arm *Arm, r rule) error {
	for _, a := range d.choices(arm, r.a) {
		for _, b := range d.choices(arm, r.b) {
			if !r.clash(a, b) {
				continue
			}
			one, other := fmt.Sprintf("%s=%s", r.a, a.Text), fmt.Sprintf("%s=%s", r.b, b.Text)
			from, to := a.At, b.At
			if !explicit(a) {
				one, other, from, to = other, one, to, from
			}
			if from == nil {
				from = d.at
			}
			return Errorf(from, "%s contradicts %s (%s): %s", one, other, where(to), r.reason)
		}
	}
	return nil
}

// checkEnds demands both ends, named by one factor or by two.
func (d *design) checkEnds(arm *Arm) error {
	both, server, client := d.choices(arm, "transport"), d.choices(arm, "server"), d.choices(arm, "client")
	here, whose := d.at, ""
	if arm != nil {
		here, whose = arm.At, "arm "+arm.Name+": "
	}
	for _, end := range []struct {
		name   string
		levels []Level
	}{{"server", server}, {"client", client}} {
		switch {
		case both != nil && end.levels != nil:
			return Errorf(both[0].At, "transport contradicts %s (%s): transport names both ends at once", end.name, where(end.levels[0].At))
		case both == nil && end.levels == nil && len(server)+len(client) > 0:
			return Errorf(here, "%sthe %s is missing; name it, or write transport for both ends", whose, end.name)
		case both == nil && end.levels == nil:
			return Errorf(here, "%sno transport is named; expected transport, or server and client", whose)
		}
	}
	return nil
}

// checkOptions refuses an option that is set for both ends and again for one.
func (d *design) checkOptions(arm *Arm) error {
	given := map[string]Position{}
	for _, h := range d.hold {
		given[h.Factor] = h.Level.At
	}
	for _, v := range d.vary {
		given[v.Factor] = v.At
	}
	if arm != nil {
		for _, x := range arm.Settings {
			given[x.Factor] = x.Level.At
		}
	}
	for _, factor := range sortedKeys(given) {
		name, end := optionOf(factor)
		if general, twice := given[OptionPrefix+name]; end != "" && twice {
			return Errorf(given[factor], "%s contradicts %s%s (%s): the latter sets both ends", factor, OptionPrefix, name, where(general))
		}
	}
	return nil
}
