package capacity

import (
	"strings"
	"testing"

	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

func TestATrialMeetsTheObjectiveOrNot(t *testing.T) {
	quick := []record.Bound{{Metric: "response_p99_us", Value: 5000}}
	lenient := append([]record.Bound{{Metric: trial.ErrorShare, Value: 0.01}}, quick...)
	values := func(p99, errors float64) map[string]float64 {
		return map[string]float64{"response_p99_us": p99, trial.ErrorShare: errors}
	}
	for name, c := range map[string]struct {
		objective []record.Bound
		trial     trial.Trial
		told      bool
		why       string // it contains; "" where it met the objective
	}{
		"quick":                 {quick, trial.Trial{Status: trial.Valid, Values: values(4999, 0)}, true, ""},
		"slow":                  {quick, trial.Trial{Status: trial.Valid, Values: values(5001, 0)}, true, "response p99 5.00 ms"},
		"slower than it seems":  {quick, trial.Trial{Status: trial.Valid, Values: values(10, 0), Moved: map[string]float64{"response_p99_us": 8000}}, true, "8.00 ms"},
		"behind its schedule":   {quick, trial.Trial{Status: trial.Valid, Values: values(10, 0), Flags: []string{trial.Overloaded}, Reason: "achieved 90 %"}, true, "achieved 90 %"},
		"errors":                {quick, trial.Trial{Status: trial.StatusInvalid, Errors: 3, Reason: "3 exchanges failed", Values: values(10, 0.001)}, true, "3 exchanges failed"},
		"errors that are few":   {lenient, trial.Trial{Status: trial.StatusInvalid, Errors: 3, Values: values(10, 0.001)}, true, ""},
		"errors that are many":  {lenient, trial.Trial{Status: trial.StatusInvalid, Errors: 3, Values: values(10, 0.1)}, true, "errors 10.0 %"},
		"died":                  {quick, trial.Trial{Status: trial.StatusFailed, Reason: "timeout"}, true, "timeout"},
		"counts contradict":     {quick, trial.Trial{Status: trial.StatusInvalid, Reason: "a clock jumped", Values: values(10, 0)}, false, "a clock jumped"},
		"too few exchanges":     {quick, trial.Trial{Status: trial.Valid, Values: map[string]float64{}}, false, "too few exchanges for response_p99_us, which needs 1000"},
		"it cannot do the load": {quick, trial.Trial{Status: trial.StatusUnsupported, Reason: "no open loop"}, false, "no open loop"},
	} {
		told, why := judged(c.objective, c.trial)
		if told != c.told || (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: told %t, %q; want %t, %q", name, told, why, c.told, c.why)
		}
	}
}
