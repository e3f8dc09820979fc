package condition_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"netdyno/internal/condition"
)

// written are conditions as a study may have them, each beside its canonical text.
var written = [][2]string{
	{"service_p99 of go-net <= 5ms", "service_p99_us of go-net <= 5ms"},
	{"server.cpu_us_per_exchange of go-epoll ≤ 1.2 x go-net at connections=50 and request=1KiB", "server.cpu_us_per_exchange of go-epoll <= 1.2 × go-net at connections=50 and request=1KiB"},
	{"error_share of go-net <= 0.1 %", "error_share of go-net <= 0.1 %"},
	{"goodput of 1-4-1 = 1.52 × 1-1-1 ± 25 % at request=4KiB", "goodput_bytes_per_s of 1-4-1 = 1.52 × 1-1-1 ± 25 % at request=4KiB"},
	{"goodput of 1-4-1, 1-2-1 > 1-1-1", "goodput_bytes_per_s of 1-4-1, 1-2-1 > 1-1-1"},
	{"goodput of a = b ± 5 %", "goodput_bytes_per_s of a = b ± 5 %"},
	{"goodput of iperf2 = 0.94 × link ± 5%", "goodput_bytes_per_s of iperf2 = 0.94 × link ± 5 %"},
	{"client.threads of a at request=4MiB > a at request=4KiB", "client.threads of a at request=4MiB > a at request=4KiB"},
	{"service_mean of a < b at message=complex against message=simple", "service_mean_us of a < b at message=complex against message=simple"},
	{"client.profile(garbage collection) of whole > pooled", "client.profile(garbage collection) of whole > pooled"},
	{"server.profile(runtime.netpoll) of a >= 25 %", "server.profile(runtime.netpoll) of a >= 25 %"},
	{"both.cpu_s_per_gb of best(a, b) < best(c, d) at stream=up", "both.cpu_s_per_gb of best(a, b) < best(c, d) at stream=up"},
	{"link_rate_share of best(a, b) >= 95 %", "link_rate_share of best(a, b) >= 95 %"},
	{"least connections, threads with goodput >= 95 % of best at stream=up", "least connections, threads with goodput_bytes_per_s >= 95 % of best at stream=up"},
	{"server.rss per connections = 2 × opt.write + 1 × opt.read ± 25 %", "server.rss_bytes per connections = 2 × opt.write + 1 × opt.read ± 25 %"},
	{"spread(exchanges over base) of a, b < c, d at request=1MiB", "spread(exchanges_per_s over base) of a, b < c, d at request=1MiB"},
	{"goodput >= 10MB", "goodput_bytes_per_s >= 10MB"},
	{"goodput of ./old/bin >= 0.9 × ./new/bin", "goodput_bytes_per_s of ./old/bin >= 0.9 × ./new/bin"},
}

func TestConditionsReadAsTheyAreWritten(t *testing.T) {
	for _, w := range written {
		c, err := condition.Parse(w[0], nil)
		if err != nil || c.String() != w[1] {
			t.Errorf("%q is %q, %v; want %q", w[0], c, err, w[1])
		}
		if again, err := condition.Parse(c.String(), nil); err != nil || !reflect.DeepEqual(again, c) {
			t.Errorf("%q reads back as %+v, %v; want %+v", c, again, err, c)
		}
	}
}

func TestPartsOfACondition(t *testing.T) {
	level := func(factor, level string) (string, error) {
		if factor != "request" && factor != "inflight" {
			return "", fmt.Errorf("no factor %s", factor)
		}
		return strings.Replace(level, "1024KiB", "1MiB", 1), nil
	}
	c, err := condition.Parse("service_mean of a, b = 0.5 x c ± 20 % at request=1024KiB and inflight=1 against request=1KiB", level)
	want := condition.Condition{
		Metric: "service_mean_us", Of: condition.Side{Arms: []string{"a", "b"}}, Is: condition.Equal, Size: 0.5, Base: condition.Side{Arms: []string{"c"}}, Margin: 0.2,
		At: map[string]string{"request": "1MiB", "inflight": "1"}, Against: map[string]string{"request": "1KiB"},
	}
	if err != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("found %+v, %v; want %+v", c, err, want)
	}
	if c, err = condition.Parse("service_p50 of a <= 2ms", level); err != nil || c.Size != 2000 || c.Bound != "2ms" || !c.IsBound() {
		t.Errorf("found %+v, %v; want a bound of 2000 µs", c, err)
	}
	if c, err = condition.Parse("service_p50 of a <= 2ms at clients=2", level); err == nil {
		t.Errorf("found %+v of a factor that there is not", c)
	}
}

func TestErrorsSayWhatIsExpected(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                     "expected a condition such as",
		"fast enough":                                          "expected a condition such as",
		"goodput_bytes_per_sec of a > b":                       `did you mean "goodput_bytes_per_s"`,
		"service_p99 of a <= 5 apples":                         "it is in µs",
		"service_p99 of a < 5ms":                               "by <=, >= or =",
		"service_p99 of a <= x × b":                            "is not a multiple",
		"service_p99 of a <= 0 × b":                            "a multiple is above 0",
		"service_p99 of a <= 1.2 × b ± 5 %":                    "a margin behind <=",
		"service_p99 of a > b ± 0 %":                           "a share above 0",
		"service_p99 of a > b, c":                              "one arm, or best(…)",
		"service_p99 of a > b at fast":                         "expected FACTOR=LEVEL",
		"service_p99 of a at c=1 <= 5ms at c=2":                "a bound has no levels of its own",
		"service_p99 of a <= 5ms against c=2":                  "against divides a ratio",
		"service_p99 of a > link":                              "the link has a rate and nothing else",
		"client.profile(encoding) of a = 5 %":                  "expected server.profile(ACTIVITY)",
		"client.profile(encoding) of a > 5 %":                  "compared by < or >",
		"client.profile(encoding) of a <= b":                   "compared by < or >",
		"spread(goodput over a) of b = c":                      "expected spread(METRIC over ARM)",
		"least threads with goodput >= 95 %":                   "such as 95 % of best",
		"server.rss per connections = 2":                       "expected NUMBER × FACTOR",
		"server.rss per connections = 2 × a ± 5 % against b=1": "against divides a ratio",
	} {
		if c, err := condition.Parse(text, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, read as %+v; want an error that says %q", text, err, c, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, w := range written {
		f.Add(w[0])
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := condition.Parse(text, nil)
		if err != nil {
			return
		}
		again, err := condition.Parse(c.String(), nil)
		if err != nil || again.String() != c.String() {
			t.Errorf("%q is %q, which reads back as %q, %v", text, c, again, err)
		}
	})
}
