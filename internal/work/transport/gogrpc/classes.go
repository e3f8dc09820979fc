package gogrpc

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/rpc"
)

// class is how a class's exchanges are called.
type class struct {
	method   string
	deadline time.Duration
	own      bool     // deadline is the load's or the class's, not the option's
	body     *content // the request; nil for the trial's own content
}

// classesOf prepares the classes of a load. The error is of kind setup, or unsupported
// where the options cannot carry them.
func (c *client) classesOf() ([]class, error) {
	bodies, err := wire.BodiesOf(c.setup)
	if err != nil {
		return nil, err
	}
	unary, all := c.options.Text("mode") == "unary", make([]class, 0, len(c.setup.Load.Classes))
	for i, of := range c.setup.Load.Classes {
		calls := strings.HasPrefix(of.Method, "/") // else a method of HTTP, which says nothing here
		k := class{method: c.method, deadline: c.deadline, own: c.own}
		if (calls || of.DeadlineNs > 0) && !unary {
			return nil, load.Failure(contract.Unsupported, fmt.Errorf("class %s has a method or a deadline: option mode is stream, whose calls outlive an exchange; expected unary", of.Name))
		}
		if of.DeadlineNs > 0 {
			k.deadline, k.own = time.Duration(of.DeadlineNs), true
		}
		if calls {
			m, err := rpc.Parse(of.Method)
			if err != nil {
				return nil, load.Failure(contract.SetupFailed, fmt.Errorf("class %s: method %w", of.Name, err))
			}
			k.method = m.String()
		}
		if bodies != nil && bodies[i] != nil {
			k.body = &content{bytes: bodies[i]}
		}
		all = append(all, k)
	}
	if bodies != nil && c.options.Text("codec") != "raw" {
		return nil, load.Failure(contract.Unsupported, errors.New("option bodies needs codec=raw: they are messages as they are"))
	}
	return all, nil
}

// take makes the next exchange one of the class that was drawn for it.
func (u *unary) take(d load.Draw) {
	u.x.Take(d)
	if len(u.classes) > 0 {
		of := &u.classes[d.Class]
		u.of, u.method, u.deadline, u.own = of, of.method, of.deadline, of.own
	}
}

// request is what the next exchange sends.
func (u *unary) request() any {
	if u.of != nil && u.of.body != nil {
		return u.of.body
	}
	return u.outgoing(u.x.UpBytes)
}
