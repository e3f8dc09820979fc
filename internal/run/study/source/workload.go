package source

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/run/study"
	"netdyno/internal/run/workload"
)

// The keys of a workload file, and of its classes.
var (
	workloadKeys = []string{"classes", "keys", "trace"}
	classKeys    = []string{"name", "weight", "method", "path", "status", "request", "response", "body", "deadline", "think"}
)

const mostName = 60

// WorkloadFile is a workload file as it was read. Trace is the file of recorded traffic
// that it names, as it stands there; the classes say what of that traffic's is different
// then, by name.
type WorkloadFile struct {
	workload.Workload
	Trace   string
	TraceAt study.Position
	Changes []ClassChange
	Bodies  []Body // of the classes that say one
}

// Body is what the requests of a class carry: a text, of gRPC a message as JSON. @FILE
// names a file beside the workload's, with its directory then.
type Body struct {
	Class int
	Text  string
	At    study.Position
}

// ClassChange is what a file says of a class of recorded traffic.
type ClassChange struct {
	contract.Class
	At study.Position
}

// ReadWorkload reads a workload file. The error names its line and column.
func ReadWorkload(name string, data []byte) (WorkloadFile, error) {
	var w WorkloadFile
	root, err := readYAML(name, data, workloadKeys)
	if err != nil {
		return w, err
	}
	if err := root.mappingOf(workloadKeys); err != nil {
		return w, err
	}
	if w.Keys, w.Zipf, err = readKeys(root.entryOf("keys")); err != nil {
		return w, err
	}
	trace, classes := root.entryOf("trace"), root.entryOf("classes")
	if trace != nil {
		w.TraceAt = trace.value.at
		if w.Trace, err = trace.scalarOf("the name of a file of recorded traffic"); err != nil {
			return w, err
		}
	}
	switch {
	case classes == nil && trace == nil:
		return w, root.at.errorf("there are no classes; expected classes, or trace with a file of recorded traffic")
	case classes == nil:
		return w, nil
	}
	if err := w.readClasses(*classes); err != nil {
		return w, err
	}
	if err := w.Check(); err != nil {
		return w, classes.at.errorf("classes: %s", err)
	}
	return w, nil
}

// readClasses reads the classes of a file, of which recorded traffic's have no weights.
func (w *WorkloadFile) readClasses(e entry) error {
	if e.value.kind != list || !(length{1, contract.MostClasses}).has(len(e.value.items)) {
		return e.value.at.errorf("classes: found %s; expected a list of 1 to %d classes", counted(e.value), contract.MostClasses)
	}
	var weights []weight
	for _, item := range e.value.items {
		c, err := readClass(item, w.Keys != nil)
		if err != nil {
			return err
		}
		if body := item.entryOf("body"); body != nil {
			w.Bodies = append(w.Bodies, Body{len(w.Classes), item.value("body").text, body.value.at})
			if c.UpBytes > 0 {
				return body.value.at.errorf("body: class %s has request, too; expected one of them", c.Name)
			}
			c.UpBytes = int64(len(item.value("body").text))
		}
		if slices.ContainsFunc(w.Classes, func(o contract.Class) bool { return o.Name == c.Name }) {
			return item.value("name").at.errorf("class %s is written twice", c.Name)
		}
		w.Classes = append(w.Classes, c)
		if w.Trace != "" {
			w.Changes = append(w.Changes, ClassChange{c, item.at})
			continue
		}
		one, err := readWeight(item, len(e.value.items))
		if err != nil {
			return err
		}
		weights = append(weights, one)
	}
	if w.Trace != "" {
		w.Classes = nil
		return nil
	}
	return endsOf(w.Classes, weights)
}

// weight is how often a class comes beside the others.
type weight struct {
	at      position
	value   float64
	percent bool
}

