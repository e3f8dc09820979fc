package child

import (
	"io"
	"strings"
	"testing"
)

func TestTalk(t *testing.T) {
	for _, c := range []struct {
		said []string
		want string
	}{
		{nil, "nothing"},
		{[]string{" \n"}, "nothing"},
		{[]string{"one\n", "two\n"}, `"one\ntwo"`},
		{[]string{strings.Repeat("a", firstBytes), strings.Repeat("b", lastBytes)}, `"` + strings.Repeat("a", firstBytes) + strings.Repeat("b", lastBytes) + `"`},
		{[]string{strings.Repeat("a", firstBytes+1), strings.Repeat("b", lastBytes)}, `"` + strings.Repeat("a", firstBytes) + " … " + strings.Repeat("b", lastBytes) + `"`},
		{[]string{strings.Repeat("a", firstBytes) + "c" + strings.Repeat("b", lastBytes)}, `"` + strings.Repeat("a", firstBytes) + " … " + strings.Repeat("b", lastBytes) + `"`},
	} {
		var heard transcript
		for _, s := range c.said {
			if n, err := heard.Write([]byte(s)); n != len(s) || err != nil {
				t.Errorf("write %d bytes: %d, %v", len(s), n, err)
			}
		}
		if got := quoted(heard.text()); got != c.want {
			t.Errorf("%.20q: %s, want %s", c.said, got, c.want)
		}
	}
}

// Two streams that are read apart come in any order.
func TestAMistakeStandsBeforeTheUsage(t *testing.T) {
	p, err := Launch([]string{"sh", "-c", "echo usage; sleep 0.1; echo mistake >&2"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Exited()
	if got := p.Output(); got != `"mistake\n\nusage"` {
		t.Errorf("it said %s", got)
	}
}
