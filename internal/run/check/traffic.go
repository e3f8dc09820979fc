package check

import (
	"errors"
	"fmt"
	"math"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
)

const (
	warmUp = 100 * time.Millisecond
	window = 300 * time.Millisecond
)

// account is what the client of one conversation said: the readings at the
// window's edges and the result.
type account struct {
	opening, closing *contract.Reading
	result           *contract.Result

	least, most time.Duration // between the readings by our clock, whatever the worker took to answer
}

// measure takes the client through warm-up, window and result. Between the
// closing mark and stop it leaves time for whoever goes on working.
func (e *ends) measure(s *subject, window time.Duration) (a account, err error) {
	if err = e.start(); err != nil {
		return a, err
	}
	s.pause(warmUp)
	asked := time.Now()
	if a.opening, err = e.client.mark(1, true); err != nil {
		return a, err
	}
	answered := time.Now()
	s.pause(window)
	a.least = time.Since(answered)
	if a.closing, err = e.client.mark(2, false); err != nil {
		return a, err
	}
	a.most = time.Since(asked)
	s.pause(warmUp)
	a.result, err = e.stop()
	return a, err
}

func marks(s *subject) error {
	e, err := s.run(contract.Load{})
	if err != nil {
		return err
	}
	var before contract.Reading
	for id, reset := range []bool{false, true, false, false} {
		s.pause(warmUp)
		if id < 3 { // under load
			if err := e.client.progress(before.Counts.Exchanges); err != nil {
				return err
			}
		}
		r, err := e.client.mark(id+1, reset)
		var early unexpected
		if id == 3 && errors.As(err, &early) && early.got.Result != nil {
			r, err = e.client.reading(id+1, reset) // drained, it need not wait for stop
		}
		if err != nil {
			return err
		}
		if err := follows(before, *r); err != nil {
			return fmt.Errorf("mark %d: %w", id+1, err)
		}
		if closed := id == 3; !closed && r.Counts.Exchanges == before.Counts.Exchanges {
			return fmt.Errorf("mark %d: no exchange was completed in %v; only the mark that closes the window ends the load", id+1, warmUp+starved)
		}
		before = *r
	}
	return e.finish()
}

// starved is how long a busy machine may hold a worker up.
const starved = 2 * time.Second

// progress waits until a tick tells of more exchanges than so many, at most as long as a
// worker may be held up.
func (w *session) progress(exchanges int64) error {
	for deadline := time.Now().Add(starved); ; {
		m, err := w.nextMessage(time.Until(deadline))
		var silent silentError
		switch {
		case errors.As(err, &silent):
			return nil // the next reading tells
		case err != nil:
			return err
		case m.Tick == nil:
			return unexpected{"tick", w.last, m}
		case m.Tick.Exchanges > exchanges:
			return nil
		}
	}
}

// follows checks that nothing cumulative fell between two readings.
func follows(before, after contract.Reading) error {
	for _, v := range []struct {
		name          string
		before, after int64
	}{
		{"at_ns", before.AtNs, after.AtNs},
		{"cpu_ns", before.CPUNs, after.CPUNs},
		{"counts.exchanges", before.Counts.Exchanges, after.Counts.Exchanges},
		{"counts.sent_bytes", before.Counts.SentBytes, after.Counts.SentBytes},
		{"counts.received_bytes", before.Counts.ReceivedBytes, after.Counts.ReceivedBytes},
	} {
		if v.after < v.before {
			return fmt.Errorf("%s fell from %d to %d", v.name, v.before, v.after)
		}
	}
	return nil
}

func checkCounts(s *subject) error {
	e, err := s.connect(contract.Load{})
	if err != nil {
		return err
	}
	var serverBefore, serverAfter *contract.Reading
	if e.server != nil {
		if serverBefore, err = e.server.mark(1, true); err != nil {
			return fmt.Errorf("server: %w", err)
		}
	}
	a, err := e.measure(s, window)
	if err != nil {
		return err
	}
	if err := a.closes(false); err != nil {
		return err
	}
	if n := a.result.Drained + a.result.Unfinished; n > connections {
		return fmt.Errorf("%d exchanges were drained or unfinished, expected at most %d, one per slot: "+
			"a closed loop begins nothing after the closing mark", n, connections)
	}
	if e.server != nil {
		if serverAfter, err = e.server.mark(2, false); err != nil {
			return fmt.Errorf("server: %w", err)
		}
		completed := a.closing.Counts.Exchanges + a.result.Drained
		if err := agree(serverBefore.Counts, serverAfter.Counts, completed); err != nil {
			return err
		}
		if _, err := e.server.ask(contract.Message{Stop: &contract.Stop{}}, "result", drainTakes); err != nil {
			return fmt.Errorf("server: %w", err)
		}
	}
	return e.finish()
}

