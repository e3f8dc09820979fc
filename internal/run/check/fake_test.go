package check

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/run/rig"
)

// The test binary plays the worker under check: with this variable set it is
// one, honest or with the named fault.
const faultVariable = "NETDYNO_CHECK_FAULT"

const honest = "honest"

// fake is a worker with a pair transport that moves nothing: every millisecond
// each slot completes an exchange. One goroutine works, another reads stdin.
type fake struct {
	fault string
	out   *contract.Writer

	mu                     sync.Mutex
	setup                  *contract.Setup
	started, closed, ended bool
	startNs, fromNs, toNs  int64
	due                    []int64 // open loop, per slot
	rng                    *rand.Rand
	total, inWindow        int64
	service, response, lag *hist.Histogram // from the opening mark on
}

func playFake(fault string) {
	f := &fake{
		fault: fault, out: contract.NewWriter(os.Stdout), rng: rand.New(rand.NewPCG(1, 1)),
		service: hist.New(), response: hist.New(), lag: hist.New(),
	}
	if fault != "silent" {
		f.say(contract.Message{Hello: f.hello()})
	}
	reader := contract.NewReader(os.Stdin)
	for {
		m, err := reader.Read()
		var bad *contract.LineError
		if errors.As(err, &bad) {
			f.complain(fault == "fatal remarks", bad.Error())
			if bad.Torn {
				return
			}
			continue
		}
		if err != nil {
			switch fault {
			case "ignores end of input":
				time.Sleep(time.Minute)
			case "floods":
				fmt.Print(strings.Repeat(`{"tick":{"at_ns":1,"exchanges":0,"received_bytes":0}}`+"\n", rig.MaxUnread+100))
			}
			return
		}
		f.obey(m)
	}
}

func (f *fake) hello() *contract.Hello {
	most := 10.0
	o := contract.Option{Name: "size", Type: contract.TypeInt, Default: 5, Max: &most, Doc: "Size."}
	h := &contract.Hello{Contract: contract.Version, Worker: "fake", Version: "1"}
	switch f.fault {
	case "another version":
		h.Contract++
	case "default outside its range":
		o.Default = 11
	}
	h.Transports = []contract.Transport{{
		Name: "fake", Doc: "Moves nothing.", Wire: "null", Delivery: contract.DeliveryMessage,
		Roles: []contract.Role{contract.Pair}, Options: []contract.Option{o},
	}}
	return h
}

func (f *fake) say(m contract.Message) { _ = f.out.Write(m) } // a reader that is gone ends the test anyway

func (f *fake) complain(fatal bool, text string) {
	f.say(contract.Message{Error: &contract.Error{Kind: contract.Invalid, Text: text, Fatal: fatal}})
}

func (f *fake) fail(kind contract.ErrorKind, text string) {
	f.say(contract.Message{Error: &contract.Error{Kind: kind, Text: text, Fatal: true}})
	os.Exit(1)
}

func (f *fake) obey(m contract.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case m.Setup != nil && f.setup == nil:
		f.prepare(m.Setup)
	case f.setup == nil, m.Setup != nil, m.Start != nil && f.started:
		f.complain(false, m.Name()+" does not fit the state")
	case m.Start != nil:
		if f.fault == "crashes" {
			fmt.Fprintln(os.Stderr, "segmentation imagined")
			os.Exit(7)
		}
		f.started, f.startNs = true, time.Now().UnixNano()
		if f.setup.Load.Amount > 0 && f.fromNs == 0 {
			f.fromNs = f.startNs
		}
		go f.work()
		go f.tick()
	case m.Mark != nil:
		f.mark(*m.Mark)
	case m.Stop != nil:
		if f.fault != "never results" {
			f.close()
			f.result()
		}
	}
}

func (f *fake) prepare(s *contract.Setup) {
	size, _ := s.Options["size"].(float64)
	switch {
	case s.Transport != "fake" || s.Role != contract.Pair:
		f.fail(contract.Unsupported, "there is only fake as pair")
	case size > 10 && f.fault != "takes any value":
		f.fail(contract.SetupFailed, "size: at most 10")
	case s.Options["no_such_option"] != nil && f.fault != "takes any option":
		f.fail(contract.SetupFailed, "no such option; nearest is size")
	}
	f.setup = s
	if f.fault == "prints noise" {
		fmt.Println("listening on port 4000")
	}
	ready := &contract.Ready{Connections: s.Load.Connections, Verified: s.Load.Connections}
	if f.fault == "verifies nothing" {
		ready.Verified = 0
	}
	f.say(contract.Message{Ready: ready})
}

