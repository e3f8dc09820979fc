package record

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
	return len(w.Setup.Exchange.Message.Descriptors) > 0 // those that come with netdyno have none, and generated code in every worker
}
