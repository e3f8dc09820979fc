package study

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
