package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"netdyno/internal/contract"
)

const invalidFix = "Answer with an error of kind invalid, fatal false, and read on"

// workerRules concern the worker as a whole; the first one is hello, without
// which there is no conversation.
var workerRules = []rule{
	{"hello comes at once", "hello", "the worker's first message, at once and unasked (the bench waits 10 s)",
		"Write and flush hello before anything slow, and print nothing else on stdout", helloComes},
	{"contract version", "Versioning", "hello.contract is the version, an integer",
		fmt.Sprintf("Send \"contract\":%d", contract.Version), versionFits},
	{"self-description", "hello", "names are unique; a default has its option's type and lies in its range",
		"Correct what hello says of the transport", descriptionHolds},
	{"end of input, born", "Life", eofSays,
		"Read stdin from the first moment on and exit at its end", endsAfter((*subject).launch)},
	{"end of input, idle", "Life", eofSays, "Exit when stdin ends", endsAfter((*subject).idle)},
	{"a line that is no message", "Lines", "it is answered with an error of kind invalid, not fatal, whose text quotes the line's beginning",
		invalidFix, garbageIsAnswered},
	{"an unknown command", "Lines", "an unknown command is answered with an error of kind invalid, not fatal",
		invalidFix, invalidCommand(`{"pause":{}}`)},
	{"a line of 3 MB", "Lines", "a line is at most 1 MiB long; a longer one is refused before it is stored",
		"Bound the line reader, and answer with an error of kind invalid", longLineIsRefused},
	{"start before setup", "Life", oddSays,
		invalidFix, invalidCommand(`{"start":{}}`)},
	{"mark before ready", "Life", oddSays,
		invalidFix, invalidCommand(`{"mark":{"id":1}}`)},
	{"stop before ready", "Life", oddSays,
		invalidFix, invalidCommand(`{"stop":{}}`)},
	{"an unknown transport", "setup", "a transport that this worker does not have is a fatal error of kind unsupported",
		"Look the name up among those of hello, and say the nearest", func(s *subject) error {
			return fatalSetup(s, contract.Setup{Transport: "no-such-transport", Role: contract.Server}, contract.Unsupported)
		}},
}

func helloComes(s *subject) error {
	_, err := s.idle()
	return err
}

// endsAfter is a case: a worker that begin has brought to a state ends with its input.
func endsAfter(begin func(*subject) (*session, error)) func(*subject) error {
	return func(s *subject) error {
		w, err := begin(s)
		if err != nil {
			return err
		}
		return w.ends()
	}
}

func versionFits(s *subject) error {
	h, err := s.hello()
	if err == nil && h.Contract != contract.Version {
		return fmt.Errorf("hello.contract is %d, expected %d", h.Contract, contract.Version)
	}
	return err
}

func garbageIsAnswered(s *subject) error {
	w, err := s.idle()
	if err != nil {
		return err
	}
	const garbage = "what a lovely day"
	e, err := w.refuse(garbage, false, contract.Invalid)
	if err != nil {
		return err
	}
	if !strings.Contains(e.Text, garbage) {
		return fmt.Errorf("after %q came an error that does not quote it: %s", garbage, e.Text)
	}
	return alive(w)
}

// invalidCommand is a case: the line is refused, and the worker lives on.
func invalidCommand(line string) func(*subject) error {
	return func(s *subject) error {
		w, err := s.idle()
		if err != nil {
			return err
		}
		if _, err := w.refuse(line, false, contract.Invalid); err != nil {
			return err
		}
		return alive(w)
	}
}

// alive proves that an idle worker still answers, and ends as it should.
func alive(w *session) error {
	if _, err := w.refuse(`{"resume":{}}`, false, contract.Invalid); err != nil {
		return fmt.Errorf("after the error the worker does not go on: %w", err)
	}
	return w.ends()
}

func longLineIsRefused(s *subject) error {
	w, err := s.idle()
	if err != nil {
		return err
	}
	// A worker may stop reading stdin at the bound, so that the rest of the
	// line finds nobody; what counts is its answer.
	_ = w.sendLine(strings.Repeat("x", 3_000_000))
	m, err := w.expect("error", prompt)
	if err == nil && m.Error.Kind != contract.Invalid {
		err = fmt.Errorf("after a line of 3,000,000 bytes came an error of kind %q, expected %q", m.Error.Kind, contract.Invalid)
	}
	if err != nil {
		return err
	}
	return w.fades()
}

