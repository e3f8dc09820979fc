package load

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
)

// decodeCount returns the number of a histogram's values and their mean in ns.
func decodeCount(t *testing.T, text string) (int64, float64) {
	t.Helper()
	if text == "" {
		return 0, 0
	}
	h, err := hist.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return h.Count(), h.MeanNs()
}

// halves has exchanges of 100 B and of 1 MiB.
func halves(l contract.Load) contract.Setup {
	sizes := contract.Table{{contract.TableEnd / 2, 100, 100}, {contract.TableEnd, 1 << 20, 1 << 20}}
	return contract.Setup{Seed: 3, Exchange: contract.Exchange{UpBytes: 10, DownBytes: 1 << 20, DownSizes: sizes}, Load: l}
}

// Of a slot without others a small exchange is behind a large one where it was due while
// that was in flight; times are of the bin whose size the exchange had.
func TestSmallExchangesAreBehindLargeOnesOfTheirConnection(t *testing.T) {
	const large, gap = 3_000_000, 1_000_000 // ns
	l, err := New(halves(contract.Load{Connections: 1, Rate: 1e9 / gap}), 1)
	if err != nil {
		t.Fatal(err)
	}
	l.Start()
	l.Open(Now())
	s, free, counts := &l.slots[0], int64(0), map[string]int64{}
	lastFrom, lastTo := int64(0), int64(0)
	for range 400 {
		due, more := s.Next(Now())
		if !more {
			t.Fatal("the slot has no more")
		}
		sent, takes := max(due, free), int64(10_000)
		x := s.Draw()
		switch {
		case x.Down > 100:
			takes = large
			lastFrom, lastTo = sent, sent+takes
			counts["large"]++
		case due <= lastTo && lastFrom <= sent:
			counts["behind"]++
		default:
			counts["free"]++
		}
		free = sent + takes
		s.Done(sent, free, x.Down)
	}
	r := resultOf(t, l, Now())
	if len(r.Bins) != 2 || r.Bins[0].FromBytes != 64 || r.Bins[0].ToBytes != 256 || r.Bins[1].FromBytes != 1<<20 {
		t.Fatalf("bins %+v", r.Bins)
	}
	small, big := r.Bins[0], r.Bins[1]
	behind, _ := decodeCount(t, small.Behind)
	free, quick := decodeCount(t, small.Free)
	service, takes := decodeCount(t, small.Service)
	response, _ := decodeCount(t, small.Response)
	if behind != counts["behind"] || free != counts["free"] || behind+free != service || response != service {
		t.Errorf("%d behind, %d free of %d (%d), want %v", behind, free, service, response, counts)
	}
	if takes < 9_990 || takes > 10_010 || counts["free"] > 0 && quick < 9_990 {
		t.Errorf("small ones take %.0f ns, free ones %.0f, want 10000 and no less", takes, quick)
	}
	if n, takes := decodeCount(t, big.Service); n != counts["large"] || takes < 0.998*large || big.Behind != "" || big.Free != "" {
		t.Errorf("%d large ones of %.0f ns, %q", n, takes, big.Behind)
	}
}

// On a connection of several slots a small exchange is behind a large one that another
// slot has in flight, and not behind one that has not been sent.
func TestSlotsOfAConnectionAreBehindEachOther(t *testing.T) {
	l, err := New(halves(contract.Load{Connections: 2, InFlight: 2}), 1)
	if err != nil {
		t.Fatal(err)
	}
	l.Start()
	l.Open(Now())
	a, b, other := &l.Slots(0)[0], &l.Slots(0)[1], &l.Slots(1)[0]
	// begin lets a slot go on until it has an exchange of the size.
	begin := func(s *Slot, down int64) int64 {
		for {
			now := Now()
			s.Next(now)
			if s.Draw().Down == down {
				return now
			}
			s.Cancel()
		}
	}
	begin(a, 1<<20)
	for _, s := range []*Slot{b, other} {
		now := begin(s, 100)
		s.Done(now, now+1000, 100)
	}
	now := Now()
	a.Done(now, now+1000, 1<<20)
	later := begin(b, 100) + 1_000_000
	b.Done(later, later+1000, 100)
	begin(a, 1<<20)
	a.Cancel()
	later = begin(b, 100) + 2_000_000
	b.Done(later, later+1000, 100)
	r := resultOf(t, l, Now())
	behind, _ := decodeCount(t, r.Bins[0].Behind)
	if free, _ := decodeCount(t, r.Bins[0].Free); behind != 1 || free != 3 || r.Bins[0].Response != "" {
		t.Errorf("%d behind and %d free, want 1 and 3", behind, free)
	}
}

func TestBinVectors(t *testing.T) {
	var v struct {
		Bins []struct {
			Bytes     int64
			FromBytes int64 `json:"from_bytes"`
			ToBytes   int64 `json:"to_bytes"`
		}
		Waiting []struct {
			Name         string
			LargestBytes int64 `json:"largest_bytes"`
			Bytes        int64
			Due, Sent    int64
			Others       [][3]int64
			Behind       bool
		}
	}
	if err := readVectors("bins.json", &v); err != nil || len(v.Bins) < 8 || len(v.Waiting) < 8 {
		t.Fatalf("%d bins, %d waiting, %v", len(v.Bins), len(v.Waiting), err)
	}
	for _, b := range v.Bins {
		if from, to := binEdges(binOf(b.Bytes)); from != b.FromBytes || to != b.ToBytes {
			t.Errorf("%d B: %d to %d, want %d to %d", b.Bytes, from, to, b.FromBytes, b.ToBytes)
		}
	}
	for _, c := range v.Waiting {
		var w waits
		for _, o := range c.Others {
			w.last[binOf(o[0])] = span{o[1], o[2]}
		}
		if got := w.behind(binOf(c.Bytes), binOf(c.LargestBytes), span{c.Due, c.Sent}); got != c.Behind {
			t.Errorf("%s: behind %v", c.Name, got)
		}
	}
}

// On a wire that returns what it is sent, an exchange is as large as its request, and elsewhere
// as its larger message, as it came back.
func TestAnExchangeIsAsLargeAsWhatWasMoved(t *testing.T) {
	table := contract.Table{{contract.TableEnd / 2, 10, 10}, {contract.TableEnd, 5000, 5000}}
	for echo, replies := range map[bool]func(Draw) int64{true: func(d Draw) int64 { return d.Up }, false: func(d Draw) int64 { return 70_000 }} {
		l, err := New(contract.Setup{Seed: 9, Exchange: contract.Exchange{UpBytes: 5000, DownBytes: 5000, UpSizes: table, DownSizes: table}, Load: contract.Load{Connections: 1, Rate: 1e6}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if echo {
			l.Echoes()
		}
		l.Start()
		l.Open(Now())
		small, large := 0, 0
		for range 200 {
			s := &l.slots[0]
			due, _ := s.Next(0)
			d := s.Draw()
			if echo && d.Down != d.Up {
				t.Fatalf("an echo of %d bytes has %d", d.Up, d.Down)
			}
			if d.Up == 10 {
				small++
			} else {
				large++
			}
			s.Done(due, due+5, replies(d))
		}
		r := resultOf(t, l, Now())
		counts := map[int64]int64{}
		for _, b := range r.Bins {
			h, err := hist.Decode(b.Response)
			if err != nil {
				t.Fatal(err)
			}
			counts[b.FromBytes] = h.Count()
		}
		if echo && (counts[0] != int64(small) || counts[4096] != int64(large)) || !echo && counts[65536] != 200 {
			t.Errorf("echo %v: %v, of %d small and %d large", echo, counts, small, large)
		}
	}
}
