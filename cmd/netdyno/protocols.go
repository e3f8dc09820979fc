package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/each"
	"netdyno/internal/quantity"
	"netdyno/internal/run/session"
	"netdyno/internal/run/target"
)

// protocol is a version of HTTP that a flag asks for.
type protocol struct {
	name string // of an arm
	of   func(*target.Target) *bool
}

// protocols are all of them.
var protocols = []protocol{
	{"HTTP/1.1", func(t *target.Target) *bool { return &t.HTTP1 }},
	{"HTTP/2", func(t *target.Target) *bool { return &t.HTTP2 }},
	{"HTTP/3", func(t *target.Target) *bool { return &t.HTTP3 }},
}

// onLibraries are the clients on Go's libraries, by wire, that ask whatever can be asked.
var onLibraries = map[string]string{"http/1.1": "go-http1", "h2c": "go-http2", target.WireHTTP3: "go-http3", "grpc:netdyno.v1": "go-grpc"}

// compared are the protocols that the flags ask for, where they are several: an arm each.
func (t *urlFlags) compared() []protocol {
	typed := slices.DeleteFunc(slices.Clone(protocols), func(p protocol) bool { return !*p.of(&t.Target) })
	if len(typed) < 2 {
		return nil
	}
	return typed
}

// eachByProtocol is the URL once for each protocol that is compared; any URLs where none is.
func (t *urlFlags) eachByProtocol(urls, others []string) ([]string, error) {
	by := t.compared()
	names := each.Of(by, func(p protocol) string { return p.name })
	switch {
	case by == nil:
		return urls, nil
	case len(urls) > 1:
		return nil, fmt.Errorf("%s are compared at one URL, and %d URLs by one protocol: found both; leave out the other URLs, or all protocols but one", quantity.And(names), len(urls))
	case (&looked{typed: others}).sets("client"):
		return nil, errors.New("client= is one client, and " + quantity.And(names) + " are spoken by one each; leave it out")
	case t.names == "":
		t.names = strings.Join(names, ",")
	}
	return slices.Repeat(urls, len(by)), nil
}

// alone makes a target ask by one protocol.
func (p protocol) alone(t *target.Target) {
	for _, other := range protocols {
		*other.of(t) = other.name == p.name
	}
}

// sayProtocols says what differs between arms that compare protocols.
func (t *urlFlags) sayProtocols(arms []session.Arm) {
	if t.compared() != nil {
		clients := each.Of(arms, func(a session.Arm) string { return a.Levels["client"] })
		t.said.say("  with each protocol its client differs, too: " + quantity.And(clients) + ", all on Go's libraries")
	}
}
