package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
)

// Offer is one transport and the program that has it.
type Offer struct {
	contract.Transport
	Program *Program
}

// Has reports whether the transport plays a role.
func (o Offer) Has(role contract.Role) bool { return slices.Contains(o.Roles, role) }

// Offers returns every transport by name, the first program's of a name, with
// the codecs of all programs that have it.
func (c *Catalog) Offers() []Offer {
	var offers []Offer
	all := c.all()
	// A program for a special codec stands behind the one for everyday.
	slices.SortStableFunc(all, func(a, b Offer) int { return everyday(b) - everyday(a) })
	for _, o := range all {
		if i := slices.IndexFunc(offers, func(known Offer) bool { return known.Name == o.Name }); i >= 0 {
			for _, codec := range o.Codecs {
				if !slices.Contains(offers[i].Codecs, codec) {
					offers[i].Codecs = append(slices.Clip(offers[i].Codecs), codec)
				}
			}
			continue
		}
		offers = append(offers, o)
	}
	slices.SortStableFunc(offers, func(a, b Offer) int { return strings.Compare(a.Name, b.Name) })
	return offers
}

func everyday(o Offer) int {
	if o.carries(bytesCodec) {
		return 1
	}
	return 0
}

// all lists every transport of every program.
func (c *Catalog) all() []Offer {
	var all []Offer
	for i := range c.Programs {
		for _, t := range c.Programs[i].Hello.Transports {
			all = append(all, Offer{t, &c.Programs[i]})
		}
	}
	return all
}

// families are names that several transports share.
var families = map[string]string{
	"grpc":  "go-grpc for Go's library, grpcpp for C++'s, grpc-nghttp2 or grpc-nghttp2-asio on nghttp2, or go-connect-grpc",
	"http":  "go-http1, go-http2, go-http3, fasthttp, http1-uring, http1-asio, h2-uring or h2-asio",
	"http1": "go-http1, fasthttp, http1-uring or http1-asio",
	"http2": "go-http2, h2-uring or h2-asio",
	"http3": "go-http3, which is always encrypted: with tls=yes",
	"quic":  "go-quic or go-http3, which are always encrypted: with tls=yes",
	"rdma":  "verbs for libibverbs, or ucx with opt.tls=rdma, mpi with opt.fabric=rdma",
	"tcp":   "go-net, go-epoll, netpoll, asio, libevent, threads or uring",
	"epoll": "go-epoll in Go, or libevent or asio in C++",
}

// Named returns the transport of a name as Offers has it. The error names the
// nearest.
func (c *Catalog) Named(name string) (Offer, error) {
	var names []string
	for _, o := range c.Offers() {
		if o.Name == name {
			return o, nil
		}
		names = append(names, o.Name)
	}
	if len(names) == 0 {
		return Offer{}, fmt.Errorf("transport %q: no worker was found beside netdyno or on PATH; `make build` puts them into bin/", name)
	}
	if members := families[name]; members != "" {
		return Offer{}, fmt.Errorf("transport %q: there are several; write %s", name, members)
	}
	if known := absent(name, c.Absent); known != nil {
		return Offer{}, known
	}
	return Offer{}, fmt.Errorf("transport %q: no worker here has it%s; %s", name, c.unheard(), quantity.Hint(name, names))
}

// unheard says, behind a space and in brackets, which programs did not introduce themselves:
// they may have any transport.
func (c *Catalog) unheard() string {
	if len(c.Absent) == 0 {
		return ""
	}
	var all []string
	for _, a := range c.Absent {
		all = append(all, a.Text)
	}
	return " (" + strings.Join(all, "; ") + ")"
}

// Offer returns the transport of a name with a codec: one program may have it
// with the codecs that all can afford to link, another with a heavier one. The
// error names the nearest transport, or the codecs that there are.
func (c *Catalog) Offer(name, codec string) (Offer, error) {
	for _, o := range c.all() {
		if o.Name == name && o.carries(codec) {
			return o, nil
		}
	}
	named, err := c.Named(name)
	if err == nil {
		err = fmt.Errorf("transport %s carries codec %s, not %s", name, strings.Join(named.codecs(), ", "), codec)
	}
	return Offer{}, err
}

const bytesCodec = "bytes"

// codecs lists what the transport carries; a transport that names none carries
// bytes. A program whose wire the study says (exec) carries what its clients do.
func (o Offer) codecs() []string {
	if len(o.Codecs) == 0 {
		return []string{bytesCodec}
	}
	return o.Codecs
}

func (o Offer) carries(codec string) bool {
	return o.foreign() || slices.Contains(o.codecs(), cmp.Or(codec, bytesCodec))
}

// foreign holds for a transport that stands for a program of the user's.
func (o Offer) foreign() bool { return o.Wire == "" }
