package check

import (
	"errors"
	"fmt"
	"time"

	"netdyno/internal/contract"
)

const (
	eofSays  = "EOF on stdin means: stop and exit with status 0 within 2 s, in any state"
	eofFix   = "Keep reading stdin beside the work, and leave connections to the kernel when it ends"
	oddSays  = "a command that does not fit the state is answered with an error of kind invalid, not fatal"
	countFix = "Count an exchange when its last byte has come, once, in the stretch in which it completes"
)

// transportRules concern one transport of the worker.
var transportRules = []rule{
	{"an unknown role", "setup", "a role that this transport does not have is a fatal error of kind unsupported",
		"Compare setup.role with the roles of hello", func(s *subject) error {
			return fatalSetup(s, contract.Setup{Transport: s.transport.Name, Role: "spectator"}, contract.Unsupported)
		}},
	{"an unknown option", "setup", "an option that does not exist is a fatal error of kind setup",
		"Look every option up among those of hello, and say the nearest name", unknownOption},
	{"an option out of range", "setup", "an option that is out of range is a fatal error of kind setup",
		"Check options against what hello declares", optionOutOfRange},
	{"unknown fields", "Lines", "unknown fields are ignored, in a message and beside it", "Read the fields you know, and no others", unknownField},
	{"two messages on a line", "Lines", "a line has exactly one message key", invalidFix, twoMessages},
	{"a second setup", "Life", oddSays, invalidFix, secondSetup},
	{"a second start", "Life", oddSays, invalidFix, secondStart},
	{"end of input, ready", "Life", eofSays, eofFix, endsAfter((*subject).alone)},
	{"end of input, running", "Life", eofSays, eofFix, endIn(func(*subject, *ends) error { return nil })},
	{"end of input, window", "Life", eofSays, eofFix, endIn(func(_ *subject, e *ends) error {
		_, err := e.client.mark(1, true)
		return err
	})},
	{"end of input, done", "Life", eofSays, eofFix, endIn(func(_ *subject, e *ends) error {
		_, err := e.stop()
		return err
	})},
	{"ticks", "tick", "every 200 ms, from ready (server) or start (client) until the result",
		"Send ticks from a timer that the load cannot hold up", ticks},
	{"marks", "mark", "the answer repeats id and reset and adds a reading, promptly; counts are cumulative since ready and never fall",
		"Answer from a thread that the load cannot hold up, and keep sums, not differences", marks},
	{"the counts agree", "result", "counts are what completed inside the window; service has exchanges + drained values; samples are never invented",
		countFix, checkCounts},
	{"a fixed amount", "Life", "with load.amount above 0 a client sends its result when every exchange is completed, once", countFix, amount},
	{"open loop, constant", "Load", "each slot has a schedule that is drawn before anything is sent; response is completion − due",
		"Wait for the due time, not for an interval since the last exchange", arriving(contract.Constant, 0.2)},
	{"open loop, Poisson", "Load", "the gaps of a slot are exponential with mean slots/rate, from a generator seeded with seed and slot",
		"Draw the gaps as −ln(u) · slots/rate", arriving(contract.Poisson, 0.4)},
	{"the peer vanishes", "error", "a lost connection counts an error of kind peer for each exchange in flight; when none is left, that is a fatal error",
		"Treat end of file and reset as the end of the connection, and wait for no answer on it", peerVanishes},
	{"a connection is refused", "setup", "a connection refused is a fatal error of kind peer or setup", "Report what connect said", refused},
	{"a port in use", "setup", "a port in use is a fatal error of kind setup", "Report what bind or listen said", portInUse},
	{"two listeners", "setup", "bind listen with listeners ports; connect to peers in turn", "List every port's address in ready, and accept on all", twoListeners},
	{"a stranger connects", "setup", "a server closes connections whose address is not in allow",
		"Compare the peer's address at accept", stranger},
}

func unknownOption(s *subject) error {
	role := s.transport.Roles[0]
	return fatalSetup(s, contract.Setup{Transport: s.transport.Name, Role: role, Options: map[string]any{"no_such_option": 1}}, contract.SetupFailed)
}

