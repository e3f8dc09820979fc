// Package hop starts what lies between clients and a server: a proxy of a kind that it
// knows, with the smallest configuration that passes a wire on, or a program of the
// user's. The meter sees the hop as part of this worker's process tree.
package hop

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/child"
	"netdyno/internal/work/load"
	"netdyno/internal/work/transport/foreign"
)

// The wires that hops carry (CONTRACT.md, section Wires; docs/wires.md).
const (
	http1  = "http/1.1"
	http2  = "h2c"
	grpc   = "grpc:netdyno.v1"
	echo   = "echo"
	stream = "stream"
)

// wait is how long a hop may take to listen.
const wait = 10 * time.Second

// kind is one kind of proxy: a program, and how its configuration is written for a site.
type kind struct {
	name    string // of the level of factor path, and of the program
	doc     string
	get     string   // the command that installs it
	wires   []string // that it carries
	file    string   // of its configuration
	text    *template.Template
	argv    func(s site) []string
	lacking map[string]string // by what it says of itself where it lacks a part: how that is installed
}

// kinds are all proxies, in the order of the documentation. A new one is a file that
// declares its kind, and its place here.
var kinds = []kind{nginx, haproxy, envoy, caddy}

// site is what a configuration is written for.
type site struct {
	Program     string // as argv has it
	Listen      string // host:port
	Servers     []string
	Wire        string
	TLS         bool
	Threads     int
	Connections int    // of the clients, at most
	Dir         string // has the configuration, and of an encrypted trial identity.pem and authorities.pem
}

// TCP tells whether the wire is passed on byte by byte.
func (s site) TCP() bool { return s.Wire == echo || s.Wire == stream }

// HTTP2 tells whether the wire is HTTP/2, of gRPC too.
func (s site) HTTP2() bool { return s.Wire == http2 || s.Wire == grpc }

// GRPC tells whether the wire is gRPC.
func (s site) GRPC() bool { return s.Wire == grpc }

// Files is how many descriptors it needs: both ends of every connection, and some.
func (s site) Files() int { return 2*s.Connections + 1024 }

// Transports are the hops that this package starts.
func Transports() []load.Transport {
	var all []load.Transport
	for _, k := range kinds {
		all = append(all, proxy{k})
	}
	return append(all, command{})
}

// wireOption is what the bench tells a hop to carry.
func wireOption(wires ...string) contract.Option {
	o := contract.Option{Name: "wire", Type: contract.TypeText, Default: "", Doc: "byte protocol that it passes on, which the bench sets"}
	if len(wires) > 0 {
		o.Type, o.Default, o.Choices = contract.TypeChoice, wires[0], wires
	}
	return o
}

// proxy is a transport of role hop.
type proxy struct{ kind }

// Describe implements load.Transport.
func (p proxy) Describe() contract.Transport {
	return contract.Transport{
		Name: p.name, Doc: p.doc, Roles: []contract.Role{contract.Hop}, Delivery: contract.DeliveryChunks,
		Options: []contract.Option{wireOption(p.wires...)},
	}
}

// Client implements load.Transport; the role is not declared, so it is never reached.
func (proxy) Client(contract.Setup) (load.Client, error) { panic("a hop has no client") }

// Server implements load.Transport: the proxy, from a directory of its own, which is gone
// once it listens: it has read all of it then.
func (p proxy) Server(setup contract.Setup) (_ load.Server, err error) {
	program, err := exec.LookPath(p.name)
	if err != nil {
		return nil, load.Failure(contract.Unsupported, fmt.Errorf("%s is not on this host; install it: %s", p.name, p.get))
	}
	if len(setup.Peers) == 0 {
		return nil, load.Failure(contract.Invalid, errors.New("setup.peers is empty: a hop needs the servers that it passes on to"))
	}
	s := site{
		Program: program, Servers: setup.Peers, Wire: load.Options(setup.Options).Text("wire"), TLS: setup.TLS != nil,
		Threads: foreign.Threads(setup), Connections: setup.Load.Connections,
	}
	if s.Dir, err = child.Directory("hop"); err != nil {
		return nil, load.Failure(contract.SetupFailed, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.Dir)) }()
	if err := s.enter(setup.TLS); err != nil {
		return nil, load.Failure(contract.SetupFailed, err)
	}
	text := ""
	started, err := foreign.Start(setup, 0, wait, func(host, port string) (argv []string, err error) {
		s.Listen = net.JoinHostPort(host, port)
		text, err = p.write(s)
		return p.argv(s), err
	})
	if err != nil {
		return nil, p.explain(err)
	}
	return running{started, map[string]any{"configuration": s.shown(text), "version": child.Version(program)}}, nil
}

// enter writes what an encrypted trial's hop shows and trusts.
func (s site) enter(tls *contract.TLS) error {
	if tls == nil {
		return nil
	}
	const own fs.FileMode = 0o600
	return errors.Join(
		os.WriteFile(filepath.Join(s.Dir, "identity.pem"), []byte(tls.Certificate+tls.Key), own),
		os.WriteFile(filepath.Join(s.Dir, "authorities.pem"), []byte(tls.Authorities), own),
	)
}

// write writes the configuration and returns it.
func (k kind) write(s site) (string, error) {
	var text bytes.Buffer
	if err := k.text.Execute(&text, s); err != nil {
		return "", fmt.Errorf("write the configuration of %s: %w", k.name, err)
	}
	return text.String(), os.WriteFile(filepath.Join(s.Dir, k.file), text.Bytes(), 0o600)
}

// shown is a configuration as it is told: the same in every trial of a kind.
func (s site) shown(text string) string {
	named := []string{s.Dir, "DIR", s.Listen, "HOST:PORT"}
	for _, server := range s.Servers {
		named = append(named, server, "UPSTREAM")
	}
	return strings.NewReplacer(named...).Replace(text)
}

// explain adds what to install to a proxy's complaint that it lacks a part.
func (k kind) explain(err error) error {
	for _, said := range slices.Sorted(maps.Keys(k.lacking)) {
		if strings.Contains(err.Error(), said) {
			return load.Failure(contract.Unsupported, fmt.Errorf("%s here lacks a part; install it: %s; %w", k.name, k.lacking[said], err))
		}
	}
	return err
}

// running is a hop that listens, which says more of itself when it is ready.
type running struct {
	*foreign.Server
	said map[string]any
}

// Ready implements load.Server.
func (r running) Ready() contract.Ready {
	ready := r.Server.Ready()
	maps.Copy(ready.Options, r.said)
	return ready
}