// fatalSetup is a conversation: the setup is refused by a fatal error of one
// of the kinds, and nothing but the end follows.
func fatalSetup(s *subject, setup contract.Setup, kinds ...contract.ErrorKind) error {
	w, err := s.idle()
	if err != nil {
		return err
	}
	line, err := s.setupLine(setup)
	if err != nil {
		return err
	}
	if _, err := w.refuse(line, true, kinds...); err != nil {
		return err
	}
	if err := w.fades(); err != nil {
		return fmt.Errorf("after the fatal error: %w", err)
	}
	for got := range w.process.Messages() {
		if got.Err == nil && got.Message.Tick == nil {
			return unexpected{"nothing after a fatal error", w.last, got.Message}
		}
	}
	return nil
}

func descriptionHolds(s *subject) error {
	h, err := s.hello()
	if err != nil {
		return err
	}
	if h.Worker == "" || len(h.Transports) == 0 {
		return errors.New("hello names no worker or no transport")
	}
	seen := map[string]bool{}
	for _, t := range h.Transports {
		if t.Name == "" || seen[t.Name] {
			return fmt.Errorf("transport %q is named twice or not at all", t.Name)
		}
		seen[t.Name] = true
		if err := describes(t); err != nil {
			return fmt.Errorf("transport %s: %w", t.Name, err)
		}
	}
	return nil
}

func describes(t contract.Transport) error {
	named := slices.ContainsFunc(t.Options, func(o contract.Option) bool { return o.Name == "wire" })
	if t.Wire == "" && !named {
		return errors.New("it names no wire, and has no option wire that would")
	}
	if t.Doc == "" {
		return errors.New("it has no doc")
	}
	if len(t.Roles) == 0 {
		return errors.New("it has no role")
	}
	for _, r := range t.Roles {
		if r != contract.Server && r != contract.Client && r != contract.Pair && r != contract.Hop {
			return fmt.Errorf("role %q is not one of server, client, pair, hop", r)
		}
	}
	if t.Delivery != contract.DeliveryMessage && t.Delivery != contract.DeliveryChunks {
		return fmt.Errorf("delivery %q is not one of message, chunks", t.Delivery)
	}
	seen := map[string]bool{}
	for _, o := range t.Options {
		if o.Name == "" || seen[o.Name] {
			return fmt.Errorf("option %q is named twice or not at all", o.Name)
		}
		seen[o.Name] = true
		if err := declares(o); err != nil {
			return fmt.Errorf("option %s: %w", o.Name, err)
		}
	}
	return nil
}

func declares(o contract.Option) error {
	switch o.Type {
	case contract.TypeInt, contract.TypeBytes, contract.TypeDuration, contract.TypeFloat:
		v, ok := o.Default.(float64)
		switch {
		case !ok || (o.Type != contract.TypeFloat && v != float64(int64(v))):
			return fmt.Errorf("default %v is no %s", o.Default, o.Type)
		case o.Min != nil && v < *o.Min || o.Max != nil && v > *o.Max:
			return fmt.Errorf("default %v lies outside its own range", o.Default)
		}
	case contract.TypeBool:
		if _, ok := o.Default.(bool); !ok {
			return fmt.Errorf("default %v is no bool", o.Default)
		}
	case contract.TypeChoice:
		if v, ok := o.Default.(string); !ok || !slices.Contains(o.Choices, v) {
			return fmt.Errorf("default %v is none of its choices %q", o.Default, o.Choices)
		}
	case contract.TypeText:
		if _, ok := o.Default.(string); !ok {
			return fmt.Errorf("default %v is no text", o.Default)
		}
	default:
		return fmt.Errorf("type %q is not one of int, float, bool, bytes, duration, choice, text", o.Type)
	}
	return nil
}

// pause lets a load run.
func (s *subject) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-s.ctx.Done():
	}
}