func optionOutOfRange(s *subject) error {
	for _, o := range s.transport.Options {
		role := s.transport.Roles[0]
		if len(o.Roles) > 0 {
			role = o.Roles[0]
		}
		var value any
		switch {
		case o.Max != nil:
			value = *o.Max*2 + 1
		case o.Min != nil:
			value = *o.Min - 1
		case o.Type == contract.TypeChoice:
			value = "no-such-choice"
		default:
			continue
		}
		setup := contract.Setup{Transport: s.transport.Name, Role: role, Options: map[string]any{o.Name: value}}
		if err := fatalSetup(s, setup, contract.SetupFailed); err != nil {
			return fmt.Errorf("option %s: %w", o.Name, err)
		}
		return nil
	}
	return skipError{"the transport has no option with a range or choices"}
}

func unknownField(s *subject) error {
	w, err := s.alone()
	if err != nil {
		return err
	}
	if err := w.sendLine(`{"mark":{"id":1,"reset":true,"colour":{"red":[1]}},"note":"for a later version"}`); err != nil {
		return err
	}
	if _, err := w.expect("mark", prompt); err != nil {
		return err
	}
	return w.ends()
}

// twoMessages sends two commands that would both fit the state.
func twoMessages(s *subject) error {
	w, err := s.alone()
	if err != nil {
		return err
	}
	if _, err := w.refuse(`{"mark":{"id":1},"stop":{}}`, false, contract.Invalid); err != nil {
		return err
	}
	return w.ends()
}

func secondSetup(s *subject) error {
	w, err := s.alone()
	if err != nil {
		return err
	}
	role := contract.Server
	if s.has(contract.Pair) {
		role = contract.Pair
	}
	line, err := s.setupLine(contract.Setup{Transport: s.transport.Name, Role: role})
	if err != nil {
		return err
	}
	if _, err := w.refuse(line, false, contract.Invalid); err != nil {
		return err
	}
	if _, err := w.mark(1, true); err != nil {
		return fmt.Errorf("after the error the worker does not go on: %w", err)
	}
	return w.ends()
}

func secondStart(s *subject) error {
	e, err := s.run(contract.Load{})
	if err != nil {
		return err
	}
	if _, err := e.client.refuse(`{"start":{}}`, false, contract.Invalid); err != nil {
		return err
	}
	if _, err := e.client.mark(1, true); err != nil {
		return fmt.Errorf("after the error the worker does not go on: %w", err)
	}
	return e.finish()
}

// endIn is a case: a load runs, reach brings the client to a state, and stdin
// ends there.
func endIn(reach func(*subject, *ends) error) func(*subject) error {
	return func(s *subject) error {
		e, err := s.run(contract.Load{})
		if err != nil {
			return err
		}
		s.pause(50 * time.Millisecond)
		if err := reach(s, e); err != nil {
			return err
		}
		return e.finish()
	}
}

// ticks listens until three have come with a load under way, or for 1.5 s, in
// which 7 are due: a busy machine may swallow some.
func ticks(s *subject) error {
	const listen, least = 1500 * time.Millisecond, 3
	e, err := s.run(contract.Load{})
	if err != nil {
		return err
	}
	n, deadline := 0, time.Now().Add(listen)
	var before contract.Tick
	for n < least || before.Exchanges == 0 {
		m, err := e.client.nextMessage(time.Until(deadline))
		if silent := (silentError{}); errors.As(err, &silent) {
			break
		}
		if err != nil {
			return err
		}
		if m.Tick == nil {
			return unexpected{"tick", e.client.last, m}
		}
		if m.Tick.Exchanges < before.Exchanges || m.Tick.ReceivedBytes < before.ReceivedBytes || m.Tick.AtNs <= before.AtNs {
			return fmt.Errorf("a tick fell from %+v to %+v", before, *m.Tick)
		}
		before = *m.Tick
		n++
	}
	if n < least || before.Exchanges == 0 {
		return fmt.Errorf("in %v after start came %d ticks with %d exchanges, expected 7 (at least %d) and a load under way",
			listen, n, before.Exchanges, least)
	}
	return e.finish()
}
