package load

import (
	"io"
	"testing"

	"netdyno/internal/contract"
)

func TestSentVectors(t *testing.T) {
	var vectors []struct {
		Name  string
		Slots int
		Steps [][]any
		Sent  contract.Sent
	}
	if err := readVectors("sent.json", &vectors); err != nil || len(vectors) < 6 {
		t.Fatalf("%d vectors, %v; expected at least 6", len(vectors), err)
	}
	for _, v := range vectors {
		l := newLoad(t, contract.Load{Connections: v.Slots})
		l.Start()
		out, busy := make([]bool, v.Slots), make([]bool, v.Slots)
		why := func(i int) error { // why a slot's exchange failed
			if out[i] {
				return io.EOF
			}
			return UnsentError{io.EOF}
		}
		for _, step := range v.Steps {
			i := 0
			if len(step) > 1 {
				i = int(step[1].(float64))
			}
			s := &l.Slots(i)[0]
			switch step[0] {
			case "open":
				l.Open(Now())
			case "close":
				l.End(Now())
			case "begin":
				_, _ = s.Next(Now())
				busy[i] = true
			case "out":
				out[i] = true
			case "done":
				s.Done(1, Now(), 64)
				out[i], busy[i] = false, false
			case "fail":
				s.Fail(why(i))
				out[i], busy[i] = false, false
			}
		}
		for i := range v.Slots {
			if busy[i] {
				l.Slots(i)[0].Break(why(i))
			}
		}
		resultOf(t, l, Now())
		if got := *l.Sent(); got != v.Sent {
			t.Errorf("%s: sent %+v, want %+v", v.Name, got, v.Sent)
		}
	}
}