// closes checks a client's account against itself. At the switch of the window
// each slot may be in the middle of counting one exchange.
func (a account) closes(open bool) error {
	r := a.result
	inWindow := a.closing.Counts.Exchanges - a.opening.Counts.Exchanges
	switch n := r.Counts.Exchanges; {
	case n <= 0:
		return errors.New("no exchange was completed in the window")
	case r.Counts.ReceivedBytes != n*messageBytes:
		return fmt.Errorf("result says %d exchanges of %d bytes down and %d bytes received, expected %d",
			n, messageBytes, r.Counts.ReceivedBytes, n*messageBytes)
	case r.Counts.SentBytes != n*messageBytes:
		return fmt.Errorf("result says %d exchanges of %d bytes up and %d bytes sent, expected %d", n, messageBytes, r.Counts.SentBytes, n*messageBytes)
	case math.Abs(float64(n-inWindow)) > connections:
		return fmt.Errorf("result says %d exchanges in the window, the readings at its edges differ by %d", n, inWindow)
	case r.ToNs <= r.FromNs:
		return fmt.Errorf("the window goes from %d to %d ns", r.FromNs, r.ToNs)
	}
	for _, of := range []struct {
		name  string
		lasts int64
	}{{"the readings at its edges", a.closing.AtNs - a.opening.AtNs}, {"result", r.ToNs - r.FromNs}} {
		if err := a.timed(time.Duration(of.lasts)); err != nil {
			return fmt.Errorf("by %s %w", of.name, err)
		}
	}
	if err := insideAgrees(r, open); err != nil {
		return err
	}
	for kind, n := range r.Counts.Errors {
		if n > 0 {
			return fmt.Errorf("result counts %d errors of kind %s on a loopback with nothing in its way", n, kind)
		}
	}
	return countsAgree(r, open)
}

// clockSlack is by how much two clocks may run at different speeds, and by how long
// after its instant a worker may switch its window.
const (
	clockSlack  = 0.01
	switchSlack = 50 * time.Millisecond
)

// timed checks a length that the worker gives its window against our clock: the
// readings were taken after each mark was sent and before it was answered.
func (a account) timed(lasts time.Duration) error {
	least := time.Duration(float64(a.least)*(1-clockSlack)) - switchSlack
	most := time.Duration(float64(a.most)*(1+clockSlack)) + switchSlack
	if lasts < least || lasts > most {
		return fmt.Errorf("the window lasted %v, expected %v to %v, as the marks were that far apart",
			lasts, a.least.Round(time.Millisecond), a.most.Round(time.Millisecond))
	}
	return nil
}

// insideAgrees checks the exchanges that a client counted as inside its window: their
// number differs from that of the completed ones by at most one for each slot and edge.
func insideAgrees(r *contract.Result, open bool) error {
	in := r.Inside
	if in == nil {
		return nil // optional
	}
	n := float64(r.Counts.Exchanges)
	switch {
	case math.Abs(in.Exchanges-n) > 2*connections || math.Abs(in.Cycles-n) > 2*connections:
		return fmt.Errorf("inside says %.1f exchanges and %.1f cycles of %.0f that completed in the window, with %d slots (section result)", in.Exchanges, in.Cycles, n, connections)
	case open == (in.Due == 0):
		return fmt.Errorf("inside says that %.1f exchanges fell due, expected a number in an open loop and none in a closed one", in.Due)
	}
	return nil
}

