package contract

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lineVector is one entry of contract/vectors/lines.json; the README beside
// it says what the fields mean.
type lineVector struct {
	Name    string `json:"name"`
	To      string `json:"to"`
	Line    string `json:"line"`
	Parts   []part `json:"parts"`
	Torn    bool   `json:"torn"`
	Message string `json:"message"`
	Reason  string `json:"reason"`
}

// part is a text or a repetition.
type part struct {
	text  string
	times int
}

func (p *part) UnmarshalJSON(b []byte) error {
	p.times = 1
	if err := json.Unmarshal(b, &p.text); err == nil {
		return nil
	}
	var r struct {
		Repeat string `json:"repeat"`
		Times  int    `json:"times"`
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return err
	}
	p.text, p.times = r.Repeat, r.Times
	return nil
}

func (v *lineVector) stream() string {
	var b strings.Builder
	b.WriteString(v.Line)
	for _, p := range v.Parts {
		b.WriteString(strings.Repeat(p.text, p.times))
	}
	if !v.Torn {
		b.WriteByte('\n')
	}
	return b.String()
}

func readVectors(t testing.TB) []lineVector {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "contract", "vectors", "lines.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []lineVector
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 50 {
		t.Fatalf("read %d vectors, expected at least 50", len(vectors))
	}
	return vectors
}

func TestLineVectors(t *testing.T) {
	for _, v := range readVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			if (v.Message == "") == (v.Reason == "") || v.To != "worker" && v.To != "bench" {
				t.Fatal("a vector has either a message or a reason, and a reader it is for")
			}
			r := NewReader(strings.NewReader(v.stream()))
			m, err := r.Read()
			var bad *LineError
			switch {
			case v.Message != "" && err != nil:
				t.Fatalf("refused: %v", err)
			case v.Message != "" && m.Name() != v.Message:
				t.Fatalf("read as %s, expected %s", m.Name(), v.Message)
			case v.Reason != "" && err == nil:
				t.Fatalf("accepted as %s, expected a refusal: %s", m.Name(), v.Reason)
			case v.Reason != "" && !errors.As(err, &bad):
				t.Fatalf("refused by %T, expected *LineError: %v", err, err)
			}
			if v.Message != "" {
				if _, err := r.Read(); !errors.Is(err, io.EOF) {
					t.Fatalf("after the line: %v, expected end of file", err)
				}
			}
		})
	}
}
