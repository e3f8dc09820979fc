package source

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/run/study"
	"netdyno/internal/run/workload"
)

// workloadFile has the keys of a workload file, read as those of a study file are.
type workloadFile struct {
	Classes []class `key:"classes" must:"yes" min:"1" max:"64"`
	Keys    *keyLaw `key:"keys"` // of {key} in paths
}

type keyLaw struct {
	Zipf *workload.Zipf `key:"zipf" must:"yes"`
}

// class is a kind of exchange.
type class struct {
	Name     string   `key:"name" must:"yes" is:"class name"`
	Weight   weight   `key:"weight" is:"weight"`
	Method   string   `key:"method" is:"method"`
	Path     string   `key:"path" is:"path"`
	Headers  []string `key:"headers" is:"headers"`
	Status   int      `key:"status" is:"status"`
	Request  size     `key:"request" is:"size"`
	Response size     `key:"response" is:"size"`
	Body     string   `key:"body" is:"body"`
	Deadline int64    `key:"deadline" is:"time above 0"` // ns
	Think    int64    `key:"think" is:"time above 0"`

	at *node
}

// size is a size, or a distribution of sizes with the largest of them.
type size struct {
	bytes int64
	table contract.Table
}

// weight is how often a class comes beside the others.
type weight struct {
	value   float64
	percent bool
}

// WorkloadFile is a workload file as it was read.
type WorkloadFile struct {
	workload.Workload
	Bodies []Body // of the classes that say one
}

// Body is what the requests of a class carry: a text, of gRPC a message as JSON. @FILE
// names a file beside the workload's, with its directory then.
type Body struct {
	Class int
	Text  string
	At    study.Position
}

// ReadWorkload reads a workload file. The error names its line and column.
func ReadWorkload(name string, data []byte) (w WorkloadFile, err error) {
	var f workloadFile
	root, err := readAs(name, data, &f)
	if err != nil {
		return w, err
	}
	if f.Keys != nil {
		w.Keys, w.Zipf = f.Keys.Zipf.Table(), f.Keys.Zipf
	}
	for i, c := range f.Classes {
		at := func(key string) position { return c.at.value(key).at }
		if c.Body != "" {
			w.Bodies = append(w.Bodies, Body{i, c.Body, at("body")})
		}
		if strings.Contains(c.Path, keySign) && w.Keys == nil {
			return w, at("path").errorf("path: %q has %s, and the file says no keys; expected keys: {zipf: {n: 1000, s: 1}}", quantity.Clip(c.Path, 80), keySign)
		}
		if slices.ContainsFunc(w.Classes, func(o contract.Class) bool { return o.Name == c.Name }) {
			return w, at("name").errorf("class %s is written twice", c.Name)
		}
		w.Classes = append(w.Classes, c.contract())
	}
	if err := endsOf(w.Classes, f.Classes); err != nil {
		return w, err
	}
	if err := w.Check(); err != nil {
		return w, root.value("classes").at.errorf("classes: %s", err)
	}
	return w, nil
}

// readAs reads a file whose keys are those of a struct.
func readAs(name string, data []byte, into any) (*node, error) {
	of := reflect.ValueOf(into).Elem()
	root, err := readYAML(name, data, names(keysOf(of.Type())))
	if err != nil {
		return nil, err
	}
	return root, readBlock("the file", root, of, nil)
}

// contract is the class as a worker is told it.
func (c class) contract() contract.Class {
	return contract.Class{
		Name: c.Name, Method: c.Method, Path: c.Path, Headers: c.Headers, Status: c.Status, DeadlineNs: c.Deadline, ThinkNs: c.Think,
		UpBytes: c.Request.bytes + int64(len(c.Body)), UpSizes: c.Request.table, DownBytes: c.Response.bytes, DownSizes: c.Response.table,
	}
}

// check keeps where the class stands; a body says its own size.
func (c *class) check(n *node) error {
	if c.at = n; c.Body != "" && c.Request.bytes > 0 {
		return n.value("body").at.errorf("body: class %s has request, too; expected one of them", c.Name)
	}
	return nil
}

// endsOf gives the classes their ends. Shares in percent add to 100; numbers need not.
func endsOf(classes []contract.Class, read []class) error {
	values, sum := make([]float64, len(read)), 0.0
	at := func(i int) position { return read[i].at.value("weight").at }
	for i, c := range read {
		switch {
		case c.Weight.value > 0:
		case len(read) == 1:
			c.Weight.value = 1
		default:
			return c.at.at.errorf("class %s has no weight; expected one such as 70%%, or a number beside those of the others", c.Name)
		}
		if c.Weight.percent != read[0].Weight.percent {
			return at(i).errorf("weight: some are in %% and some are plain numbers; expected one or the other")
		}
		values[i] = c.Weight.value
		sum += values[i]
	}
	last := len(read) - 1
	if read[last].Weight.percent && math.Abs(sum-100) > 1e-6 {
		return at(last).errorf("weight: all weights add to %s%%; expected 100%%, or plain numbers, which may add to anything", strconv.FormatFloat(sum, 'g', 10, 64))
	}
	if err := workload.Ends(classes, values); err != nil {
		return at(last).errorf("weight: %s", err)
	}
	return nil
}

// recordedFile has the keys of the header of recorded traffic. Its classes have no weights,
// because each request says its own.
type recordedFile struct {
	Version string          `key:"recorded" must:"yes" is:"version"`
	Classes []recordedClass `key:"classes" must:"yes" min:"1" max:"64"`
}

type recordedClass struct {
	Name     string `key:"name" must:"yes" is:"class name"`
	Requests int64  `key:"requests" is:"number"`
	Up       int64  `key:"up" is:"bytes"`
	Down     int64  `key:"down" is:"bytes"`
	MostUp   int64  `key:"most_up" is:"message size"`
	MostDown int64  `key:"most_down" is:"message size"`
	Method   string `key:"method" is:"method"`
	Status   int    `key:"status" is:"status"`
	Bodies   int64  `key:"bodies" is:"number"`
}

// ReadRecorded reads the header of recorded traffic: its classes.
func ReadRecorded(name string, header []byte) (w workload.Workload, err error) {
	var f recordedFile
	if _, err := readAs(name, header, &f); err != nil {
		return w, err
	}
	for _, c := range f.Classes {
		all := float64(max(1, c.Requests))
		w.Classes = append(w.Classes, contract.Class{Name: c.Name, UpBytes: c.MostUp, DownBytes: c.MostDown, Method: c.Method, Status: c.Status})
		w.Means = append(w.Means, workload.Mean{Requests: c.Requests, Up: float64(c.Up) / all, Down: float64(c.Down) / all, Known: c.Bodies})
	}
	return w, nil
}