// countsAgree checks a result's histograms: as many values as exchanges, and none
// where they would be invented.
func countsAgree(r *contract.Result, open bool) error {
	want := r.Counts.Exchanges + r.Drained
	for _, h := range []struct {
		name, text string
		there      bool
	}{{"service", r.Service, true}, {"response", r.Response, open}, {"lag", r.Lag, open}} {
		got, err := hist.Decode(h.text)
		if err != nil {
			return fmt.Errorf("read histogram %s of result: %w (section Histograms)", h.name, err)
		}
		if h.there && got.Count() != want {
			return fmt.Errorf("histogram %s holds %d values, expected exchanges + drained = %d + %d", h.name, got.Count(), r.Counts.Exchanges, r.Drained)
		}
		if !h.there && got.Count() > 0 {
			return fmt.Errorf("histogram %s holds %d values in a closed loop without think time, expected none", h.name, got.Count())
		}
	}
	lengths, err := hist.Decode(r.Lengths)
	if err != nil {
		return fmt.Errorf("read histogram lengths of result: %w (section Histograms)", err)
	}
	if lengths.Count() > 0 && lengths.Count() != want {
		return fmt.Errorf("histogram lengths holds %d values, expected exchanges + drained = %d + %d, or none", lengths.Count(), r.Counts.Exchanges, r.Drained)
	}
	ages, err := hist.Decode(r.Ages)
	if err != nil {
		return fmt.Errorf("read histogram ages of result: %w (section Histograms)", err)
	}
	if ages.Count() != r.Unfinished {
		return fmt.Errorf("histogram ages holds %d values, expected unfinished = %d", ages.Count(), r.Unfinished)
	}
	return nil
}

// agree compares what the server counted with what the client completed; the
// exchanges in flight at the end, one per slot, may be on one side only.
func agree(before, after contract.Counts, completed int64) error {
	const slack = connections * messageBytes
	for _, side := range []struct {
		name string
		got  int64
	}{{"received", after.ReceivedBytes - before.ReceivedBytes}, {"sent", after.SentBytes - before.SentBytes}} {
		if want := completed * messageBytes; side.got < want-slack || side.got > want+slack {
			return fmt.Errorf("the client completed %d exchanges, %d bytes each way, and the server says it %s %d",
				completed, want, side.name, side.got)
		}
	}
	if after.Exchanges != after.ReceivedBytes/messageBytes {
		return fmt.Errorf("the server says %d bytes received and %d exchanges, expected received_bytes / up_bytes = %d",
			after.ReceivedBytes, after.Exchanges, after.ReceivedBytes/messageBytes)
	}
	return nil
}

func amount(s *subject) error {
	const each = 25
	e, err := s.run(contract.Load{Amount: each})
	if err != nil {
		return err
	}
	m, err := e.client.expect("result", setupTakes)
	if err != nil {
		return err
	}
	if n := m.Result.Counts.Exchanges; n != each*connections {
		return fmt.Errorf("result says %d exchanges, expected %d on each of %d connections = %d", n, each, connections, each*connections)
	}
	if err := countsAgree(m.Result, false); err != nil {
		return err
	}
	if err := e.client.send(contract.Message{Stop: &contract.Stop{}}); err != nil {
		return err
	}
	s.pause(warmUp)
	return e.finish() // which hears of a second result
}

// openLoop is a case: the achieved rate lies within a share of the offered one, low enough
// for any machine. What is compared is the rate over the worker's own window, so a slow
// test machine does not change it. One that is busy with other things may hold a worker up
// for half a window, so it is asked again.
func openLoop(load contract.Load, window time.Duration, share float64) func(*subject) error {
	return func(s *subject) error {
		err := offeredRate(s, load, window, share)
		var off rateError
		for again := 2; again > 0 && errors.As(err, &off); again-- {
			s.close()
			err = offeredRate(s, load, window, share)
		}
		return err
	}
}

// plainRate is what an open loop is asked for, in exchanges per second.
const plainRate = 200

// arriving is an open loop of one kind of arrivals, over a second.
func arriving(arrival contract.Arrival, share float64) func(*subject) error {
	return openLoop(contract.Load{Rate: plainRate, Arrival: arrival}, time.Second, share)
}

// rateError says that another rate was achieved than was offered.
type rateError string

func (e rateError) Error() string { return string(e) }

func offeredRate(s *subject, load contract.Load, window time.Duration, share float64) error {
	e, err := s.connect(load)
	if err != nil {
		return err
	}
	a, err := e.measure(s, window)
	if err != nil {
		return err
	}
	if err := a.closes(true); err != nil {
		return err
	}
	seconds := float64(a.result.ToNs-a.result.FromNs) / 1e9
	if achieved := float64(a.result.Counts.Exchanges) / seconds; math.Abs(achieved-load.Rate) > share*load.Rate {
		return rateError(fmt.Sprintf("%.0f exchanges per second were completed over %.2f s, expected %.0f within %.0f %%", achieved, seconds, load.Rate, share*100))
	}
	return e.finish()
}
