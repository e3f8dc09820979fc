// Package events finds where the events of a reply end that comes in parts: server-sent
// events, lines, or parts as they come. It keeps no content but that of one event of a chat.
package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime"
	"strings"

	"netdyno/internal/printable"
	"netdyno/internal/quantity"
)

// Kind says how events are told apart: a level of option events of HTTP clients.
type Kind string

// The kinds.
const (
	SSE    Kind = "sse"    // server-sent events with data (WHATWG HTML, section 9.2.6)
	Chat   Kind = "chat"   // those of an OpenAI-compatible endpoint that hold text
	Lines  Kind = "lines"  // lines that are not empty, such as NDJSON
	Chunks Kind = "chunks" // whatever comes at once
)

// Kinds are all of them.
var Kinds = []Kind{SSE, Chat, Lines, Chunks}

// KindOf is how the events of a reply with this Content-Type are told apart; Chunks, and
// false, where the type does not say.
func KindOf(contentType string) (Kind, bool) {
	media, _, err := mime.ParseMediaType(contentType)
	switch {
	case err != nil:
	case media == "text/event-stream":
		return SSE, true
	case strings.Contains(media, "ndjson"), strings.Contains(media, "jsonl"), strings.Contains(media, "json-seq"),
		strings.Contains(media, "json-lines"), media == "application/stream+json":
		return Lines, true
	}
	return Chunks, false
}

// mostChat bounds an event of a chat, in bytes.
const mostChat = 1 << 20

// ErrLong is of an event of a chat beyond the bound.
var ErrLong = errors.New("an event of more than 1 MiB")

// Splitter follows one reply after the other. One goroutine may use it.
type Splitter struct {
	kind  Kind
	named [5]byte // what the line begins with
	line  int     // bytes of the line that came
	cr    bool    // the part before ended with a carriage return
	data  bool    // the event has data
	text  []byte  // of a chat: the data
	said  int64   // … tokens of the answer, by the server's own count
}

// New returns a splitter that expects the first reply.
func New(kind Kind) *Splitter { return &Splitter{kind: kind} }

// Reset expects another reply.
func (s *Splitter) Reset() { *s = Splitter{kind: s.kind, text: s.text[:0]} }

// Tokens is how many a chat's answer has, as the server says at its end; 0 where it does not.
func (s *Splitter) Tokens() int64 { return s.said }

// Take takes the next part of the reply, the last one where it ends with it, and returns how
// many events ended.
func (s *Splitter) Take(part []byte, last bool) (ended int, err error) {
	if ended, err = s.Feed(part); err == nil && last && s.End() {
		ended++
	}
	return ended, err
}

// Feed is Take of a part that is not the last.
func (s *Splitter) Feed(part []byte) (ended int, err error) {
	if s.kind == Chunks {
		return min(len(part), 1), nil
	}
	if s.cr && len(part) > 0 {
		s.cr = false
		if part[0] == '\n' {
			part = part[1:]
		}
	}
	for len(part) > 0 {
		n := bytes.IndexByte(part, '\n')
		if r := bytes.IndexByte(part[:to(n, len(part))], '\r'); r >= 0 {
			n = r
		}
		if err := s.take(part[:to(n, len(part))]); err != nil {
			return ended, err
		}
		if n < 0 {
			return ended, nil
		}
		whole, err := s.endLine()
		if err != nil {
			return ended, err
		}
		if whole {
			ended++
		}
		if part[n] == '\r' {
			s.cr = n+1 == len(part)
			if !s.cr && part[n+1] == '\n' {
				n++
			}
		}
		part = part[n+1:]
	}
	return ended, nil
}

// to is n, or all where there is no n.
func to(n, all int) int {
	if n < 0 {
		return all
	}
	return n
}

// take adds a part of a line.
func (s *Splitter) take(part []byte) error {
	if s.line < len(s.named) {
		copy(s.named[s.line:], part)
	}
	if s.kind == Chat && s.line+len(part) > len(s.named) && string(s.named[:]) == "data:" {
		rest := part[max(0, len(s.named)-s.line):]
		if len(s.text)+len(rest) > mostChat {
			return ErrLong
		}
		s.text = append(s.text, rest...)
	}
	s.line += len(part)
	return nil
}

// endLine ends a line and tells whether an event ended with it.
func (s *Splitter) endLine() (ended bool, err error) {
	n := s.line
	s.line = 0
	switch {
	case s.kind == Lines:
		return n > 0, nil
	case n > 0:
		field := string(s.named[:min(n, len(s.named))])
		s.data = s.data || field == "data" || field == "data:"
		return false, nil
	}
	if ended = s.data; ended && s.kind == Chat {
		ended, err = s.takeChat()
	}
	s.data, s.text = false, s.text[:0]
	return ended, err
}

// End tells whether an event ends with the reply: a last line without an end is one, a
// server-sent event without an empty line is not.
func (s *Splitter) End() bool { return s.kind == Lines && s.line > 0 }

// BrokenError is what a server says of a chat that it cannot go on with, whose status 200 it
// has sent already.
type BrokenError struct{ text string }

func (e BrokenError) Error() string { return "the server breaks the reply off: " + e.text }

// takeChat tells whether an event of a chat brings text of the answer.
// Source: OpenAI, API reference, "The chat completion chunk object"; vLLM and OpenRouter for
// reasoning and errors.
func (s *Splitter) takeChat() (text bool, err error) {
	var chunk struct {
		Choices []struct {
			Text  something `json:"text"`
			Delta struct {
				Content   something `json:"content"`
				Reasoning something `json:"reasoning"`
				Reasoned  something `json:"reasoning_content"`
				Refusal   something `json:"refusal"`
				Calls     something `json:"tool_calls"`
				Call      something `json:"function_call"`
			} `json:"delta"`
		} `json:"choices"`
		Usage struct {
			Tokens json.Number `json:"completion_tokens"`
		} `json:"usage"`
		Object  string          `json:"object"`
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	_ = json.Unmarshal(s.text, &chunk) // of "[DONE]" and what else is no chunk nothing is taken
	switch {
	case len(chunk.Error) > 0 && string(chunk.Error) != "null":
		var said struct{ Message string }
		if json.Unmarshal(chunk.Error, &said) != nil || said.Message == "" {
			said.Message = string(chunk.Error)
		}
		return false, broken(said.Message)
	case chunk.Object == "error":
		return false, broken(chunk.Message)
	}
	if n, err := chunk.Usage.Tokens.Int64(); err == nil {
		s.said = n
	}
	for _, c := range chunk.Choices {
		d := c.Delta
		if c.Text || d.Content || d.Reasoning || d.Reasoned || d.Refusal || d.Calls || d.Call {
			return true, nil
		}
	}
	return false, nil
}

func broken(text string) error { return BrokenError{quantity.Clip(printable.Text(text), 200)} }

// something is a value of JSON that is there and not empty.
type something bool

// UnmarshalJSON implements json.Unmarshaler.
func (s *something) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case "null", `""`, "[]", "{}":
		return nil
	}
	*s = true
	return nil
}
