package check

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"netdyno/internal/contract"
	"netdyno/test/programs"
)

// conversation is one entry of contract/vectors/conversation.json; the README
// beside it says what the steps mean.
type conversation struct {
	Name  string `json:"name"`
	Steps []step `json:"steps"`
	Exit  any    `json:"exit"`
}

type step struct {
	Expect string           `json:"expect"`
	Has    map[string]any   `json:"has"`
	Fatal  *bool            `json:"fatal"`
	None   string           `json:"none"`
	EOF    bool             `json:"eof"`
	Send   *json.RawMessage `json:"send"`
	Raw    any              `json:"raw"`

	Setup     contract.Role  `json:"setup"`
	Transport string         `json:"transport"`
	Peer      string         `json:"peer"`
	Load      *contract.Load `json:"load"`
	Options   map[string]any `json:"options"`
}

func TestExampleWorkerHoldsTheConversations(t *testing.T) {
	programs.Whole(t)
	t.Parallel()
	peer := echoServer(t)
	for _, c := range readConversations(t) {
		t.Run(c.Name, func(t *testing.T) {
			if err := c.hold(&subject{ctx: t.Context(), argv: []string{example}, stretch: stretch}, peer); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func readConversations(t *testing.T) []conversation {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "contract", "vectors", "conversation.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []conversation
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// hold plays the bench's part of a conversation with a worker.
func (c conversation) hold(s *subject, peer string) error {
	defer s.close()
	w, err := s.launch()
	if err != nil {
		return err
	}
	transport := ""
	for i, st := range c.Steps {
		var err error
		switch {
		case st.Expect != "":
			var m contract.Message
			if m, err = w.expectOrTick(st.Expect); err == nil {
				err = holds(m, st)
			}
			if m.Hello != nil {
				transport = m.Hello.Transports[0].Name
			}
		case st.Setup != "":
			err = w.send(contract.Message{Setup: st.setup(transport, peer)})
		case st.Send != nil:
			err = w.sendLine(string(*st.Send))
		case st.Raw != nil:
			_ = w.sendLine(st.raw()) // a worker may stop reading at the bound of a line
		case st.EOF:
			if c.Exit == nil {
				err = w.ends()
			} else {
				err = w.fades()
			}
		case st.None != "":
			for got := range w.process.Messages() {
				if got.Message.Name() == st.None {
					err = unexpected{"no " + st.None, w.last, got.Message}
				}
			}
		default:
			err = fmt.Errorf("a step that does nothing")
		}
		if err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return nil
}

// expectOrTick is expect, for which a tick is a message like any other if it is
// the one that is expected.
func (w *session) expectOrTick(name string) (contract.Message, error) {
	if name != "tick" {
		return w.expect(name, prompt)
	}
	return w.nextMessage(w.subject.patient(prompt))
}

func (st step) setup(transport, peer string) *contract.Setup {
	s := contract.Setup{Transport: transport, Role: st.Setup, Options: st.Options}
	if st.Transport != "" {
		s.Transport = st.Transport
	}
	if st.Load != nil {
		s.Load = *st.Load
	}
	if s = (&subject{}).complete(s); st.Setup == contract.Client {
		if st.Load == nil {
			s.Load.Connections = 2
		}
		s.Peers = []string{peer}
		if st.Peer != "" {
			s.Peers = []string{st.Peer}
		}
	}
	return &s
}

func (st step) raw() string {
	if text, ok := st.Raw.(string); ok {
		return text
	}
	r, _ := st.Raw.(map[string]any)
	text, _ := r["repeat"].(string)
	times, _ := r["times"].(float64)
	return strings.Repeat(text, int(times))
}

// holds checks a message against what a step says of it.
func holds(m contract.Message, st step) error {
	if m.Name() != st.Expect {
		return fmt.Errorf("came %s, expected %s", m.Name(), st.Expect)
	}
	if st.Fatal != nil && m.Error.Fatal != *st.Fatal {
		return fmt.Errorf("error %+v, expected fatal %v", *m.Error, *st.Fatal)
	}
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	var got map[string]any
	if err := json.Unmarshal(line, &got); err != nil {
		return err
	}
	if at := missing(got, st.Has, ""); at != "" {
		return fmt.Errorf("%s does not have what was expected at %s: %v", line, at, st.Has)
	}
	return nil
}

// missing returns the path at which got does not contain want; a zero that is
// left out counts as there.
func missing(got, want map[string]any, path string) string {
	for name, w := range want {
		at := path + "." + name
		g := got[name]
		if inner, ok := w.(map[string]any); ok {
			deeper, _ := g.(map[string]any)
			if m := missing(deeper, inner, at); m != "" {
				return m
			}
			continue
		}
		absentZero := g == nil && slices.Contains([]any{0.0, false, ""}, w)
		if !absentZero && !reflect.DeepEqual(g, w) {
			return at
		}
	}
	return ""
}

// echoServer serves wire echo until the test ends.
func echoServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", loopback)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				_, _ = io.Copy(conn, conn) // until the client goes
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		all.Wait()
	})
	return l.Addr().String()
}