// work completes what is due, every millisecond.
func (f *fake) work() {
	l := f.setup.Load
	f.due = make([]int64, l.Connections)
	for i := range f.due {
		f.due[i] = f.startNs + f.gap(float64(i)+0.5)
	}
	for range time.Tick(time.Millisecond) {
		f.mu.Lock()
		now := time.Now().UnixNano()
		for i := range f.due {
			for !f.closed || f.fault == "goes on after the closing mark" {
				if l.Rate > 0 && f.due[i] > now || l.Amount > 0 && f.total == l.Amount*int64(l.Connections) {
					break
				}
				f.complete(now, f.due[i])
				f.due[i] += f.gap(float64(l.Connections))
				if l.Rate == 0 {
					break
				}
			}
		}
		if !f.ended && l.Amount > 0 && f.total == l.Amount*int64(l.Connections) {
			f.close()
			f.result()
		}
		f.mu.Unlock()
	}
}

// gap returns the time that n exchanges of the whole rate take.
func (f *fake) gap(n float64) int64 {
	l := f.setup.Load
	switch {
	case l.Rate == 0:
		return 0
	case f.fault == "half the rate":
		n *= 2
	case l.Arrival == contract.Poisson:
		n *= f.rng.ExpFloat64()
	}
	return int64(n / l.Rate * 1e9)
}

func (f *fake) complete(now, due int64) {
	f.total++
	if f.fromNs == 0 {
		return
	}
	if !f.closed {
		f.inWindow++
	}
	f.service.Record(1e6, 1)
	if f.setup.Load.Rate > 0 || f.fault == "invents samples" {
		f.response.Record(now-due, 1)
		f.lag.Record(now-due, 1)
	}
}

func (f *fake) counts(n int64) contract.Counts {
	c := contract.Counts{Exchanges: n, SentBytes: n * messageBytes, ReceivedBytes: n * messageBytes}
	if f.fault == "lies about bytes" {
		c.ReceivedBytes += messageBytes
	}
	return c
}

func (f *fake) mark(m contract.Mark) {
	if f.fault == "answers marks late" {
		time.Sleep(time.Minute)
	}
	now := time.Now().UnixNano()
	if f.fault == "has a slow clock" {
		now = f.startNs + (now-f.startNs)/2
	}
	if m.Reset {
		f.fromNs = now
	} else if f.fromNs > 0 {
		f.close()
	}
	c := f.counts(f.total)
	if f.fault == "resets its sums" && m.Reset {
		c = f.counts(0)
	}
	m.Reading = &contract.Reading{AtNs: now, CPUNs: now - f.startNs, Counts: c}
	f.say(contract.Message{Mark: &m})
}

func (f *fake) close() {
	if !f.closed {
		f.closed, f.toNs = true, time.Now().UnixNano()
	}
}

func (f *fake) result() {
	if f.ended && f.fault != "sends two results" {
		return
	}
	f.ended = true
	r := &contract.Result{FromNs: f.fromNs, ToNs: f.toNs, Counts: f.counts(f.inWindow), Drained: f.service.Count() - f.inWindow}
	switch f.fault {
	case "loses a sample":
		r.Drained++
	case "halves its window":
		r.ToNs = (r.FromNs + r.ToNs) / 2
	case "counts below zero":
		r.Unfinished = -3
	}
	for _, h := range []struct {
		of *hist.Histogram
		to *string
	}{{f.service, &r.Service}, {f.response, &r.Response}, {f.lag, &r.Lag}} {
		if h.of.Count() > 0 {
			*h.to, _ = h.of.Encode() // what Record took, Encode can say
		}
	}
	if f.fault == "histogram of its own" {
		r.Service = strings.ToLower(r.Service)
	}
	f.say(contract.Message{Result: r})
}

func (f *fake) tick() {
	for f.fault != "has no ticks" {
		time.Sleep(200 * time.Millisecond)
		f.mu.Lock()
		if !f.ended {
			f.say(contract.Message{Tick: &contract.Tick{AtNs: time.Now().UnixNano(), Exchanges: f.total, ReceivedBytes: f.total * messageBytes}})
		}
		f.mu.Unlock()
	}
}
