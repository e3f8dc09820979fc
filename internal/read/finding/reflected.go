package finding

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/record"
)

// reflected: a worker encoded the user's message by reflection, which costs
// more than the code that protoc generates for an application.
func (e *trialAudit) reflected() (flag, why string) {
	var ends []string
	for _, w := range e.window.Record.Workers {
		if w.Reflected() && !slices.Contains(ends, string(w.Role)) {
			ends = append(ends, string(w.Role))
		}
	}
	if len(ends) == 0 {
		return "", ""
	}
	return Reflected, fmt.Sprintf("%s encoded its message by reflection", strings.Join(ends, " and "))
}

// refuseReflection returns why two arms may not be judged when one of them
// encodes a message by reflection, "" when they may: what reflection costs is a
// property of neither codec. Where both do so with one codec it costs both the
// same. What crosses the link is the same bytes either way.
func (s *dataset) refuseReflection(b *pending) string {
	arm, base := s.reflects(b.Cell, b.Arm), s.reflects(b.Cell, b.Base)
	switch {
	case arm == "" && base == "" || strings.HasPrefix(b.Metric, "link_"):
		return ""
	case arm != "" && base != "" && s.codec(b.Cell, b.Arm) == s.codec(b.Cell, b.Base):
		return ""
	}
	who, message, against := b.Arm, arm, b.Base
	if arm == "" {
		who, message, against = b.Base, base, b.Arm
	}
	return fmt.Sprintf("%s encodes %s by reflection, which costs more than generated code, and %s does not; "+
		"with Go on PATH netdyno builds workers that have the generated code", who, message, against)
}

// reflects returns the message type that an arm's trials encoded by
// reflection, "" when none did.
func (s *dataset) reflects(cell, arm string) string {
	for _, v := range s.of(cell, arm) {
		if v.record == nil || !slices.Contains(v.trial.Flags, Reflected) {
			continue
		}
		for i := range v.record.Workers {
			if w := &v.record.Workers[i]; w.Reflected() {
				return messageTypes(w)
			}
		}
	}
	return ""
}

// messageTypes names the types of both directions, once where they are one.
func messageTypes(w *record.Worker) string {
	up, down := w.Setup.Exchange.Message.Up.Type, w.Setup.Exchange.Message.Down.Type
	if up == down {
		return up
	}
	return up + " and " + down
}

func (s *dataset) codec(cell, arm string) string {
	if views := s.of(cell, arm); len(views) > 0 {
		return views[0].plan.Levels["codec"]
	}
	return ""
}

// reflectionWords marks the sentence of two arms that both encode by reflection.
func (s *dataset) reflectionWords(c Comparison) string {
	message := s.reflects(c.Cell, c.Arm)
	if message == "" || s.reflects(c.Cell, c.Base) == "" {
		return ""
	}
	return fmt.Sprintf(" Both encode %s by reflection.", message)
}

// encoding says how a worker encoded a message of the user's own as protobuf,
// "" where there was no choice.
func encoding(w *record.Worker) string {
	switch {
	case w.Reflected():
		return "by reflection"
	case w.Ready != nil && w.Ready.Generated:
		return "by generated code"
	}
	return ""
}
