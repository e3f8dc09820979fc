package quantity

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseReadsWhatPeopleType(t *testing.T) {
	bytes := map[string]int64{"64KiB": 65536, "100": 100, "100B": 100, "4 MiB": 4 << 20, "1.5kB": 1500, "0": 0, "1TiB": 1 << 40}
	for text, want := range bytes {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("ParseBytes(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	counts := map[string]int64{"20k": 20000, "1.5M": 1500000, "7": 7, "9223372036854775807": math.MaxInt64}
	for text, want := range counts {
		if got, err := ParseCount(text); err != nil || got != want {
			t.Errorf("ParseCount(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	durations := map[string]time.Duration{
		"2ms": 2 * time.Millisecond, "1.5s": 1500 * time.Millisecond, "1m30s": 90 * time.Second, "0": 0, "0s": 0, "5 µs": 5000, "3us": 3000,
	}
	for text, want := range durations {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	if got, err := ParseBitRate("10Gbit/s"); err != nil || got != 1e10 {
		t.Errorf("ParseBitRate = %d, %v", got, err)
	}
	for text, want := range map[string]float64{"50%": 0.5, "0.5": 0.5, "1": 1, "0.1%": 0.001} {
		if got, err := ParseShare(text); err != nil || math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("ParseShare(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]float64{"20k": 20000, "20k/s": 20000, "0.5/s": 0.5, "15000": 15000} {
		if got, err := ParseRate(text); err != nil || math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("ParseRate(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestParseErrorsTeach(t *testing.T) {
	errorOf := func(_ any, err error) error { return err }
	for _, c := range []struct {
		err  error
		want string
	}{
		{errorOf(ParseBytes("2 MiB/s")), `"2 MiB/s": unknown unit "MiB/s"; did you mean 2MiB?`},
		{errorOf(ParseBytes("64KIB")), `"64KIB": unknown unit "KIB"; did you mean 64KiB?`},
		{errorOf(ParseBytes("64 pages")), `"64 pages": unknown unit "pages"; expected one of TiB, TB, GiB, GB, MiB, MB, KiB, kB, B`},
		{errorOf(ParseBytes("")), `"" does not begin with a number; expected a size such as 64KiB`},
		{errorOf(ParseBytes("-1B")), `"-1B" is negative; expected a size such as 64KiB`},
		{errorOf(ParseBytes("1.5B")), `"1.5B" is not a whole number of bytes`},
		{errorOf(ParseBytes("9999999TiB")), `"9999999TiB" is too large; the most is 9223372036854775807 bytes`},
		{errorOf(ParseCount("1.5")), `"1.5" is not a whole number`},
		{errorOf(ParseCount("1.2.3")), `"1.2.3" does not begin with a number; expected a count such as 20k`},
		{errorOf(ParseCount("20K")), `"20K": unknown unit "K"; did you mean 20k?`},
		{errorOf(ParseDuration("5")), `"5" has no unit; expected one of h, m, s, ms, us, ns`},
		{errorOf(ParseDuration("1d")), `"1d": unknown unit "d"; expected one of h, m, s, ms, us, ns`},
		{errorOf(ParseDuration("2sec")), `"2sec": unknown unit "sec"; did you mean 2s?`},
		{errorOf(ParseBitRate("10Gb/s")), `"10Gb/s": unknown unit "Gb/s"; did you mean 10Gbit/s?`},
		{errorOf(ParseShare("150%")), `"150%" is more than the whole; expected a share such as 50% or 0.5`},
		{errorOf(ParseRate("fast")), `"fast" does not begin with a number; expected a rate per second such as 20k`},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", c.err, c.want)
		}
	}
}

func TestTextReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, math.MaxInt64).Draw(t, "n") >> rapid.IntRange(0, 62).Draw(t, "shift")
		if back, err := ParseBytes(BytesText(n)); err != nil || back != n {
			t.Fatalf("bytes %d printed as %s, read as %d, %v", n, BytesText(n), back, err)
		}
		if back, err := ParseCount(CountText(n)); err != nil || back != n {
			t.Fatalf("count %d: %d, %v", n, back, err)
		}
		if back, err := ParseBitRate(BitRateText(n)); err != nil || back != n {
			t.Fatalf("bit rate %d printed as %s: %d, %v", n, BitRateText(n), back, err)
		}
		d := time.Duration(n)
		if back, err := ParseDuration(DurationText(d)); err != nil || back != d {
			t.Fatalf("duration %v printed as %s: %v, %v", d, DurationText(d), back, err)
		}
		share := float64(rapid.IntRange(0, 100000).Draw(t, "share")) / 100000
		if back, err := ParseShare(ShareText(share)); err != nil || math.Abs(back-share) > 0 {
			t.Fatalf("share %v printed as %s: %v, %v", share, ShareText(share), back, err)
		}
		rate := float64(n%1e9) / 8
		if back, err := ParseRate(RateText(rate)); err != nil || math.Abs(back-rate) > 0 {
			t.Fatalf("rate %v printed as %s: %v, %v", rate, RateText(rate), back, err)
		}
	})
}

func TestCanonicalTexts(t *testing.T) {
	for got, want := range map[string]string{
		BytesText(65536): "64KiB", BytesText(100): "100B", BytesText(1000): "1000B", BytesText(0): "0B",
		DurationText(time.Minute): "1m", DurationText(time.Hour): "1h", DurationText(90 * time.Minute): "1h30m",
		DurationText(3605 * time.Second): "1h0m5s", DurationText(0): "0s", DurationText(10 * time.Minute): "10m",
		ShareText(0.5): "50%", ShareText(0.025): "2.5%", ShareText(1): "100%", ShareText(0.29): "29%",
		BitRateText(1e10): "10Gbit/s", RateText(20000): "20000",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestFormatThreeDigits(t *testing.T) {
	for _, c := range [][2]string{
		{FormatBytes(1536), "1.50 KiB"}, {FormatBytes(100), "100 B"}, {FormatBytes(1023.9), "1.00 KiB"}, {FormatBytes(1 << 62), "4,190,000 TiB"},
		{FormatByteRate(1.25e9), "1.25 GB/s"}, {FormatByteRate(999600), "1.00 MB/s"},
		{FormatCount(50), "50"}, {FormatCount(20000), "20.0 k"}, {FormatCount(999.6), "1.00 k"}, {FormatCount(0.123456), "0.123"}, {FormatCount(0), "0"},
		{FormatRate(19990), "20.0 k/s"}, {FormatRate(math.NaN()), "–"}, {FormatCount(-1500), "-1.50 k"}, {FormatBytes(math.Inf(1)), "–"},
		{FormatDuration(1500 * time.Microsecond), "1.50 ms"}, {FormatDuration(9996 * time.Nanosecond), "10.0 µs"}, {FormatDuration(90 * time.Second), "90.0 s"},
		{FormatDuration(270 * time.Second), "4m30s"}, {FormatDuration(0), "0 ns"},
		{FormatShare(0.125), "12.5 %"}, {FormatShare(0.09996), "10.0 %"}, {FormatShare(1), "100 %"},
	} {
		if c[0] != c[1] {
			t.Errorf("got %s, want %s", c[0], c[1])
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"connections", "inflight", "rate", "request", "response", "go-net", "go-epoll"}
	for word, want := range map[string]string{
		"conections": "connections", "connectoins": "connections", "rte": "rate", "reqest": "request", "go-nte": "go-net",
		"goepoll": "go-epoll", "banana": "", "": "", "xy": "",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestDistanceIsAMetric(t *testing.T) {
	word := rapid.StringMatching(`[abc]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := []rune(word.Draw(t, "a")), []rune(word.Draw(t, "b"))
		d := distance(a, b)
		if d != distance(b, a) || (d == 0) != (string(a) == string(b)) || d > max(len(a), len(b)) {
			t.Fatalf("distance(%q, %q) = %d", string(a), string(b), d)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"64KiB", "1m30s", "50%", "10Gbit/s", "20k", "max", "1e9", "..", "9999999999999999999999999TiB", "µs"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := ParseBytes(text); err == nil && n < 0 {
			t.Fatalf("%q gave %d bytes", text, n)
		}
		if d, err := ParseDuration(text); err == nil {
			if back, err := ParseDuration(DurationText(d)); err != nil || back != d || d < 0 {
				t.Fatalf("%q gave %v, printed as %s", text, d, DurationText(d))
			}
		}
		if s, err := ParseShare(text); err == nil {
			if back, err := ParseShare(ShareText(s)); err != nil || math.Abs(back-s) > 0 || s < 0 || s > 1 {
				t.Fatalf("%q gave %v, printed as %s", text, s, ShareText(s))
			}
		}
		if r, err := ParseRate(text); err == nil && (r < 0 || math.IsInf(r, 0)) {
			t.Fatalf("%q gave %v", text, r)
		}
		_, _ = ParseCount(text)
		_, _ = ParseBitRate(text)
	})
}
