package source

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/head"
	"netdyno/internal/pattern"
	"netdyno/internal/quantity"
	"netdyno/internal/run/study"
	"netdyno/internal/run/workload"
	"netdyno/internal/sizes"
)

const (
	mostName = 60
	mostBody = 32 << 10 // bytes of a body that stands in a workload file
	keySign  = "{key}"
)

// workloadKinds are the kinds of values that only workloads have. They are never written.
var workloadKinds = map[string]kind{
	"class name": readOnly(nameOf), "method": readOnly(methodOf), "path": readOnly(pathOf), "status": readOnly(statusOf),
	"weight": readOnly(weightOf), "skew": readOnly(skewOf), "bytes": readOnly(quantity.ParseBytes), "message size": readOnly(messageSizeOf),
	"body": readOnly(bodyOf), "time above 0": readOnly(timeOf),
	"version": kindOfValue("a mapping with the version", versionOf, nil),
	"size":    kindOfValue("a size", sizeOf, nil),
	"headers": kindOfValue("a mapping of names to values", headersOf, nil),
}

func readOnly[V any](parse func(string) (V, error)) kind { return single("a single value", parse, nil) }

// sizeOf reads a size, or a distribution of sizes, as the factor of that name.
func sizeOf(e entry) (size, error) {
	f, err := study.FactorNamed(e.key)
	if err != nil {
		return size{}, err
	}
	l, err := one(e, "a size", f.Level)
	if err != nil || !sizes.Is(l.Text) {
		return size{bytes: int64(l.Value)}, err
	}
	s, err := sizes.Parse(l.Text)
	if err != nil {
		return size{}, e.value.at.errorf("%s: %s", e.key, err)
	}
	return size{s.Largest(), s.Table}, nil
}

func messageSizeOf(text string) (int64, error) {
	n, err := quantity.ParseBytes(text)
	if err == nil && n > contract.MaxMessage {
		err = fmt.Errorf("%q is too large; expected at most %s", text, quantity.FormatBytes(contract.MaxMessage))
	}
	return n, err
}

// versionOf reads the version of recorded traffic, beside which stand words for people.
func versionOf(e entry) (string, error) {
	version := e.value.value("version")
	if version.text != "1" {
		return "", version.at.errorf("recorded traffic of version %q; expected 1", quantity.Clip(version.text, 20))
	}
	return version.text, nil
}

func weightOf(text string) (w weight, err error) {
	w.percent = strings.HasSuffix(text, "%")
	w.value, err = strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "%")), 64)
	switch {
	case err != nil || math.IsNaN(w.value) || math.IsInf(w.value, 0):
		return w, fmt.Errorf("%q is no weight; expected a share such as 70%%, or a number beside those of the others", quantity.Clip(text, 40))
	case w.value <= 0:
		return w, fmt.Errorf("%q: the class would never come; expected more than 0, or no such class", quantity.Clip(text, 40))
	}
	return w, nil
}

func skewOf(text string) (float64, error) {
	const most = 10
	s, err := strconv.ParseFloat(text, 64)
	if err != nil || !(s >= 0 && s <= most) {
		return 0, fmt.Errorf("found %q; expected 0 (all keys alike) to %d", quantity.Clip(text, 40), most)
	}
	return s, nil
}

func bodyOf(text string) (string, error) {
	if len(text) > mostBody {
		return "", fmt.Errorf("it has %d bytes; expected at most %d, or @FILE", len(text), mostBody)
	}
	return text, nil
}

// timeOf reads a time above 0 of at most a day, in ns.
func timeOf(text string) (int64, error) {
	d, err := quantity.ParseDuration(text)
	if err == nil && (d <= 0 || d > 24*time.Hour) {
		err = fmt.Errorf("found %q; expected a duration above 0, at most 24h", quantity.Clip(text, 40))
	}
	return int64(d), err
}

func nameOf(text string) (string, error) {
	if len(text) > mostName {
		return "", fmt.Errorf("the name has %d bytes; expected at most %d", len(text), mostName)
	}
	return text, study.CheckText(text)
}

// The forms of methods: of HTTP, and of gRPC as /package.Service/Method.
var (
	methodForm = pattern.Once(`^[A-Z]{1,20}$`)
	callForm   = pattern.Once(`^/[A-Za-z_][A-Za-z0-9_.]{0,200}/[A-Za-z_][A-Za-z0-9_]{0,100}$`)
)

func methodOf(text string) (string, error) {
	if methodForm().MatchString(text) || callForm().MatchString(text) {
		return text, nil
	}
	if upper := strings.ToUpper(text); methodForm().MatchString(upper) {
		return "", fmt.Errorf("%q is not a method; did you mean %q?", quantity.Clip(text, 40), upper)
	}
	return "", fmt.Errorf("%q is not a method; expected one of HTTP such as GET or POST, or of gRPC such as /shop.v1.Cart/Add", quantity.Clip(text, 40))
}

// pathOf checks a path, in which {key} stands for a number and other names for data.
func pathOf(text string) (string, error) {
	const most = 8 << 10
	switch {
	case !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//"):
		return "", fmt.Errorf("%q is not a path; expected one that begins with one slash, such as /items/{key}", quantity.Clip(text, 80))
	case len(text) > most:
		return "", fmt.Errorf("the path has %d bytes; expected at most %d", len(text), most)
	}
	for _, b := range []byte(text) {
		if b <= ' ' || b >= 0x7f || b == '#' {
			return "", fmt.Errorf("%q holds %q, which no request line can; write it as %%%02X", quantity.Clip(text, 80), b, b)
		}
	}
	if rest := workload.Named.ReplaceAllString(text, ""); strings.ContainsAny(rest, "{}") {
		return "", fmt.Errorf("%q has braces around something else than a name; expected {key}, or a column of --data-from", quantity.Clip(text, 80))
	}
	return text, nil
}

// headersOf reads headers, "Name: value" each. What proves who asks stands in no file, as it
// would go into the record.
func headersOf(e entry) (all []string, err error) {
	const most = 8 << 10
	if e.value.kind != mapping {
		return nil, e.value.at.errorf("headers: found %s; expected a mapping such as {Accept: application/json}", e.value.kind)
	}
	size := 0
	for _, h := range e.value.entries {
		value, err := h.scalarOf("the value of a header")
		if err != nil {
			return nil, err
		}
		fields, err := head.Parse(h.key + ": " + value)
		switch {
		case err != nil || strings.Contains(h.key, ":"):
			return nil, h.at.errorf("headers: %q is not a header whose value can be sent; expected one such as Accept: application/json", quantity.Clip(h.key, 80))
		case len(fields) == 0:
			return nil, h.at.errorf("headers: %s says how a request is framed, which clients do themselves; leave it out", h.key)
		case strings.EqualFold(h.key, "Host"):
			return nil, h.at.errorf("headers: all classes ask one host; expected --host instead")
		case head.Secret(h.key):
			return nil, h.at.errorf("headers: %s is secret, and this file's headers are recorded; give it by -H '%s: …', which goes with all classes and is not kept", h.key, h.key)
		}
		if size += len(h.key) + len(value); size > most {
			return nil, h.at.errorf("headers: they have more than %d bytes", most)
		}
		all = append(all, h.key+": "+value)
	}
	return all, nil
}

func statusOf(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 200 || n > 599 {
		return 0, fmt.Errorf("%q is not a status of a reply; expected 200 to 599", quantity.Clip(text, 40))
	}
	return n, nil
}
