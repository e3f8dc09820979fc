package events

import (
	"errors"
	"strings"
	"testing"
)

func TestEventsEndWhereTheirFormatSays(t *testing.T) {
	for _, c := range []struct {
		kind  Kind
		reply string
		ended int
		last  bool
	}{
		{SSE, "data: a\n\ndata: b\n\n", 2, false},
		{SSE, ": ping\n\nevent: x\n\ndata\n\n", 1, false},
		{SSE, "data: a\r\ndata: b\r\n\r\ndata:c\r\rdata: d\n", 2, false},
		{SSE, "date: a\n\ndatas: b\n\n", 0, false},
		{SSE, "id: 7\ndata: a\n\n", 1, false},
		{Lines, "{}\n\n{}\r\n{}", 2, true},
		{Lines, "\r\n\n", 0, false},
		{Chat, `data: {"choices":[{"delta":{"role":"assistant"}}]}` + "\n\n", 0, false},
		{Chat, `data: {"choices":[{"delta":{"content":"Hi"}}]}` + "\n\ndata: [DONE]\n\n", 1, false},
		{Chat, "data: {\"choices\":\ndata: [{\"text\":\"a\"}]}\n\n", 1, false},
		{Chat, "data: {\"choices\":[]}\n\ndata: {broken\n\n", 0, false},
		{Chat, ": keep-alive\r\n\r\ndata: {\"choices\":[{\"text\":\"a\"}]}\r\n\r\n", 1, false},
		{Chat, chats(`{"delta":{"content":null}}`, `{"delta":{"content":""}}`, `{"delta":null}`, `{}`, `{"text":""}`, `{"delta":{"tool_calls":[]}}`), 0, false},
		{Chat, chats(`{"delta":{"reasoning_content":"so"}}`, `{"delta":{"reasoning":"so"}}`, `{"delta":{"tool_calls":[{"index":0}]}}`, `{"delta":{"content":[{"type":"text"}]}}`), 4, false},
		{Chat, `data: {"choices":[{"text":"a"}],"error":null,"usage":null,"message":{}}` + "\n\n", 1, false},
	} {
		for step := 1; step <= len(c.reply); step++ { // however it is cut, the same events end
			s, ended := New(c.kind), 0
			for rest := c.reply; rest != ""; rest = rest[min(step, len(rest)):] {
				n, err := s.Feed([]byte(rest[:min(step, len(rest))]))
				if err != nil {
					t.Fatalf("%s %q: %v", c.kind, c.reply, err)
				}
				ended += n
			}
			if ended != c.ended || s.End() != c.last {
				t.Errorf("%s %q by %d bytes: %d events, one at the end %t; expected %d, %t", c.kind, c.reply, step, ended, s.End(), c.ended, c.last)
			}
		}
	}
}

// chats are events of a chat with these choices, one each.
func chats(choices ...string) string {
	text := ""
	for _, c := range choices {
		text += `data: {"choices":[` + c + "]}\n\n"
	}
	return text
}

func TestAChatThatIsBrokenOffHasFailed(t *testing.T) {
	for data, want := range map[string]string{
		`{"error":{"message":"out of \u001b[31mmemory","code":500}}`: "breaks the reply off: out of ",
		`{"error":"overloaded"}`:                                     `breaks the reply off: "overloaded"`,
		`{"choices":[{"text":"a"}],"error":{"code":502}}`:            `{"code":502}`,
		`{"object":"error","message":"no such model"}`:               "no such model",
		`{"error":{"message":"` + strings.Repeat("x", 1e4) + `"}}`:   "xxx",
	} {
		ended, err := New(Chat).Take([]byte(chats(`{"text":"a"}`)+"data: "+data+"\n\n"), false)
		if ended != 1 || !errors.As(err, new(BrokenError)) || !strings.Contains(err.Error(), want) || len(err.Error()) > 300 || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%.80s: %d events, %v", data, ended, err)
		}
	}
}

func TestTheServersCountOfTokens(t *testing.T) {
	for data, want := range map[string]int64{
		chats(`{"text":"a"}`): 0,
		chats(`{"text":"a"}`) + `data: {"choices":[],"usage":{"completion_tokens":7}}` + "\n\ndata: [DONE]\n\n": 7,
		`data: {"choices":[],"usage":{"completion_tokens":"many"}}` + "\n\n":                                    0,
	} {
		s := New(Chat)
		if _, err := s.Take([]byte(data), true); err != nil || s.Tokens() != want {
			t.Errorf("%s: %d tokens, %v; expected %d", data, s.Tokens(), err, want)
		}
		if s.Reset(); s.Tokens() != 0 {
			t.Errorf("%d tokens of a reply that has not begun", s.Tokens())
		}
	}
}

func TestChunksAreWhatComesAtOnce(t *testing.T) {
	s := New(Chunks)
	for part, want := range map[string]int{"": 0, "a": 1, "a\n\nb\n\n": 1} {
		if n, err := s.Feed([]byte(part)); n != want || err != nil {
			t.Errorf("%q: %d, %v; expected %d", part, n, err, want)
		}
	}
}

func TestOnlyChatKeepsAnEventAndThatIsBounded(t *testing.T) {
	long := []byte("data: " + strings.Repeat("x", 4<<20))
	for kind, want := range map[Kind]error{SSE: nil, Lines: nil, Chat: ErrLong} {
		s := New(kind)
		if _, err := s.Feed(long); !errors.Is(err, want) || cap(s.text) > 2*mostChat {
			t.Errorf("%s: %v, expected %v; it keeps %d bytes", kind, err, want, cap(s.text))
		}
	}
}

func TestKindsByContentType(t *testing.T) {
	for text, want := range map[string]Kind{
		"text/event-stream; charset=utf-8": SSE, "application/x-ndjson": Lines, "application/jsonl": Lines,
		"application/json": Chunks, "": Chunks, "text/plain": Chunks,
	} {
		if kind, known := KindOf(text); kind != want || known != (want != Chunks) {
			t.Errorf("%q: %s, %t", text, kind, known)
		}
	}
}

func FuzzAnyCutEndsTheSameEvents(f *testing.F) {
	f.Add("data: a\r\n\r\n: x\rdata\n\n{}\n", uint8(3))
	f.Fuzz(func(t *testing.T, reply string, step uint8) {
		for _, kind := range []Kind{SSE, Lines, Chat} {
			whole, cut, ended := New(kind), New(kind), 0
			want, err := whole.Feed([]byte(reply))
			if err != nil {
				return
			}
			for rest := reply; rest != ""; rest = rest[min(int(step)+1, len(rest)):] {
				n, _ := cut.Feed([]byte(rest[:min(int(step)+1, len(rest))]))
				ended += n
			}
			if ended != want || whole.End() != cut.End() {
				t.Errorf("%s: %d events at once, %d cut", kind, want, ended)
			}
		}
	})
}
