package quantity

import "testing"

func TestOnlyAUnitIsPartedFromItsNumber(t *testing.T) {
	for text, want := range map[string]string{
		"64KiB": "64 KiB", "1.5ms": "1.5 ms", "10Gbit/s": "10 Gbit/s", "250us": "250 us", "10": "10", "auto": "auto", "": "",
		"/tmp/before": "/tmp/before", "./a": "./a", "2-way": "2-way", "4k-reader": "4k-reader", "10.0.0.1:port": "10.0.0.1:port", "3a1": "3a1",
	} {
		if got := WithSpace(text); got != want {
			t.Errorf("%q becomes %q, expected %q", text, got, want)
		}
	}
}
