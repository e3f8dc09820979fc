package httpwire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/head"
	"netdyno/internal/quantity"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// class is how a class's exchanges are asked for.
type class struct {
	name     string
	method   string
	pieces   []string // of the path, between which the key stands; none for the client's own
	ask      *Ask
	deadline time.Duration // 0 for none
	bodiless bool          // its replies have no body
	body     []byte        // of its requests; nil for random content
}

// classesOf prepares the classes of a load. The error is of kind setup.
func (c *Client) classesOf() ([]class, error) {
	bodies, err := wire.BodiesOf(c.Setup)
	if err != nil {
		return nil, err
	}
	var all []class
	for i, of := range c.Setup.Load.Classes {
		ask := c.Ask
		if of.Status != 0 {
			ask.Status, ask.Success = of.Status, false
		} else if ask.Status == http.StatusOK {
			ask.Success = true
		}
		if of.Method != "" {
			ask.Method = of.Method
		}
		own, err := head.Parse(strings.Join(of.Headers, "\n"))
		if err != nil {
			return nil, load.Failure(contract.SetupFailed, fmt.Errorf("class %s: headers: %w", of.Name, err))
		}
		ask.Headers = head.Over(own, ask.Headers)
		k := class{name: of.Name, method: ask.method(of.UpBytes > 0), ask: &ask, deadline: time.Duration(of.DeadlineNs)}
		k.bodiless = k.method == http.MethodHead
		if bodies != nil {
			k.body = bodies[i]
		}
		if of.Path != "" {
			if !strings.HasPrefix(of.Path, "/") {
				return nil, load.Failure(contract.SetupFailed, fmt.Errorf("class %s: path %q does not begin with a slash", of.Name, quantity.Clip(of.Path, 80)))
			}
			k.pieces = strings.Split(of.Path, "{key}")
		}
		all = append(all, k)
	}
	return all, nil
}

// beOf makes the slot's next exchange one of the class that was drawn for it.
func (k *call) beOf(d load.Draw) {
	k.drawn = d
	k.content.Take(d)
	if len(k.client.classes) == 0 {
		return
	}
	of := &k.client.classes[d.Class]
	k.of, k.request.Method, k.request.Ask = of, of.method, of.ask
	if of.bodiless {
		k.content.DownBytes = 0
	}
}

// carried returns what the exchange carries: what was recorded, else the body of its class,
// else random content.
func (k *call) carried(random []byte) []byte {
	if recorded, is := k.content.CarriedOf(k.drawn); is {
		k.request.MediaType = recorded.MediaType
		return recorded.Content
	}
	if k.request.MediaType = k.content.MediaType(); k.of.body != nil {
		return k.of.body
	}
	return random
}

// url returns what the exchange asks for: the path of its class or of recorded traffic,
// else that of the client.
func (k *call) url() string {
	if k.of == nil {
		return k.next()
	}
	if path := k.content.PathOf(k.drawn); path != "" {
		return k.turns.base + path
	}
	switch len(k.of.pieces) {
	case 0:
		return k.next()
	case 1:
		return k.turns.base + k.of.pieces[0]
	}
	return k.turns.base + strings.Join(k.of.pieces, strconv.FormatInt(k.drawn.Key, 10))
}

// within carries the request within its deadline, if it has one.
func (k *call) within() error {
	limit := time.Duration(k.client.Setup.Load.DeadlineNs)
	if k.of != nil && k.of.deadline > 0 {
		limit = k.of.deadline
	}
	if limit == 0 {
		return k.carry()
	}
	whole := k.ctx
	ctx, cancel := context.WithTimeout(whole, limit)
	k.ctx = ctx
	err := k.carry()
	k.ctx = whole
	cancel()
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return load.PassingError{Err: NoReplyWithin(limit)}
	}
	return err
}

// NoReplyWithin says of an exchange that it ended at its deadline.
func NoReplyWithin(deadline time.Duration) error {
	return load.Failure(contract.Timeout, fmt.Errorf("no reply within the deadline of %s", quantity.FormatDuration(deadline)))
}

// next returns the URL whose turn it is.
func (k *call) next() string {
	place := k.turns.place()
	if told := k.client.told; k.slot != nil && len(told.names) > 1 {
		k.slot.AsksFor(told.of[place])
	}
	return k.turns.urls[place]
}
