package record

import "netdyno/internal/contract"

// Asked is how many requests a command sent to an arm's server before it opened the run:
// trials account for their own.
type Asked struct {
	Arm    string `json:"arm"`
	Probe  int64  `json:"probe"`            // to learn how it is to be asked
	Client int64  `json:"client,omitempty"` // by the chosen client, to see whether it can
	Untold bool   `json:"untold,omitempty"` // it could not, and does not tell what it had sent until then
}

// Sent returns how many requests the trial's clients sent; false where a client that had
// its setup does not tell.
func (r *Record) Sent() (sent contract.Sent, known bool) {
	known = true
	for i := range r.Workers {
		w := &r.Workers[i]
		if w.Role == contract.Server || w.Setup == nil {
			continue
		}
		told := w.sent()
		if told == nil {
			known = false
			continue
		}
		sent = sent.Plus(*told)
	}
	return sent, known
}

// sent is what a client says that it sent; nil for nothing.
func (w *Worker) sent() *contract.Sent {
	if w.Result != nil {
		return w.Result.Sent
	}
	for _, e := range w.Errors {
		if e.Fatal && e.Sent != nil {
			return e.Sent
		}
	}
	return nil
}
