package wire

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/work/load"
)

func TestExpectationVectors(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "contract", "vectors", "bodies.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Verify, Expected, Reason string
		Right                    []string
		Wrong                    map[string]string
		Refused                  bool
	}
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors) < 30 {
		t.Fatalf("%d vectors, %v; expected at least 30", len(vectors), err)
	}
	for _, v := range vectors {
		e, err := ExpectationOf(load.Options{"verify": v.Verify, "expected": v.Expected})
		if v.Refused || err != nil {
			if !v.Refused || err == nil {
				t.Errorf("%s %s: %v", v.Verify, v.Expected, err)
			}
			continue
		}
		for _, body := range append(v.Right, v.Right...) {
			if err := e.Check([]byte(body)); err != nil {
				t.Errorf("%s %s: %v", v.Verify, v.Expected, err)
			}
		}
		for body, says := range v.Wrong {
			err := e.Check([]byte(body))
			if err == nil || !strings.HasPrefix(load.TextOf(err), says) || load.ReasonOf(err) != v.Reason {
				t.Errorf("%s %s of %q: %v, want %s", v.Verify, v.Expected, body, err, says)
			}
		}
	}
}
