package compare

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// refuseReflection returns why two arms may not be judged when one of them encodes a
// message by reflection, "" when they may: the cost of reflection is a property of
// neither codec. Two arms that both use reflection with one codec pay for it alike and
// may be judged. A ratio of bytes on the link may be judged, too: the bytes are the same
// either way.
func refuseReflection(s *cells.Dataset, b *Pending) string {
	arm, base := Reflects(s, b.Cell, b.Arm), Reflects(s, b.Cell, b.Base)
	switch {
	case arm == "" && base == "" || strings.HasPrefix(b.Metric, "link_"):
		return ""
	case arm != "" && base != "" && codec(s, b.Cell, b.Arm) == codec(s, b.Cell, b.Base):
		return ""
	}
	who, message, against := b.Arm, arm, b.Base
	if arm == "" {
		who, message, against = b.Base, base, b.Arm
	}
	return fmt.Sprintf("%s encodes %s by reflection, which costs more than generated code, and %s does not; "+
		"with Go on PATH netdyno builds workers that have the generated code", who, message, against)
}

// Reflects returns the message type that an arm's trials encoded by
// reflection, "" when none did.
func Reflects(s *cells.Dataset, cell, arm string) string {
	for _, v := range s.Of(cell, arm) {
		if v.Record == nil || !slices.Contains(v.Trial.Flags, trial.Reflected) {
			continue
		}
		for i := range v.Record.Workers {
			if w := &v.Record.Workers[i]; w.Reflected() {
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

func codec(s *cells.Dataset, cell, arm string) string {
	if judged := s.Of(cell, arm); len(judged) > 0 {
		return judged[0].Plan.Levels["codec"]
	}
	return ""
}
