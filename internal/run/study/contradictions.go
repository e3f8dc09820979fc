package study

import "fmt"

// checkPlaces refuses a factor that is set in two places: the levels of a
// trial must be plain from the study.
func (s *Study) checkPlaces() error {
	first := map[string]place{}
	for _, h := range s.Hold {
		first[h.Factor] = h.Level.at
	}
	for _, v := range s.Vary {
		if earlier, twice := first[v.Factor]; twice {
			return v.at.errorf("%s varies here and is held at %s; expected one of them", v.Factor, earlier)
		}
		first[v.Factor] = v.at
	}
	for _, a := range s.Arms {
		for _, x := range a.Settings {
			if earlier, twice := first[x.Factor]; twice {
				return x.Level.at.errorf("%s is set by arm %s here and by the whole study at %s; expected one of them", x.Factor, a.Name, earlier)
			}
		}
	}
	for i := range s.Sweeps {
		if err := s.checkSweep(&s.Sweeps[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkSweep refuses a sweep that sets a factor twice, or one that is not its
// to set. What the whole study holds it may hold or vary otherwise.
func (s *Study) checkSweep(w *Sweep) error {
	held := map[string]place{}
	for _, h := range w.Hold {
		held[h.Factor] = h.Level.at
		if v := s.varied(h.Factor); v != nil {
			return h.Level.at.errorf("sweep %s holds %s, which varies in the whole study at %s; write one of its levels under the sweep's vary", w.Name, h.Factor, v.at)
		}
	}
	set := held
	for _, v := range w.Vary {
		if earlier, twice := held[v.Factor]; twice {
			return v.at.errorf("%s varies here and is held at %s; expected one of them", v.Factor, earlier)
		}
		set[v.Factor] = v.at
	}
	for _, a := range s.Arms {
		for _, x := range a.Settings {
			if here, twice := set[x.Factor]; twice {
				return here.errorf("%s is set by sweep %s here and by arm %s at %s; expected one of them", x.Factor, w.Name, a.Name, x.Level.at)
			}
		}
	}
	return nil
}

// checkCompared demands that what is compared is the whole study's: a sweep
// may leave levels of it out, but not bring its own.
func (s *Study) checkCompared() error {
	if len(s.Sweeps) > 0 && len(s.compared().Levels) == 0 {
		return s.top.errorf("every sweep names ends of its own, so nothing is compared; write arm, transport or server under the study's own hold or vary")
	}
	for i := range s.Sweeps {
		w := &s.Sweeps[i]
		if factor := s.Compare.Factor; w.sets(factor) && s.varied(factor) == nil {
			return w.at.errorf("sweep %s sets %s, which is compared; vary it for the whole study, and under the sweep's vary name some of its levels", w.Name, factor)
		}
	}
	return nil
}

// rule is a pair of factors whose levels exclude each other.
type rule struct {
	a, b   string
	clash  func(a, b Level) bool
	reason string
}

func positive(l Level) bool { return l.value > 0 }
func explicit(l Level) bool { return l.at != place{} }
func streams(l Level) bool  { return l.Text != unstreamed }

var rules = []rule{
	{"message", "codec", func(_, b Level) bool { return b.Text == rawCodec },
		"bytes are random content of the sizes request and response; a message needs proto, json or json-fast"},
	{"request", "message", func(a, _ Level) bool { return explicit(a) },
		"the message and its codec decide the size"},
	{"response", "message", func(a, _ Level) bool { return explicit(a) },
		"the message and its codec decide the size"},
	{"stream", "codec", func(a, b Level) bool { return streams(a) && b.Text != rawCodec },
		"a stream cuts bytes into chunks; messages are not cut"},
	{"chunk", "stream", func(_, b Level) bool { return !streams(b) },
		"a message that is not streamed travels whole"},
	{"stream", "request", func(a, b Level) bool { return (a.Text == "up" || a.Text == "both") && !positive(b) },
		"nothing would be streamed up"},
	{"stream", "response", func(a, b Level) bool { return (a.Text == "down" || a.Text == "both") && !positive(b) },
		"nothing would be streamed down"},
	{"rate", "think", func(a, b Level) bool { return positive(a) && positive(b) },
		"an open loop follows its schedule and does not think"},
	{"amount", "window", func(a, b Level) bool { return positive(a) && explicit(b) },
		"a trial ends after an amount or after a window"},
	{"inflight", "fresh", func(a, b Level) bool { return a.value > 1 && positive(b) },
		"a connection per exchange carries one exchange"},
	{"connections", "clients", func(a, b Level) bool { return a.value < b.value },
		"every client process needs a connection"},
	{"active", "connections", func(a, b Level) bool { return a.value*b.value < 1 },
		"no connection would carry load"},
}

// checkSense refuses studies that contradict themselves, naming both places.
// Every combination of a study is run, so one bad pair of levels is enough.
func (s *Study) checkSense() error {
	for _, d := range s.designs() {
		if err := d.checkDesign(); err != nil {
			return err
		}
	}
	return s.checkArrival()
}

func (s *Study) checkDesign() error {
	for _, arm := range s.armsOrNone() {
		if err := s.checkEnds(arm); err != nil {
			return err
		}
		for _, r := range rules {
			if err := s.checkRule(arm, r); err != nil {
				return err
			}
		}
		if err := s.checkMessage(arm); err != nil {
			return err
		}
		if err := s.checkOptions(arm); err != nil {
			return err
		}
	}
	return nil
}

// checkMessage demands a message for a codec that encodes one.
func (s *Study) checkMessage(arm *Arm) error {
	if s.choices(arm, "message") != nil {
		return nil
	}
	for _, l := range s.choices(arm, "codec") {
		if l.Text != rawCodec {
			return l.at.errorf("codec=%s has no message to encode; expected message=simple, complex or FILE.proto:pkg.Type:DATA.json, or codec=%s", l.Text, rawCodec)
		}
	}
	return nil
}

func (s *Study) checkRule(arm *Arm, r rule) error {
	for _, a := range s.choices(arm, r.a) {
		for _, b := range s.choices(arm, r.b) {
			if !r.clash(a, b) {
				continue
			}
			one, other := fmt.Sprintf("%s=%s", r.a, a.Text), fmt.Sprintf("%s=%s", r.b, b.Text)
			from, to := a.at, b.at
			if !explicit(a) {
				one, other, from, to = other, one, to, from
			}
			if from == (place{}) {
				from = s.top
			}
			return from.errorf("%s contradicts %s (%s): %s", one, other, to, r.reason)
		}
	}
	return nil
}

// checkEnds demands both ends, named together or apart.
func (s *Study) checkEnds(arm *Arm) error {
	both, server, client := s.choices(arm, "transport"), s.choices(arm, "server"), s.choices(arm, "client")
	here, whose := s.top, ""
	if arm != nil {
		here, whose = arm.at, "arm "+arm.Name+": "
	}
	for _, end := range []struct {
		name   string
		levels []Level
	}{{"server", server}, {"client", client}} {
		switch {
		case both != nil && end.levels != nil:
			return both[0].at.errorf("transport contradicts %s (%s): transport names both ends at once", end.name, end.levels[0].at)
		case both == nil && end.levels == nil && len(server)+len(client) > 0:
			return here.errorf("%sthe %s is missing; name it, or write transport for both ends", whose, end.name)
		case both == nil && end.levels == nil:
			return here.errorf("%sno transport is named; expected transport, or server and client", whose)
		}
	}
	return nil
}

// checkOptions refuses an option that is set for both ends and again for one.
func (s *Study) checkOptions(arm *Arm) error {
	given := map[string]place{}
	for _, h := range s.Hold {
		given[h.Factor] = h.Level.at
	}
	for _, v := range s.Vary {
		given[v.Factor] = v.at
	}
	if arm != nil {
		for _, x := range arm.Settings {
			given[x.Factor] = x.Level.at
		}
	}
	for _, factor := range sortedKeys(given) {
		name, end := optionOf(factor)
		if general, twice := given[optionPrefix+name]; end != "" && twice {
			return given[factor].errorf("%s contradicts %s%s (%s): the latter sets both ends", factor, optionPrefix, name, general)
		}
	}
	return nil
}

// checkArrival refuses an arrival process that no trial would follow.
func (s *Study) checkArrival() error {
	if _, open := s.loops(); open {
		return nil
	}
	for _, d := range s.designs() {
		for _, arm := range d.armsOrNone() {
			for _, l := range d.choices(arm, "arrival") {
				if explicit(l) {
					return l.at.errorf("arrival=%s contradicts rate=%s (%s): a closed loop has no arrival process",
						l.Text, unbounded, d.choices(arm, "rate")[0].at)
				}
			}
		}
	}
	return nil
}
