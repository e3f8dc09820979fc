package httpwire

import (
	"io"
	"sync/atomic"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/events"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// sized is the level of option events for messages of netdyno's own streams.
const sized = "sized"

// MostEvents bounds option most_events.
const MostEvents = 1e9

// EventOptions declares the options of clients that tell when events of replies come.
func EventOptions() []contract.Option {
	client, zero, most := []contract.Role{contract.Client}, 0.0, MostEvents
	day := float64(24 * time.Hour)
	choices := []string{sized}
	for _, k := range events.Kinds {
		choices = append(choices, string(k))
	}
	return []contract.Option{
		{Name: "events", Type: contract.TypeChoice, Default: sized, Choices: choices, Roles: client,
			Doc: "what an event of a reply is: sized, a message of the factor chunk; sse, a server-sent event with data; chat, one with text of an OpenAI-compatible endpoint; lines; chunks, what comes at once"},
		{Name: "most_events", Type: contract.TypeInt, Default: int64(0), Min: &zero, Max: &most, Roles: client,
			Doc: "events after which the client ends a reply; 0 is without bound"},
		{Name: "events_for", Type: contract.TypeDuration, Default: int64(0), Min: &zero, Max: &day, Roles: client,
			Doc: "time since the reply began after which the client ends it; 0 is without bound"},
	}
}

// Follower tells a slot when the parts of its replies come. One goroutine uses it.
type Follower struct {
	slot     *load.Slot       // nil of a connection's first exchange, whose reply ends with its first event
	splitter *events.Splitter // nil where events are messages
	messages wire.Messages
	most     int64         // events after which a reply ends; 0 for all
	lasts    time.Duration // after which it ends; 0 for ever

	discards bool     // replies have any length and are not kept
	whole    bool     // the first one is followed as others are: something is expected of it
	arrived  *Arrival // of the connection; nil where its reads are not seen

	from  io.Reader
	timer *time.Timer // ends the reply; nil unless lasts
	came  int64       // bytes of the reply
	seen  int64       // events of it
	over  bool        // the reply is ended by this end
}

// Arrival is when bytes of a connection were read last. One goroutine may set it while another
// asks.
type Arrival struct{ at atomic.Int64 }

// Now says that bytes were read.
func (a *Arrival) Now() { a.at.Store(load.Now()) }

// Last returns when they were; the present of a nil Arrival, and before the first.
func (a *Arrival) Last() int64 {
	if a != nil {
		if at := a.at.Load(); at > 0 {
			return at
		}
	}
	return load.Now()
}

// Arrival returns where a library says when bytes of connection i were read, which is what the
// parts of its replies are timed by: parsing a head and handing a reply over may take it as long as
// a wake-up. Nil where a connection carries several exchanges.
func (c *Client) Arrival(i int) *Arrival {
	if !c.oneAtATime {
		return nil
	}
	return &c.arrivals[i]
}

// follower returns what follows replies of connection i; nil where nobody asks when their parts
// come.
func (c *Client) follower(i int) *Follower {
	if !c.Setup.Events {
		return nil
	}
	o := load.Options(c.Setup.Options)
	f := &Follower{arrived: c.Arrival(i), whole: c.Ask.ChecksBodies(), messages: wire.MessagesOf(c.Setup.Exchange), most: o.Int("most_events"), lasts: time.Duration(o.Int("events_for"))}
	kind, given := c.Setup.Options["events"].(string) // not where messages are events
	if f.discards = c.Ask.Any && !c.Ask.ChecksBodies() && kind != sized; given && kind != sized {
		f.splitter = events.New(events.Kind(kind))
	}
	return f
}

// Begin says that a reply has begun, and returns its body as it is followed from then on.
// cut ends the reply where its time is over. A nil follower returns the body itself.
func (f *Follower) Begin(body io.Reader, cut func()) io.Reader {
	if f == nil {
		return body
	}
	f.from, f.came, f.seen, f.over = body, 0, 0, false
	if f.splitter != nil {
		f.splitter.Reset()
	}
	if f.lasts > 0 {
		f.timer = time.AfterFunc(f.lasts, cut)
	}
	return f
}

// Discards tells whether nobody needs what replies hold, but how long they are.
func (f *Follower) Discards() bool { return f != nil && f.discards }

// Ended tells whether this end ended the reply, and lets go of it.
func (f *Follower) Ended() bool {
	if f == nil {
		return false
	}
	f.from = nil
	return f.timeOver()
}

// timeOver tells whether the reply's time is over, and lets no more of it pass.
func (f *Follower) timeOver() bool {
	if f.timer != nil && !f.timer.Stop() {
		f.over = true
	}
	f.timer = nil
	return f.over
}

// Read implements io.Reader: it reads on and tells what came.
func (f *Follower) Read(p []byte) (int, error) {
	if f.over {
		return 0, io.EOF
	}
	n, err := f.from.Read(p)
	at, ended := load.Now(), int64(0)
	if n > 0 {
		at = f.arrived.Last()
	}
	if f.splitter == nil {
		ended = f.messages.Ended(f.came, f.came+int64(n))
	} else {
		split, wrong := f.splitter.Take(p[:n], err == io.EOF)
		if wrong != nil {
			return n, &load.ReasonError{Err: load.Failure(contract.Invalid, wrong), Text: wrong.Error()}
		}
		ended = int64(split)
	}
	f.came += int64(n)
	f.tell(ended, at)
	if f.whole && err != nil && err != io.EOF && f.timeOver() {
		err = io.EOF // what came is looked at
	}
	return n, err
}

// tell tells of events that ended.
func (f *Follower) tell(ended, at int64) {
	for ; ended > 0 && !f.over; ended-- {
		f.seen++
		if f.slot == nil && !f.whole {
			f.over = f.splitter != nil || f.discards
			continue
		}
		if f.slot != nil {
			f.slot.Event(at)
		}
		f.over = f.seen == f.most
	}
}

// Message says that so many bytes came as a message, which is an event by itself, and tells
// whether the reply ends with it. A nil follower expects more.
func (f *Follower) Message(bytes int64) (over bool) {
	if f == nil {
		return false
	}
	f.came += bytes
	f.tell(1, load.Now())
	return f.over
}

// Came tells whether an event of the reply has come.
func (f *Follower) Came() bool { return f != nil && f.seen > 0 }
