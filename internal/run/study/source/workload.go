package source

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/run/study"
	"netdyno/internal/run/workload"
	"netdyno/internal/sizes"
)

// The keys of a workload file, and of its classes.
var (
	workloadKeys = []string{"classes", "keys", "trace"}
	classKeys    = []string{"name", "weight", "method", "path", "status", "request", "response", "body", "codec", "message", "stream", "chunk", "deadline", "think"}
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

	Messages []Body // of the classes that say one: levels of factor message
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
		if message := item.entryOf("message"); message != nil {
			w.Messages = append(w.Messages, Body{len(w.Classes), item.value("message").text, message.value.at})
		}
		if err := contentOf(item, &c); err != nil {
			return err
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

func readClass(n *node, keyed bool) (c contract.Class, err error) {
	if err := n.mappingOf(classKeys); err != nil {
		return c, err
	}
	if n.entryOf("name") == nil {
		return c, n.at.errorf("the class has no name")
	}
	for _, e := range n.entries {
		text, err := e.scalarOf("a single value")
		if err != nil {
			return c, err
		}
		switch e.key {
		case "name":
			c.Name, err = text, nameOf(text)
		case "method":
			c.Method, err = text, methodOf(text)
		case "path":
			c.Path, err = text, pathOf(text, keyed)
		case "status":
			c.Status, err = statusOf(text)
		case "request":
			c.UpBytes, c.UpSizes, err = sizeOf("request", text)
		case "response":
			c.DownBytes, c.DownSizes, err = sizeOf("response", text)
		case "body":
			if len(text) > mostBody {
				err = fmt.Errorf("it has %d bytes; expected at most %d, or @FILE", len(text), mostBody)
			}
		case "codec":
			c.Codec, err = choiceOf("codec", text)
		case "stream":
			var level string
			level, err = choiceOf("stream", text)
			c.Stream = contract.Stream(level)
		case "chunk":
			c.ChunkBytes, _, err = sizeOf("chunk", text)
		case "deadline":
			c.DeadlineNs, err = timeOf(text, "leaves no time")
		case "think":
			c.ThinkNs, err = timeOf(text, "is no pause")
		}
		if err != nil {
			return c, e.value.at.errorf("%s: %s", e.key, strings.TrimPrefix(err.Error(), e.key+": "))
		}
	}
	return c, nil
}

// contentOf checks what a class says of its messages: a message has a codec, proto unless
// given, and neither sizes nor a body nor a stream beside it.
func contentOf(n *node, c *contract.Class) error {
	at := func(key string) position { return n.entryOf(key).value.at }
	message := n.entryOf("message") != nil
	switch {
	case message && c.Codec == rawBytes:
		return at("codec").errorf("codec: %s is random content of the sizes request and response; the message of class %s needs proto, json or json-fast", rawBytes, c.Name)
	case message && c.Codec == "":
		c.Codec = "proto"
	case !message && c.Codec != "" && c.Codec != rawBytes:
		return at("codec").errorf("codec: class %s has no message to encode; expected message: simple, complex or FILE.proto:pkg.Type:DATA.json beside it", c.Name)
	case c.Codec == rawBytes:
		c.Codec = ""
	}
	if c.Stream == "no" {
		c.Stream = ""
	}
	for _, other := range []string{"request", "response", "body", "stream"} {
		if e := n.entryOf(other); message && e != nil && !(other == "stream" && c.Stream == "") {
			return at(other).errorf("%s: class %s has a message, whose codec decides its sizes and which travels whole; expected one of them", other, c.Name)
		}
	}
	up, down := c.Stream == contract.StreamUp || c.Stream == contract.StreamBoth, c.Stream == contract.StreamDown || c.Stream == contract.StreamBoth
	switch {
	case n.entryOf("chunk") != nil && c.Stream == "":
		return at("chunk").errorf("chunk: class %s is not streamed and travels whole; expected stream beside it", c.Name)
	case up && c.UpBytes == 0 || down && c.DownBytes == 0:
		return at("stream").errorf("stream: nothing of class %s would be streamed %s; expected a size above 0", c.Name, c.Stream)
	case c.Stream != "" && n.entryOf("body") != nil:
		return at("stream").errorf("stream: class %s has a body, which travels whole; expected one of them", c.Name)
	}
	return nil
}

const rawBytes = "bytes" // codec of random content

// choiceOf reads a level of a factor with choices.
func choiceOf(factor, text string) (string, error) {
	f, err := study.FactorNamed(factor)
	if err != nil {
		return "", err
	}
	l, err := f.Level(text)
	return l.Text, err
}

// mostBody bounds a body that stands in a workload file, in bytes.
const mostBody = 32 << 10

// timeOf reads a time above 0 of at most a day; what says in words what none is.
func timeOf(text, what string) (int64, error) {
	d, err := quantity.ParseDuration(text)
	switch {
	case err != nil:
		return 0, err
	case d <= 0:
		return 0, fmt.Errorf("%q %s; expected a duration above 0", quantity.Clip(text, 40), what)
	case d > 24*time.Hour:
		return 0, fmt.Errorf("%q is too long; expected at most 24h", quantity.Clip(text, 40))
	}
	return int64(d), nil
}

func nameOf(text string) error {
	if err := study.CheckText(text); err != nil {
		return err
	}
	if len(text) > mostName {
		return fmt.Errorf("the name has %d bytes; expected at most %d", len(text), mostName)
	}
	return nil
}

// The forms of methods: of HTTP, and of gRPC as /package.Service/Method.
var (
	methodForm = regexp.MustCompile(`^[A-Z]{1,20}$`)
	callForm   = regexp.MustCompile(`^/[A-Za-z_][A-Za-z0-9_.]{0,200}/[A-Za-z_][A-Za-z0-9_]{0,100}$`)
)

func methodOf(text string) error {
	if !methodForm.MatchString(text) && !callForm.MatchString(text) {
		if upper := strings.ToUpper(text); methodForm.MatchString(upper) {
			return fmt.Errorf("%q is not a method; did you mean %q?", quantity.Clip(text, 40), upper)
		}
		return fmt.Errorf("%q is not a method; expected one of HTTP such as GET or POST, or of gRPC such as /shop.v1.Cart/Add", quantity.Clip(text, 40))
	}
	return nil
}

// pathOf checks a path, in which {key} stands for a number.
func pathOf(text string, keyed bool) error {
	const most = 8 << 10
	switch {
	case !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//"):
		return fmt.Errorf("%q is not a path; expected one that begins with one slash, such as /items/{key}", quantity.Clip(text, 80))
	case len(text) > most:
		return fmt.Errorf("the path has %d bytes; expected at most %d", len(text), most)
	case strings.Contains(text, "{key}") && !keyed:
		return fmt.Errorf("%q has {key}, and the file says no keys; expected keys: {zipf: {n: 1000, s: 1}}", quantity.Clip(text, 80))
	}
	for _, b := range []byte(text) {
		if b <= ' ' || b >= 0x7f || b == '#' {
			return fmt.Errorf("%q holds %q, which no request line can; write it as %%%02X", quantity.Clip(text, 80), b, b)
		}
	}
	if rest := strings.ReplaceAll(text, "{key}", ""); strings.ContainsAny(rest, "{}") {
		return fmt.Errorf("%q has braces around something else than key; expected {key}", quantity.Clip(text, 80))
	}
	return nil
}

func statusOf(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 200 || n > 599 {
		return 0, fmt.Errorf("%q is not a status of a reply; expected 200 to 599", quantity.Clip(text, 40))
	}
	return n, nil
}

// sizeOf reads a size, or a distribution of sizes.
func sizeOf(factor, text string) (int64, contract.Table, error) {
	f, err := study.FactorNamed(factor)
	if err != nil {
		return 0, nil, err
	}
	l, err := f.Level(text)
	if err != nil || !sizes.Is(l.Text) {
		return int64(l.Value), nil, err
	}
	s, err := sizes.Parse(l.Text)
	if err != nil {
		return 0, nil, err
	}
	return s.Largest(), s.Table, nil
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
		if change.Codec != "" || change.Stream != "" {
			return study.Errorf(change.At, "class %s: what was recorded are sizes, without messages; expected method, path, status or deadline", change.Name)
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
