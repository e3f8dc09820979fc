package httpwire

import (
	"fmt"
	"strings"
	"sync/atomic"

	"netdyno/internal/contract"
	"netdyno/internal/expect"
	"netdyno/internal/paths"
	"netdyno/internal/quantity"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// turns are the URLs that a connection asks for, one after the other, from the
// first again after the last. The slots of a connection share them.
type turns struct {
	base string   // scheme and host of a URL
	urls []string // of all connections to a peer
	next atomic.Int64
}

// place returns which URL the next exchange asks for.
func (t *turns) place() int {
	if len(t.urls) == 1 {
		return 0
	}
	return int((t.next.Add(1) - 1) % int64(len(t.urls)))
}

// told is how the paths of a file are told apart: the names, and the number of each path's.
type told struct {
	names []string
	of    []int
}

const mostPathName = 200 // bytes

// tellApart gives each path a name of its own, those beyond the first 63 one together.
func tellApart(several []string) told {
	t, known := told{of: make([]int, len(several))}, map[string]int{}
	for i, path := range several {
		name := quantity.Clip(path, mostPathName)
		if _, is := known[name]; !is && len(t.names) >= contract.MostClasses-1 {
			name = contract.OtherPaths
		}
		if _, is := known[name]; !is {
			known[name] = len(t.names)
			t.names = append(t.names, name)
		}
		t.of[i] = known[name]
	}
	return t
}

// takeTurns prepares what each connection asks for. With a file of paths the
// connections begin evenly spread over it, so that the middle of a long one is
// asked for too. The error is of kind setup.
func (c *Client) takeTurns() error {
	several, err := pathsOf(c.Setup)
	if err != nil {
		return load.Failure(contract.SetupFailed, fmt.Errorf("option paths: %w", err))
	}
	c.told = tellApart(several)
	routes, byPeer := c.Dialer.Routes(), map[string][]string{}
	for i, route := range routes {
		peer := c.host(route)
		if byPeer[peer] == nil {
			host := strings.ReplaceAll(peer, "%", "%25") // before a zone, as URLs have it (RFC 6874)
			if byPeer[peer], err = targets(c.Setup, host, several); err != nil {
				return err
			}
		}
		t := &turns{base: scheme(c.Setup) + strings.ReplaceAll(peer, "%", "%25"), urls: byPeer[peer]}
		t.next.Store(int64(i) * int64(len(t.urls)) / int64(len(routes)))
		c.turns = append(c.turns, t)
	}
	return nil
}

// host is the server of a route as URLs name it.
func (c *Client) host(route wire.Route) string {
	if proxied, _ := c.Setup.Options[ProxiedOption].(string); proxied != "" {
		return proxied
	}
	return route.Peer.Host()
}

// targets returns the URLs that connections to a peer ask for.
func targets(setup contract.Setup, peer string, several []string) ([]string, error) {
	if len(several) == 0 {
		url, err := target(setup, peer)
		return []string{url}, err
	}
	urls := make([]string, len(several))
	for i, path := range several {
		urls[i] = scheme(setup) + peer + path
	}
	return urls, nil
}

// pathsOf reads the file of option paths; none where it is not given.
func pathsOf(setup contract.Setup) ([]string, error) {
	o := load.Options(setup.Options)
	name := o.Text("paths")
	if name == "" {
		return nil, nil
	}
	if v := o.Text("verify"); !wire.AnyLength(v) || v == string(expect.Body) {
		return nil, fmt.Errorf("replies to several paths differ; found verify=%s, expected verify=%s beside it, or a pattern or condition", v, wire.VerifyStatus)
	}
	if o.Text("path") != defaultPath {
		return nil, fmt.Errorf("option path names %q; expected one of them", o.Text("path"))
	}
	file := strings.TrimPrefix(name, "@") // the option names a file in any case
	text, err := load.Options{"paths": "@" + file}.Given("paths", paths.MostBytes)
	if err != nil {
		return nil, err
	}
	return paths.Parse(file, []byte(text))
}
