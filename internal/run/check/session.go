package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/run/rig"
)

// session is one process of the worker and the conversation with it. Errors of a session
// quote the conversation. One goroutine may use a session.
type session struct {
	subject *subject
	process *rig.Process
	hello   *contract.Hello // heard by idle
	last    string          // what was sent last
	results int             // how many came
}

func (s *subject) launch() (*session, error) {
	p, err := rig.Start(s.argv, rig.Options{Env: s.env})
	if err != nil {
		return nil, err
	}
	w := &session{subject: s, process: p, last: "nothing"}
	s.open = append(s.open, w)
	return w, nil
}

// idle launches the worker and hears its hello.
func (s *subject) idle() (*session, error) {
	w, err := s.launch()
	if err != nil {
		return nil, err
	}
	m, err := w.expect("hello", helloTakes)
	w.hello = m.Hello
	return w, err
}

// send sends a message. That a worker has gone shows in what comes, or does
// not come, back.
func (w *session) send(m contract.Message) error {
	line, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode %s: %w", m.Name(), err)
	}
	return w.sendLine(string(line))
}

// sendLine sends a line as it is.
func (w *session) sendLine(line string) error {
	w.last = excerpt(line)
	if err := w.process.SendRaw([]byte(line + "\n")); err != nil {
		return fmt.Errorf("%w; %s", err, w.exitReason())
	}
	return nil
}

// nextMessage returns the worker's next message. All its errors are the worker's.
func (w *session) nextMessage(within time.Duration) (contract.Message, error) {
	select {
	case got, open := <-w.process.Messages():
		if !open {
			return got.Message, endedError{fmt.Sprintf("after %s the worker ended its stdout; %s", w.last, w.exitReason())}
		}
		var bad *contract.LineError
		if errors.As(got.Err, &bad) {
			return got.Message, fmt.Errorf("after %s the worker printed what is no message: %w", w.last, got.Err)
		}
		if got.Message.Result != nil {
			w.results++
		}
		return got.Message, got.Err
	case <-time.After(within):
		return contract.Message{}, silentError{w.last, within}
	case <-w.subject.ctx.Done():
		return contract.Message{}, w.subject.ctx.Err()
	}
}

// endedError says that nothing can come any more.
type endedError struct{ text string }

func (e endedError) Error() string { return e.text }

// silentError says that nothing came.
type silentError struct {
	last   string
	within time.Duration
}

func (e silentError) Error() string {
	return fmt.Sprintf("after %s the worker said nothing for %v", e.last, e.within)
}

// expect returns the next message that is no tick, which must be the named one.
func (w *session) expect(name string, within time.Duration) (contract.Message, error) {
	within = w.subject.patient(within)
	deadline := time.Now().Add(within)
	for {
		m, err := w.nextMessage(time.Until(deadline))
		var silent silentError
		switch {
		case errors.As(err, &silent):
			return m, fmt.Errorf("after %s, %s did not come within %v", w.last, name, within)
		case err != nil:
			return m, fmt.Errorf("waiting for %s: %w", name, err)
		case m.Name() == name:
			return m, nil
		case m.Tick != nil:
			continue
		}
		return m, unexpected{name, w.last, m}
	}
}

// unexpected is a message that came in place of another.
type unexpected struct {
	want, last string
	got        contract.Message
}

func (e unexpected) Error() string {
	line, err := json.Marshal(e.got)
	if err != nil {
		line = []byte(e.got.Name())
	}
	return fmt.Sprintf("after %s came %s, expected %s", e.last, excerpt(string(line)), e.want)
}

// ask sends a message and returns the named answer.
func (w *session) ask(m contract.Message, answer string, within time.Duration) (contract.Message, error) {
	if err := w.send(m); err != nil {
		return contract.Message{}, err
	}
	return w.expect(answer, within)
}

// refuse sends a line and returns the error that must answer it.
func (w *session) refuse(line string, fatal bool, kinds ...contract.ErrorKind) (*contract.Error, error) {
	if err := w.sendLine(line); err != nil {
		return nil, err
	}
	m, err := w.expect("error", setupTakes)
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		if m.Error.Kind != kind {
			continue
		}
		if m.Error.Fatal != fatal {
			return nil, fmt.Errorf("after %s came an error with fatal %v, expected fatal %v: %s", w.last, m.Error.Fatal, fatal, m.Error.Text)
		}
		return m.Error, nil
	}
	return nil, fmt.Errorf("after %s came an error of kind %q, expected %q: %s", w.last, m.Error.Kind, kinds, m.Error.Text)
}

// mark asks for a reading.
func (w *session) mark(id int, reset bool) (*contract.Reading, error) {
	if err := w.send(contract.Message{Mark: &contract.Mark{ID: id, Reset: reset}}); err != nil {
		return nil, err
	}
	return w.reading(id, reset)
}

// reading takes up the answer to a mark.
func (w *session) reading(id int, reset bool) (*contract.Reading, error) {
	m, err := w.expect("mark", prompt)
	switch {
	case err != nil:
		return nil, err
	case m.Mark.ID != id || m.Mark.Reset != reset:
		return nil, fmt.Errorf("mark %d with reset %v was answered by mark %d with reset %v", id, reset, m.Mark.ID, m.Mark.Reset)
	case m.Mark.Reading == nil:
		return nil, fmt.Errorf("mark %d was answered without a reading", id)
	}
	return m.Mark.Reading, nil
}

// ends closes the worker's stdin: it must end by itself, with status 0, in
// time. What it still said is heard, and must be messages.
func (w *session) ends() error {
	w.process.CloseInput()
	exit := w.process.Wait(w.subject.patient(prompt))
	switch {
	case exit.Running:
		return fmt.Errorf("stdin was closed after %s, and %v later the worker still runs", w.last, w.subject.patient(prompt))
	case exit.Code != 0:
		return fmt.Errorf("stdin was closed after %s: %s", w.last, w.exitReason())
	}
	for {
		_, err := w.nextMessage(prompt)
		var ended endedError
		switch {
		case errors.As(err, &ended) && w.results > 1:
			return fmt.Errorf("the worker sent %d results", w.results)
		case errors.As(err, &ended):
			return nil
		case err != nil:
			return err
		}
	}
}

// fades ends a worker whose exit status does not matter any more.
func (w *session) fades() error {
	w.process.CloseInput()
	if bound := w.subject.patient(prompt); w.process.Wait(bound).Running {
		return fmt.Errorf("stdin was closed after %s, and %v later the worker still runs", w.last, bound)
	}
	return nil
}

// exitReason says how the process ended, with the end of its stderr.
func (w *session) exitReason() string {
	exit := w.process.Wait(time.Second)
	text := fmt.Sprintf("it ended with status %d", exit.Code)
	switch {
	case exit.Running:
		text = "it still runs"
	case exit.Signal != "":
		text = "it ended by signal: " + exit.Signal
	}
	if stderr := strings.TrimSpace(w.process.Stderr()); stderr != "" {
		text += "; the end of its stderr: " + stderr[max(0, len(stderr)-300):]
	}
	return text
}

// excerpt shortens a line for an error.
func excerpt(line string) string {
	const keep = 160
	if len(line) > keep {
		return line[:keep] + "…"
	}
	return line
}
