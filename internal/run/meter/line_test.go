package meter

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"netdyno/internal/contract"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("x", contract.MaxLine-1) + "\n"
	l := newLines(strings.NewReader("a\n" + long + "\nrest"))
	for _, want := range []string{"a\n", long, "\n"} {
		if got, err := l.nextLine(); err != nil || string(got) != want {
			t.Fatalf("line of %d bytes, %v; want %d", len(got), err, len(want))
		}
	}
	if got, err := l.nextLine(); !errors.Is(err, io.EOF) || string(got) != "rest" {
		t.Errorf("end: %q, %v; want the rest and EOF", got, err)
	}
	if got, err := newLines(strings.NewReader("x" + long)).nextLine(); !errors.Is(err, errLong) {
		t.Errorf("line of %d bytes: %v, want errLong", len(got), err)
	}
}

func TestKey(t *testing.T) {
	for line, want := range map[string]string{
		`{"tick":{}}`:                  "tick",
		" {\t\"mark\" :1}":             "mark",
		`{"`:                           "",
		`{}`:                           "",
		``:                             "",
		`tick`:                         "",
		`["tick"]`:                     "",
		`{"a long key here and no end`: "",
	} {
		if got := key([]byte(line)); got != want {
			t.Errorf("key(%q) = %q, want %q", line, got, want)
		}
	}
}

func TestWithMeterIsBounded(t *testing.T) {
	line := []byte(`{"result":{"service":"` + strings.Repeat("x", contract.MaxLine-40) + `"}}` + "\n")
	if got, err := withMeter(line, contract.Meter{}); err == nil {
		t.Errorf("%d bytes, want an error above %d", len(got), contract.MaxLine)
	}
}

func TestMarksAreBounded(t *testing.T) {
	var m marks
	for id := range 2 * maxMarks {
		m.passed(id)
	}
	if got := m.skew(0, 1<<62); got != 0 {
		t.Errorf("skew of a forgotten mark %d, want 0", got)
	}
	last := 2*maxMarks - 1
	if got := m.skew(last, 1<<62); got <= 0 {
		t.Errorf("skew of the last mark %d, want more than 0", got)
	}
	if got := m.skew(last, 1<<62); got != 0 {
		t.Errorf("skew of a mark answered twice %d, want 0", got)
	}
}

// FuzzKey checks that a key found by the first bytes is the one a parser finds.
func FuzzKey(f *testing.F) {
	for _, seed := range []string{`{"tick":{"at_ns":1}}`, ` { "mark":{"id":1}}`, `{"ti\u0063k":{}}`, `{"tick":{},"mark":{"id":2}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := contract.Parse(line)
		if err != nil {
			return
		}
		switch got := key(line); got {
		case "ready", "mark", "result", "tick", "hello", "error":
			// A null message is none for the parser; the bench sees that too.
			if m.Name() != got && bytes.Contains(line, []byte(got+`":{`)) {
				t.Errorf("key %q of %s %q", got, m.Name(), line)
			}
		}
	})
}
