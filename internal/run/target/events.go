package target

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/events"
	"netdyno/internal/quantity"
)

// Events are how replies that come in events are followed.
type Events struct {
	Follow bool          // they are
	Chat   bool          // they are those of an OpenAI-compatible endpoint
	Most   int64         // events after which a reply is ended; 0 for all
	Lasts  time.Duration // time after which it is; 0 for none, unless it does not end by itself
}

// endless is how long the first reply may go on before it is taken for one without an end.
const endless = 2 * time.Second

// lasts is how long the first reply is followed.
func (e Events) lasts() time.Duration { return cmp.Or(e.Lasts, endless) }

// came is what came of a reply in events.
type came struct {
	kind  events.Kind
	count int64
	said  int64 // tokens of a chat, by the server's own count; 0 where it has none
	ended bool  // by the server
	takes time.Duration
	first time.Duration // of these, until the first event came
}

// took adds how long a request took, whose reply came so.
func (f *Found) took(takes time.Duration, c came) {
	f.Takes, f.Begins = takes, takes-c.takes+c.first
}

// follows tells whether a reply is followed: where that was asked, and where its type says
// that it holds server-sent events.
func (t Target) follows(r *http.Response) bool {
	kind, _ := events.KindOf(r.Header.Get("Content-Type"))
	return t.Events.Follow || kind == events.SSE && t.bodies == nil && len(t.Classes)+len(t.Paths) == 0
}

// errNoEvents is of a reply that nothing can be said of.
var errNoEvents = errors.New("brings no events")

// takeEvents reads a reply until it ends, or as long as replies are followed.
func (t Target) takeEvents(r *http.Response) (c came, bytes int64, err error) {
	c.kind, _ = events.KindOf(r.Header.Get("Content-Type"))
	if t.Events.Chat {
		c.kind = events.Chat
	}
	if packed := r.Header.Get("Content-Encoding"); packed != "" && packed != "identity" && c.kind != events.Chunks {
		return c, 0, fmt.Errorf("the reply %w that can be told apart: it is packed (Content-Encoding: %s); ask without --compressed and Accept-Encoding", errNoEvents, quantity.Clip(packed, 40))
	}
	over := time.AfterFunc(t.Events.lasts(), func() { _ = r.Body.Close() })
	s, room, begun := events.New(c.kind), make([]byte, 32<<10), time.Now()
	var body []byte // where something is expected of it
	for err == nil && (t.Events.Most == 0 || c.count < t.Events.Most) {
		var n int
		n, err = r.Body.Read(room)
		if bytes += int64(n); t.bodies != nil && bytes <= contract.MaxMessage {
			body = append(body, room[:n]...)
		}
		ended, wrong := s.Take(room[:n], errors.Is(err, io.EOF))
		if c.count == 0 && ended > 0 {
			c.first = time.Since(begun)
		}
		c.count += int64(ended)
		if wrong != nil {
			err = wrong
		}
	}
	c.takes, c.said = time.Since(begun), s.Tokens()
	if c.ended = errors.Is(err, io.EOF); c.ended || !over.Stop() {
		err = nil
	}
	if t.Events.Most > 0 {
		c.count = min(c.count, t.Events.Most)
	}
	switch {
	case err != nil || t.bodies == nil:
	case !c.ended && !t.bodies.Matches():
		return c, bytes, fmt.Errorf("--expect %s looks at whole replies, and these are ended here; expected status or regexp:PATTERN", quantity.Clip(t.Expect, 40))
	default:
		err = t.checkBody(body)
	}
	if err == nil && c.count == 0 {
		err = fmt.Errorf("the reply (%s) %w: no %s%s within %s", quantity.Clip(r.Header.Get("Content-Type"), 60), errNoEvents, nouns[c.kind], ofText[c.kind], quantity.DurationText(c.takes.Round(time.Millisecond)))
	}
	return c, bytes, err
}

// messages is the kind of events that a protocol tells apart by itself.
const messages events.Kind = "messages"

// nouns are what one event of a kind is called.
var nouns = map[events.Kind]string{
	events.SSE: "server-sent event", events.Chat: "event", events.Lines: "line", events.Chunks: "part", messages: "message",
}

// ofText is what events of a kind hold.
var ofText = map[events.Kind]string{events.Chat: " with text"}

// words say what came.
func (c came) words() string {
	n := quantity.Plural(int(c.count), nouns[c.kind]) + ofText[c.kind]
	if c.kind == events.Chat {
		n += " (most often a token each"
		if c.said > 0 {
			n += "; the server counts " + quantity.Plural(int(c.said), "token")
		}
		n += ")"
	}
	return fmt.Sprintf("%s in %s", n, quantity.DurationText(c.takes.Round(time.Millisecond)))
}

// addEvents makes the client of a trial follow replies as the first one was, and says how.
func (t Target) addEvents(f *Found, first came) (words string) {
	set := setter(f.Levels)
	f.Levels["events"] = "yes"
	if first.kind != messages { // other clients than those of HTTP have no others
		set("events", string(first.kind))
	}
	words = first.words()
	lasts := t.Events.Lasts
	if t.Events.Most > 0 {
		set("most_events", strconv.FormatInt(t.Events.Most, 10))
		words += fmt.Sprintf("; a reply is ended after %d", t.Events.Most)
	} else if !first.ended && lasts == 0 {
		lasts = endless
		words += fmt.Sprintf(" and no end; a reply is ended after %s (--events N or --events TIME says another end)", quantity.DurationText(endless))
	}
	if lasts > 0 {
		set("events_for", quantity.DurationText(lasts))
	}
	return words
}
