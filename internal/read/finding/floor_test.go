package finding_test

import (
	"strings"
	"testing"
	"time"

	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// path is a floor with the times of exchanges, in µs, by work in µs.
func path(took map[int64]int64) record.Floor {
	f := record.Floor{Server: "local", Client: "local", ServerCPUs: []int{0, 1}, ClientCPUs: []int{2, 3}}
	for _, work := range []int64{0, 20, 100, 1000} {
		if us := took[work]; us > 0 {
			f.Steps = append(f.Steps, record.FloorStep{WorkNs: work * 1e3, Times: synthetic.Histogram(map[time.Duration]int64{
				time.Duration(us) * time.Microsecond: 50,
			})})
		}
	}
	return f
}

// found are the findings of one arm whose exchanges take 60 µs, at 5,000 of them a second.
func found(t *testing.T, o synthetic.Options, floors []record.Floor, change func(*record.Worker)) finding.Findings {
	t.Helper()
	o.Blocks, o.Seed, o.Connections = 6, 1, []int{50}
	if o.Rate == 0 {
		o.Rate = 5_000
	}
	if o.Arms == nil {
		o.Arms = []synthetic.Arm{{Name: "a"}}
	}
	header, trials, records := synthetic.Run(o)
	header.Facts.Floors = floors
	for i := range records {
		for j := range records[i].Workers {
			change(&records[i].Workers[j])
		}
	}
	f, err := finding.Find(header, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func asRecorded(*record.Worker) {}

func TestAShortTimeIsToldFromItsFloor(t *testing.T) {
	measured := map[int64]int64{0: 30, 20: 55, 100: 145, 1000: 1060}
	for _, c := range []struct {
		name   string
		o      synthetic.Options
		floors []record.Floor
		change func(*record.Worker)
		want   string // of the answer; "" for nothing
	}{
		{"between two steps", synthetic.Options{}, []record.Floor{path(measured)}, asRecorded, " µs about 35 µs are this machine's own wake-ups and sends."},
		{"all of it", synthetic.Options{}, []record.Floor{path(map[int64]int64{0: 52, 20: 72})}, asRecorded, " µs nearly all is this machine's own wake-ups and sends."},
		{"on another path", synthetic.Options{}, []record.Floor{func() record.Floor { f := path(measured); f.ClientCPUs = nil; return f }()}, asRecorded, ""},
		{"not measured", synthetic.Options{}, nil, asRecorded, ""},
		{"damaged", synthetic.Options{}, []record.Floor{{Server: "local", Client: "local", ServerCPUs: []int{0, 1}, ClientCPUs: []int{2, 3}, Steps: []record.FloorStep{{Times: "no"}}}}, asRecorded, ""},
		{"shorter than the path's shortest", synthetic.Options{}, []record.Floor{path(map[int64]int64{0: 90})}, asRecorded, ""},
		{"more than ten times the floor", synthetic.Options{}, []record.Floor{path(map[int64]int64{0: 4, 1000: 1004})}, asRecorded, ""},
		{"many at once", synthetic.Options{Rate: 60_000}, []record.Floor{path(measured)}, asRecorded, ""},
		{"a client that polls", synthetic.Options{}, []record.Floor{path(measured)}, func(w *record.Worker) {
			if w.Role == "client" {
				ready := *w.Ready
				ready.Polls = true
				w.Ready = &ready
			}
		}, ""},
		{"two hosts", synthetic.Options{}, []record.Floor{func() record.Floor { f := path(measured); f.Server = "far"; return f }()}, func(w *record.Worker) {
			if w.Role == "server" {
				w.Seat = "far"
			}
		}, " µs about 35 µs are the hosts' own wake-ups and sends and the way between them."},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := found(t, c.o, c.floors, c.change)
			var said []string
			for _, s := range append([]string{f.Answer.Sentence}, f.Answer.Judged...) {
				if strings.HasPrefix(s, "Of the median service time of ") {
					said = append(said, s)
				}
			}
			switch {
			case c.want == "" && (len(said) > 0 || len(f.Floors) > 0):
				t.Errorf("said %q of %+v, expected nothing", said, f.Floors)
			case c.want != "" && (len(said) != 1 || !strings.HasSuffix(said[0], c.want)):
				t.Errorf("said %q of %+v, expected one that ends in %q", said, f.Floors, c.want)
			}
		})
	}
}

// Compared times have a part in common, which brings their ratio nearer to 1.
func TestComparedTimesShareTheirFloor(t *testing.T) {
	floors := []record.Floor{path(map[int64]int64{0: 30, 20: 55, 100: 145, 1000: 1060})}
	for metric, want := range map[string]int{"response_p99_us": 1, "server.cpu_us_per_exchange": 0} {
		o := synthetic.Options{Arms: []synthetic.Arm{{Name: "a"}, {Name: "b", Speed: 1.3}}, Primary: []string{metric}}
		f := found(t, o, floors, asRecorded)
		n := 0
		for _, w := range f.Warnings {
			if w.About == "floor" && strings.Contains(w.Advice, "this machine's own wake-ups") {
				n++
			}
		}
		if len(f.Floors) != 2 || n != want {
			t.Errorf("%s: %d warnings of %+v, expected %d of 2 arms", metric, n, f.Floors, want)
		}
	}
}
