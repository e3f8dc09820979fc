package view

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/record"
)

// sentence puts a fit into words.
func (f *Fit) sentence(m metric.Metric) string {
	var b strings.Builder
	one := strings.TrimSuffix(f.Spec.Per, "s")
	fmt.Fprintf(&b, "%s is %s", m.Name, f.Base.words(m.Unit))
	fmt.Fprintf(&b, ", and for each %s %s", one, f.Per.words(m.Unit))
	for _, t := range f.Terms {
		fmt.Fprintf(&b, " and %s × %s", t.words(""), t.Of)
	}
	b.WriteString(f.publishedWords())
	fmt.Fprintf(&b, "; %d trials in %d blocks, off by %s in the median", f.Trials, f.Blocks, quantity.FormatShare(f.Error))
	if f.With != "" {
		b.WriteString("; " + f.With)
	}
	return b.String() + "."
}

// words prints a coefficient with its interval: "8.21 KiB (7.90 KiB–8.52 KiB)".
func (c Coefficient) words(unit string) string {
	return fmt.Sprintf("%s (%s–%s)", inUnit(c.Value, unit), inUnit(c.Low, unit), inUnit(c.High, unit))
}

func inUnit(x float64, unit string) string {
	switch unit {
	case "B":
		return quantity.FormatBytes(x)
	case "", "1":
		return fmt.Sprintf("%.3g", x)
	}
	return fmt.Sprintf("%.3g %s", x, unit)
}

// publishedWords sets the published coefficients against the intervals.
func (f *Fit) publishedWords() string {
	var words []string
	for _, t := range f.Terms {
		if t.Published == nil {
			continue
		}
		verdict := "outside"
		if t.Agrees {
			verdict = "inside"
		}
		if len(words) == 0 {
			verdict += " the interval"
		}
		if t.Agrees && t.Low <= 0 && 0 <= t.High {
			verdict += ", as 0 is" // which says nothing for the publication
		}
		words = append(words, fmt.Sprintf("%g (%s)", *t.Published, verdict))
	}
	if len(words) == 0 {
		return ""
	}
	return "; published " + strings.Join(words, " and ")
}

// implementations names what the figures hold for: the transports of the
// metric's end with their libraries' versions.
func implementations(s *cells.Dataset, metric string, observed []observation) string {
	end := contract.Server
	if strings.HasPrefix(metric, string(contract.Client)+".") {
		end = contract.Client
	}
	var names []string
	for _, o := range observed {
		for _, w := range o.view.Record.Workers {
			if w.Role != end && w.Role != contract.Pair {
				continue
			}
			if name := implementation(s, w); name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return strings.Join(names, ", ")
}

func implementation(s *cells.Dataset, w record.Worker) string {
	libraries := s.Header.Facts.Tools[w.Binary].Libraries
	var with []string
	for _, l := range libraries {
		if carries(l.Name, w.Transport) {
			with = append(with, l.Name+" "+l.Version)
		}
	}
	if len(with) == 0 { // what carries it is part of Go
		for _, l := range libraries {
			if l.Name == "go" {
				with = append(with, strings.TrimSpace("go "+strings.TrimPrefix(l.Version, "go")))
			}
		}
	}
	switch {
	case w.Transport == "":
		return ""
	case len(with) == 0:
		return w.Transport
	}
	return w.Transport + " with " + strings.Join(with, ", ")
}

// carries tells whether a library is the one that a transport is named after:
// go-grpc after google.golang.org/grpc, fasthttp after github.com/valyala/fasthttp.
// A worker reports all that it links, and has no room to say which matters.
func carries(library, transport string) bool {
	name := strings.TrimPrefix(transport, "go-")
	for element := range strings.SplitSeq(library, "/") {
		if element == name && !strings.HasPrefix(library, "golang.org/x/") {
			return true
		}
	}
	return false
}
