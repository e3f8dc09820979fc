package study

import (
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// DefaultMargin is the ratio below which a difference is none (specification §6.3).
const DefaultMargin = 0.02

// Complete adds what the levels of a study imply, compares what it most probably
// asks about, and refuses contradictions. Only Name, Question, the levels, the
// blocks, Capacity, Probes, Seed and At are set before.
func (s *Study) Complete() error {
	s.implyCodec()
	s.Compare.Factor = s.likelyCompared()
	for _, check := range []func() error{s.checkTwice, s.checkAuto, s.CheckCompared, s.checkMesh, s.CheckSize, s.distinctSweeps} {
		if err := check(); err != nil {
			return err
		}
	}
	designs := s.designs()
	for _, d := range designs {
		if err := d.check(); err != nil {
			return err
		}
	}
	s.Compare.Margin, s.Compare.Primary = DefaultMargin, likelyPrimary(designs)
	if s.Capacity != nil {
		return s.checkCapacity(designs)
	}
	return checkArrival(designs)
}

// likelyCompared is the factor that a study most probably asks about. Who names
// two builds asks what changed between them, whatever else varies; of one arm nothing is
// asked but what varies beside it.
func (s *Study) likelyCompared() string {
	likely := []string{"build", ArmFactor, record.PathFactor, record.NetworkFactor, "transport", "server", "client"}
	for _, least := range []int{2, 1} {
		for _, name := range likely {
			if v := FindVaried(s.Vary, name); v != nil && len(v.Levels) >= least {
				return name
			}
		}
	}
	if len(s.Vary) > 0 && !s.Mesh { // whose pairs of hosts are cells
		return s.Vary[0].Factor
	}
	if _, ok := Find(s.Hold, "transport"); ok {
		return "transport"
	}
	return "server"
}

// likelyPrimary keeps the family of primary comparisons small: at an equal
// offered rate cost and response time differ, in a closed loop the rate does;
// of streams one asks for bytes, whatever an exchange of theirs is.
func likelyPrimary(designs []*design) []string {
	closed, open := loops(designs)
	streamed := !slices.ContainsFunc(allLevels(designs, "stream"), func(l Level) bool { return !streams(l) })
	switch {
	case streamed:
		return []string{metric.Goodput, metric.OfClient + metric.CPUPerGB, metric.OfServer + metric.CPUPerGB}
	case open && !closed:
		return []string{metric.OfServer + metric.CPUPerExchange, metric.ResponseP99}
	}
	return []string{metric.ExchangesPerS, metric.OfServer + metric.CPUPerExchange}
}

// encodedCodec encodes a message for which the study names no codec. Every
// transport that has codecs has this one.
const encodedCodec = "proto"

// implyCodec gives codec proto to whatever has a message and no codec: the
// whole study, or those arms or sweeps. A codec that is named stays, even
// bytes, which contradicts a message.
func (s *Study) implyCodec() {
	if _, named := levelIn("codec", s.Hold, s.Vary); named {
		return
	}
	message, everywhere := levelIn("message", s.Hold, s.Vary)
	armed, swept := false, false // some of them name their codec
	for i := range s.Arms {
		_, named := Find(s.Arms[i].Settings, "codec")
		armed = armed || named
	}
	for i := range s.Sweeps {
		swept = swept || s.Sweeps[i].Sets("codec")
	}
	if everywhere && !armed && !swept {
		s.Hold = append(s.Hold, impliedCodec(message))
		return
	}
	for i := range s.Arms {
		a := &s.Arms[i]
		own, has := Find(a.Settings, "message")
		if !has && everywhere && armed {
			own, has = message, true
		}
		if _, named := Find(a.Settings, "codec"); has && !named && !swept {
			a.Settings = append(a.Settings, impliedCodec(own))
		}
	}
	for i := range s.Sweeps {
		w := &s.Sweeps[i]
		own, has := levelIn("message", w.Hold, w.Vary)
		if !has && everywhere && swept {
			own, has = message, true
		}
		if has && !armed && !w.Sets("codec") {
			w.Hold = append(w.Hold, impliedCodec(own))
		}
	}
}

// levelIn returns the first level that a hold or a vary gives a factor; false
// when neither has it.
func levelIn(factor string, hold []Setting, vary []Varied) (Level, bool) {
	if l, held := Find(hold, factor); held {
		return l, true
	}
	if v := FindVaried(vary, factor); v != nil {
		return v.Levels[0], true
	}
	return Level{}, false
}

// impliedCodec is positioned where the message is that implies it.
func impliedCodec(message Level) Setting {
	l := standardLevel("codec", encodedCodec)
	l.At = message.At
	return Setting{Factor: "codec", Level: l, At: message.At}
}
