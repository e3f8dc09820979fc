package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// client is a load by code that shares none with netdyno: connections of net/http, each of
// which carries a request at a time.
type client struct {
	URL         string
	connections int
	rate        float64 // evenly; 0 for a closed loop
	before      int     // requests that do not count, at first
	window      time.Duration

	mu     sync.Mutex
	taken  int
	opened time.Time
	asked  []asked
	err    error
}

// asked is a request: in a closed loop it is due when it is sent.
type asked struct {
	due, sent, there time.Time
	good             bool
}

// seen is what good replies were like.
type seen struct {
	perS float64
	took []float64 // ms since the request was due, sorted
}

// at is the percentile that a share of all does not exceed.
func (s seen) at(share float64) float64 {
	return s.took[min(int(share*float64(len(s.took))), len(s.took)-1)]
}

// measure opens the connections, asks for as long as the window is open, and awaits all replies.
func (c *client) measure() (seen, error) {
	var asks sync.WaitGroup
	begun := time.Now()
	for range c.connections {
		asks.Go(func() {
			transport := &http.Transport{MaxConnsPerHost: 1}
			defer transport.CloseIdleConnections()
			for {
				due, more := c.next(begun)
				if !more {
					return
				}
				time.Sleep(time.Until(due))
				c.ask(transport, due)
			}
		})
	}
	asks.Wait()
	s := c.seen()
	if c.err != nil || len(s.took) == 0 {
		return s, errors.Join(fmt.Errorf("the client asked %s and has %d good replies", c.URL, len(s.took)), c.err)
	}
	return s, nil
}

// planted is what the client would see of a server that does nothing but behave, over
// connections that take no time.
func (c *client) planted(behave behaviour) seen {
	begun, free := time.Now(), make([]time.Duration, c.connections)
	for n := 0; n <= c.before || c.asked[n-1].due.Sub(c.opened) < c.window; n++ {
		first := slices.Index(free, slices.Min(free))
		due := free[first]
		if c.rate > 0 {
			due = time.Duration(float64(n) / c.rate * float64(time.Second))
		}
		sent := max(due, free[first])
		took, status := behave(n, sent)
		free[first] = sent + took
		c.asked = append(c.asked, asked{begun.Add(due), begun.Add(sent), begun.Add(sent + took), status == http.StatusOK})
		if n == c.before {
			c.opened = begun.Add(due)
		}
	}
	return c.seen()
}

// next says when a free connection's next request is due.
func (c *client) next(begun time.Time) (due time.Time, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	due = time.Now()
	if c.rate > 0 {
		due = begun.Add(time.Duration(float64(c.taken) / c.rate * float64(time.Second)))
	}
	if c.taken == c.before {
		c.opened = due
	}
	c.taken++
	return due, c.taken <= c.before || due.Sub(c.opened) < c.window
}

func (c *client) ask(transport *http.Transport, due time.Time) {
	a := asked{due: due, sent: time.Now()}
	if c.rate == 0 {
		a.due = a.sent
	}
	request, err := http.NewRequest(http.MethodGet, c.URL, nil)
	if err == nil {
		var reply *http.Response
		if reply, err = transport.RoundTrip(request); err == nil {
			_, err = io.Copy(io.Discard, reply.Body)
			err = cmp.Or(err, reply.Body.Close())
			a.there, a.good = time.Now(), reply.StatusCode == http.StatusOK
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = cmp.Or(c.err, err)
	c.asked = append(c.asked, a)
}

// seen has the times of requests that were due in the window, and the rate of those under way
// in it, each by the share of its time.
func (c *client) seen() seen {
	var s seen
	closed := c.opened.Add(c.window)
	for _, a := range c.asked {
		if !a.good {
			continue
		}
		if !a.due.Before(c.opened) && a.due.Before(closed) {
			s.took = append(s.took, a.there.Sub(a.due).Seconds()*1000)
		}
		from, to := slices.MaxFunc([]time.Time{a.sent, c.opened}, time.Time.Compare), slices.MinFunc([]time.Time{a.there, closed}, time.Time.Compare)
		s.perS += max(0, to.Sub(from).Seconds()) / a.there.Sub(a.sent).Seconds() / c.window.Seconds()
	}
	slices.Sort(s.took)
	return s
}
