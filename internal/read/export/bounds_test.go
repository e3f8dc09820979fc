package export

import (
	"bytes"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"netdyno/internal/hist"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// died is a run in whose second arm 64 % of the exchanges were never answered; the
// youngest of them had waited for 2.42 s.
func died() Run {
	r := run(synthetic.Options{Arms: []synthetic.Arm{{Name: "steady"}, {Name: "dies"}}, Connections: []int{50}, Rate: 1000, Blocks: 2, Seed: 7})
	for i := range r.Records {
		if r.Records[i].Trial.Arm == "dies" {
			c := &r.Records[i].Workers[1]
			done := float64(c.Result.Counts.Exchanges + c.Result.Drained)
			synthetic.Leave(c, map[time.Duration]int64{2420 * time.Millisecond: int64(math.Round(done * 384 / 216))})
		}
	}
	return r
}

// No export has a percentile or a mean of what was answered alone, and each says what
// is a bound.
func TestExportsSayWhatIsABound(t *testing.T) {
	r := died()
	seconds := func(us string) float64 { return number(t, us) / 1e6 }
	trials := readSheet(t, written(t, "csv", r, ""))
	for _, row := range trials.rows {
		bounds := strings.Fields(row["lower_bounds"])
		if row["arm"] == "steady" {
			if len(bounds) > 0 {
				t.Errorf("bounds %v of an arm that left nothing", bounds)
			}
			continue
		}
		for _, name := range []string{"response_p50_us", "response_p99_us"} {
			if seconds(row[name]) < 2.41 || !strings.Contains(row["lower_bounds"], name) {
				t.Errorf("%s is %s with bounds %v", name, row[name], bounds)
			}
		}
		if seconds(row["response_mean_us"]) < 0.64*2.41 || !strings.Contains(row["lower_bounds"], "response_mean_us") {
			t.Errorf("the mean is %s with bounds %v", row["response_mean_us"], bounds)
		}
	}
	found := 0
	for _, row := range readSheet(t, written(t, "csv", r, "arms")).rows {
		marked := row["arm"] == "dies" && regexp.MustCompile(`^(service|response)_(mean|p\d+)_us$`).MatchString(row["metric"])
		if (row["bound"] == "lower") != marked || marked && row["high"] != "" {
			t.Errorf("%s of %s has bound %q and high %q", row["metric"], row["arm"], row["bound"], row["high"])
		}
		if row["metric"] == "response_p99_us" && marked && seconds(row["value"]) > 2.41 {
			found++
		}
	}
	for _, row := range readSheet(t, written(t, "csv", r, "comparisons")).rows {
		if row["metric"] == "response_p99_us" && row["arm"] == "dies" && row["value_bound"] == "lower" && row["base_value_bound"] == "" && row["verdict"] == "invalid" {
			found++
		}
	}
	if found != 2 {
		t.Errorf("of the arm and its comparison %d say their p99 and its bound, want both", found)
	}
	for format, want := range map[string]string{
		"openmetrics": `netdyno_response_p99_seconds{study="[^"]*",run="[^"]*",cell="[^"]*",arm="dies"[^}]*,bound="lower"} 2\.42`,
		"benchfmt":    `arm=dies.* 242\d{7} at-least-response-p99-ns`,
		"hlog":        `#lower bound: of trial \S+ of \S*dies the response times`,
		"json":        `"at_least": true`,
	} {
		text := written(t, format, r, "")
		if !regexp.MustCompile(want).Match(text) {
			t.Errorf("%s does not say %s", format, want)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if format != "json" && strings.Contains(line, "steady") && (strings.Contains(line, "at-least") || strings.Contains(line, "bound=")) {
				t.Errorf("%s calls a bound what is none: %s", format, line)
			}
		}
	}
	checkLog(t, written(t, "hlog", r, ""))
}

// checkLog demands that the log's response times of the arm hold what was never
// answered.
func checkLog(t *testing.T, text []byte) {
	t.Helper()
	for _, line := range bytes.Split(text, []byte("\n")) {
		fields := strings.Split(string(line), ",")
		if !strings.HasPrefix(string(line), "Tag=") || !strings.Contains(fields[0], "dies/"+record.Response) {
			continue
		}
		h, err := hist.Decode(fields[len(fields)-1])
		if err != nil {
			t.Fatal(err)
		}
		if p50, _ := h.Percentile(0.5); p50 < int64(2410*time.Millisecond) {
			t.Errorf("the log's median is %v", time.Duration(p50))
		}
		return
	}
	t.Error("the log has no response times of the arm")
}