func readWeight(class *node, classes int) (weight, error) {
	e := class.entryOf("weight")
	if e == nil {
		if classes == 1 {
			return weight{class.at, 1, false}, nil
		}
		return weight{}, class.at.errorf("class %s has no weight; expected one such as 70%%, or a number beside those of the others", class.value("name").text)
	}
	text, err := e.scalarOf("a share such as 70%, or a number")
	if err != nil {
		return weight{}, err
	}
	w := weight{at: e.value.at, percent: strings.HasSuffix(text, "%")}
	w.value, err = strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "%")), 64)
	switch {
	case err != nil || math.IsNaN(w.value) || math.IsInf(w.value, 0):
		return w, w.at.errorf("weight: %q is no weight; expected a share such as 70%%, or a number beside those of the others", quantity.Clip(text, 40))
	case w.value <= 0:
		return w, w.at.errorf("weight: %q: the class would never come; expected more than 0, or no such class", quantity.Clip(text, 40))
	}
	return w, nil
}

// endsOf gives the classes their ends. Shares in percent add to 100; numbers need not.
func endsOf(classes []contract.Class, weights []weight) error {
	values, sum := make([]float64, len(weights)), 0.0
	for i, w := range weights {
		if w.percent != weights[0].percent {
			return w.at.errorf("weight: some are in %% and some are plain numbers; expected one or the other")
		}
		values[i] = w.value
		sum += w.value
	}
	last := weights[len(weights)-1]
	if last.percent && math.Abs(sum-100) > 1e-6 {
		return last.at.errorf("weight: all weights add to %s%%; expected 100%%, or plain numbers, which may add to anything", strconv.FormatFloat(sum, 'g', 10, 64))
	}
	if err := workload.Ends(classes, values); err != nil {
		return last.at.errorf("weight: %s", err)
	}
	return nil
}

// readKeys reads what stands for {key} in paths; nothing of a file without keys.
func readKeys(e *entry) (contract.Table, *workload.Zipf, error) {
	if e == nil {
		return nil, nil, nil
	}
	if err := e.value.mappingOf([]string{"zipf"}); err != nil {
		return nil, nil, err
	}
	law := e.value.entryOf("zipf")
	if law == nil {
		return nil, nil, e.value.at.errorf("keys: nothing is said of them; expected {zipf: {n: 1000, s: 1}}")
	}
	if err := law.value.mappingOf([]string{"n", "s"}); err != nil {
		return nil, nil, err
	}
	z := workload.Zipf{S: 1}
	for _, of := range law.value.entries {
		text, err := of.scalarOf("a number")
		if err != nil {
			return nil, nil, err
		}
		if of.key == "n" {
			z.N, err = quantity.ParseCount(text)
		} else {
			z.S, err = strconv.ParseFloat(text, 64)
		}
		if err != nil {
			return nil, nil, of.value.at.errorf("%s: %q is not a number", of.key, quantity.Clip(text, 40))
		}
	}
	const mostKeys, mostSkew = 1_000_000_000, 10
	switch {
	case z.N < 1 || z.N > mostKeys:
		return nil, nil, law.value.at.errorf("zipf: n is %d; expected 1 to %d keys", z.N, mostKeys)
	case !(z.S >= 0 && z.S <= mostSkew):
		return nil, nil, law.value.at.errorf("zipf: s is %v; expected 0 (all keys alike) to %d", z.S, mostSkew)
	}
	return z.Table(), &z, nil
}

// Change enters what a workload file says of classes of recorded traffic.
func (w WorkloadFile) Change(classes []contract.Class) error {
	names := make([]string, len(classes))
	for i, c := range classes {
		names[i] = c.Name
	}
	for _, change := range w.Changes {
		i := slices.Index(names, change.Name)
		if i < 0 {
			return study.Errorf(change.At, "the recorded traffic has no class %q; %s", change.Name, quantity.Hint(change.Name, names))
		}
		if change.UpBytes > 0 || change.DownBytes > 0 {
			return study.Errorf(change.At, "class %s: request and response are as they were recorded; expected method, path, status or deadline", change.Name)
		}
		if change.ThinkNs > 0 {
			return study.Errorf(change.At, "class %s: recorded traffic comes at its own times and does not think; expected method, path, status or deadline", change.Name)
		}
		c := &classes[i]
		if change.Method != "" {
			c.Method = change.Method
		}
		if change.Path != "" {
			c.Path = change.Path
		}
		if change.Status != 0 {
			c.Status = change.Status
		}
		c.DeadlineNs = change.DeadlineNs
	}
	return nil
}
