package record

import "strings"

// builtInMessages is the protobuf package of the messages that come with
// netdyno. Every worker has generated code for them.
const builtInMessages = "netdyno.v1."

// Reflected reports whether the worker encoded a message of the user's own as
// protobuf without code generated for it: by reflection, which costs more than
// what an application does. JSON codecs work on ordinary structs and are never
// reflected. A worker that does not say what it did is taken to reflect: none
// could do anything else before there was a field to say it in.
func (w *Worker) Reflected() bool {
	if w.Setup == nil || w.Setup.Exchange.Message == nil || w.Setup.Exchange.Codec != "proto" {
		return false
	}
	if w.Ready == nil || w.Ready.Foreign || w.Ready.Generated {
		return false
	}
	m := w.Setup.Exchange.Message
	return !strings.HasPrefix(m.Up.Type, builtInMessages) || !strings.HasPrefix(m.Down.Type, builtInMessages)
}
