package source

import (
	"fmt"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/run/workload"
)

// The keys of recorded traffic's header, and of its classes.
var (
	recordedKeys = []string{"recorded", "classes"}
	countedKeys  = []string{"name", "requests", "up", "down", "most_up", "most_down", "method", "status"}
)

// ReadRecorded reads the header of recorded traffic: its classes, which have no weights,
// because each request says its own.
func ReadRecorded(name string, header []byte) (workload.Workload, error) {
	var w workload.Workload
	root, err := readYAML(name, header, recordedKeys)
	if err != nil {
		return w, err
	}
	if err := root.mappingOf(recordedKeys); err != nil {
		return w, err
	}
	if version := root.value("recorded", "version"); version.text != "1" {
		return w, version.at.errorf("recorded traffic of version %q; expected 1", quantity.Clip(version.text, 20))
	}
	e := root.entryOf("classes")
	if e == nil || e.value.kind != list || !(length{1, contract.MostClasses}).has(len(e.value.items)) {
		return w, root.at.errorf("classes: expected a list of 1 to %d classes", contract.MostClasses)
	}
	for _, item := range e.value.items {
		if err := item.mappingOf(countedKeys); err != nil {
			return w, err
		}
		if err := addCounted(&w, item); err != nil {
			return w, err
		}
	}
	return w, nil
}

// addCounted adds a class of recorded traffic.
func addCounted(w *workload.Workload, n *node) error {
	c, m := contract.Class{}, workload.Mean{}
	var up, down int64
	for _, e := range n.entries {
		text, err := e.scalarOf("a single value")
		if err != nil {
			return err
		}
		switch e.key {
		case "name":
			c.Name, err = text, nameOf(text)
		case "method":
			c.Method, err = text, methodOf(text)
		case "status":
			c.Status, err = statusOf(text)
		case "requests":
			m.Requests, err = quantity.ParseCount(text)
		case "up":
			up, err = quantity.ParseBytes(text)
		case "down":
			down, err = quantity.ParseBytes(text)
		case "most_up":
			c.UpBytes, err = quantity.ParseBytes(text)
		case "most_down":
			c.DownBytes, err = quantity.ParseBytes(text)
		}
		if err == nil && max(c.UpBytes, c.DownBytes) > contract.MaxMessage {
			err = fmt.Errorf("%q is too large; expected at most %s", text, quantity.FormatBytes(contract.MaxMessage))
		}
		if err != nil {
			return e.value.at.errorf("%s: %s", e.key, err)
		}
	}
	all := float64(max(1, m.Requests))
	m.Up, m.Down = float64(up)/all, float64(down)/all
	w.Classes, w.Means = append(w.Classes, c), append(w.Means, m)
	return nil
}
