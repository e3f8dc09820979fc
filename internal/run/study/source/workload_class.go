package source

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/run/study"
	"netdyno/internal/sizes"
)

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
