package view

import (
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Implementations names what a metric's figures hold for: the transports of the
// metric's end with their libraries' versions.
func Implementations(s *cells.Dataset, metric string, judged []*trial.Judged) string {
	end := contract.Server
	if strings.HasPrefix(metric, string(contract.Client)+".") {
		end = contract.Client
	}
	var names []string
	for _, v := range judged {
		for _, w := range v.Record.Workers {
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
	libraries := s.Facts.Tools[w.Binary].Libraries
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
