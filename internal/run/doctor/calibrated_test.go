package doctor

import (
	"strings"
	"testing"
	"time"

	"netdyno/internal/record"
)

func TestUndetectable(t *testing.T) {
	c := &record.Calibration{EnoughWindowS: 8, Spreads: map[string]record.Spread{
		"exchanges_per_s": {Smallest: []record.Smallest{{Blocks: 6, Difference: 0.12}, {Blocks: 10, Difference: 0.08}, {Blocks: 16, Difference: 0.049}}},
		"service_p99_us":  {Smallest: []record.Smallest{{Blocks: 6, Difference: 0.9}, {Blocks: 10, Difference: 0.5}}},
		"work_s":          {Smallest: []record.Smallest{{Blocks: 6, Difference: 0.03}}},
	}}
	for name, x := range map[string]struct {
		metric string
		blocks int
		window time.Duration
		want   []string // in the one warning; none for no warning
	}{
		"more blocks":         {"exchanges_per_s", 8, 5 * time.Second, []string{"of about 12.0 % or more with 8 blocks", "blocks=16 shows differences of 5.00 %"}},
		"longer windows":      {"exchanges_per_s", 8, time.Second, []string{"longer windows help too, up to about 8.00 s"}},
		"nothing helps":       {"service_p99_us", 10, 5 * time.Second, []string{"of about 50.0 % or more with 10 blocks", "a quieter machine"}},
		"enough":              {"work_s", 6, time.Second, nil},
		"too few to tell":     {"exchanges_per_s", 3, time.Second, nil},
		"a metric unmeasured": {"goodput_bytes_per_s", 6, time.Second, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := Undetectable(c, []string{x.metric}, x.blocks, x.window)
			if len(got) != min(len(x.want), 1) {
				t.Fatalf("warnings %v", got)
			}
			for _, text := range x.want {
				if said := got[0].Text + ": " + got[0].Advice; !strings.Contains(said, text) {
					t.Errorf("%q lacks %q", said, text)
				}
			}
		})
	}
	if got := Undetectable(nil, []string{"exchanges_per_s"}, 6, time.Second); got != nil {
		t.Errorf("without a calibration: %v", got)
	}
}

// What a host does to a spinning thread is measured, and comes back from facts.
func TestRest(t *testing.T) {
	got, err := Rest(t.Context(), 20*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if got.LostShare < 0 || got.LostShare > 1 || got.OvershootP50 <= 0 || got.OvershootP99 < got.OvershootP50 {
		t.Errorf("rest %+v", got)
	}
	h := record.Host{Values: map[string]string{}}
	if _, known := QuietOf(h); known {
		t.Error("facts without idleness tell of it")
	}
	got.AddTo(h)
	quiet, known := QuietOf(h)
	if us := float64(got.OvershootP99) / float64(time.Microsecond); !known || quiet.OvershootP99Us < us-0.1 || quiet.OvershootP99Us > us+0.1 {
		t.Errorf("facts %v, read as %+v", h.Values, quiet)
	}
}
