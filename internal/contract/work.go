package contract

import "fmt"

// Work is what a server does for each exchange before the end of its reply goes out
// (CONTRACT.md, section Work).
type Work struct {
	Ns Table  `json:"ns"` // how long, drawn for each exchange
	By WorkBy `json:"by"`
}

// WorkBy says how a server spends the time of its work.
type WorkBy string

// On a CPU, or asleep.
const (
	WorkCPU   WorkBy = "cpu"
	WorkSleep WorkBy = "sleep"
)

// MostWorkNs is the longest work for an exchange, 4 s.
const MostWorkNs = 4_000_000_000

// Check reports what is wrong with a server's work; nil for what can be done.
func (w *Work) Check() error {
	if w.By != WorkCPU && w.By != WorkSleep {
		return fmt.Errorf("work.by is %q, expected cpu or sleep", w.By)
	}
	if err := w.Ns.Check(MostWorkNs); err != nil {
		return fmt.Errorf("work.ns: %w", err)
	}
	return nil
}

// Feature is what a server needs for it; "" for none.
func (w *Work) Feature() Feature {
	if w == nil {
		return ""
	}
	return Feature("work-" + w.By)
}
