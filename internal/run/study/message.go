package study

// encodedCodec encodes a message for which the study names no codec. Every
// transport that has codecs has this one.
const encodedCodec = "proto"

// implyCodec gives codec proto to whatever has a message and no codec: the
// whole study, or those arms or sweeps. A codec that is named stays, even
// bytes, which contradicts a message.
func (s *Study) implyCodec() {
	if _, named := s.whole("codec"); named {
		return
	}
	message, everywhere := s.whole("message")
	armed, swept := false, false // some of them name their codec
	for i := range s.Arms {
		_, named := find(s.Arms[i].Settings, "codec")
		armed = armed || named
	}
	for i := range s.Sweeps {
		swept = swept || s.Sweeps[i].sets("codec")
	}
	if everywhere && !armed && !swept {
		s.Hold = append(s.Hold, impliedCodec(message))
		return
	}
	for i := range s.Arms {
		a := &s.Arms[i]
		own, has := find(a.Settings, "message")
		if !has && everywhere && armed {
			own, has = message, true
		}
		if _, named := find(a.Settings, "codec"); has && !named && !swept {
			a.Settings = append(a.Settings, impliedCodec(own))
		}
	}
	for i := range s.Sweeps {
		w := &s.Sweeps[i]
		own, has := levelIn("message", w.Hold, w.Vary)
		if !has && everywhere && swept {
			own, has = message, true
		}
		if has && !armed && !w.sets("codec") {
			w.Hold = append(w.Hold, impliedCodec(own))
		}
	}
}

// whole returns the first level that the whole study gives a factor, by its
// hold or its vary; false when neither has it.
func (s *Study) whole(factor string) (Level, bool) { return levelIn(factor, s.Hold, s.Vary) }

func levelIn(factor string, hold []Setting, vary []Varied) (Level, bool) {
	if l, held := find(hold, factor); held {
		return l, true
	}
	for _, v := range vary {
		if v.Factor == factor {
			return v.Levels[0], true
		}
	}
	return Level{}, false
}

// impliedCodec stands where the message does that implies it.
func impliedCodec(message Level) Setting {
	l := standardLevel("codec", encodedCodec)
	l.at = message.at
	return Setting{"codec", l}
}

// forgetMessage takes out of a file what a typed message replaces: the arms'
// own messages, and the sizes that it decides unless they are typed as well.
func (n *node) forgetMessage(typed *node) {
	replaced := []string{"message"}
	for _, size := range []string{"request", "response"} {
		if !typed.sets(size) {
			replaced = append(replaced, size)
		}
	}
	for _, factor := range replaced {
		n.forget(factor)
		if arms := n.arms(); arms != nil {
			for _, a := range arms.entries {
				a.value.remove(factor)
			}
		}
	}
}
