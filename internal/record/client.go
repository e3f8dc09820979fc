package record

// Alone returns the window of one client without the others and the servers:
// the clients' metrics, taken from it, are that client's own. What needs the
// servers is absent.
func (w *Window) Alone(client *Worker) *Window {
	r := *w.Record
	r.Workers = []Worker{*client}
	return NewWindow(&r)
}
