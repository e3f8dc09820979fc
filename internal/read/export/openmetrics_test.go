package export

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// readReference has Prometheus's own parser of OpenMetrics read a file and print the
// samples of a family: name, arm and value.
const readReference = `
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as families
samples = 0
for f in families(open(sys.argv[1], encoding="utf-8", newline="").read()):
    samples += len(f.samples)
    for s in f.samples:
        if f.name == "netdyno_server_cpu_seconds_per_exchange":
            print(f.type, f.unit, repr(s.labels["arm"]), s.labels["connections"], "%.6e" % s.value, bool(s.timestamp))
print(samples, "samples")
`

// debianPython is the one that Debian's packages are for.
const debianPython = "/usr/bin/python3"

func TestReferenceParserReadsOpenMetrics(t *testing.T) {
	if exec.Command(debianPython, "-c", "import prometheus_client.openmetrics.parser").Run() != nil {
		t.Skip("python3-prometheus-client is not installed: `make packages-test` installs it")
	}
	for name, r := range map[string]Run{"small": small(), "hostile": hostileRun(), "begun": {Header: small().Header, Plan: small().Plan}} {
		text := written(t, "openmetrics", r, "")
		file := filepath.Join(t.TempDir(), "run.txt")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), debianPython, "-c", readReference, file).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		samples := 0
		for line := range bytes.Lines(text) {
			if !bytes.HasPrefix(line, []byte("#")) {
				samples++
			}
		}
		if !strings.Contains(string(out), fmt.Sprintf("%d samples\n", samples)) {
			t.Errorf("%s: %d samples, the reference reads:\n%s", name, samples, out)
		}
		if name != "small" {
			continue
		}
		f, err := finding.Find(r.Header, r.Plan, r.Records)
		if err != nil {
			t.Fatal(err)
		}
		for _, cell := range f.Cells {
			for _, arm := range cell.Arms {
				for _, m := range arm.Metrics {
					want := fmt.Sprintf("gauge seconds_per_exchange '%s' %s %.6e True\n", arm.Name, cell.Levels["connections"], m.Value/1e6)
					if m.Metric == "server.cpu_us_per_exchange" && !strings.Contains(string(out), want) {
						t.Errorf("no %q among:\n%s", want, out)
					}
				}
			}
		}
	}
}

// The buckets of a histogram hold what was recorded.
func TestHistogramsInOpenMetrics(t *testing.T) {
	r := run(synthetic.Options{Rate: 5000, Blocks: 1, Connections: []int{50}, Arms: []synthetic.Arm{{Name: "go-net"}}})
	text := string(written(t, "openmetrics", r, ""))
	recorded := int64(0)
	for _, one := range r.Records {
		h, ok := record.NewWindow(&one).Histogram(record.Response)
		if !ok {
			t.Fatal("a trial without response times")
		}
		recorded += h.Count()
	}
	for _, want := range []string{
		"# TYPE netdyno_response_time_seconds histogram\n# UNIT netdyno_response_time_seconds seconds\n",
		`netdyno_response_time_seconds_bucket{study="event-loops",run="event-loops-1",cell="connections=50",arm="go-net",connections="50",le="1e-06"} 0 `,
		fmt.Sprintf(`connections="50",le="1.0"} %d `, recorded), fmt.Sprintf(`connections="50",le="+Inf"} %d `, recorded), fmt.Sprintf(`connections="50"} %d `, recorded), "netdyno_response_time_seconds_created{", "netdyno_response_time_seconds_sum{",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	if !strings.HasSuffix(text, "\n# EOF\n") || strings.Contains(text, "NaN") {
		t.Error("no end, or a figure that is none")
	}
}

// Two factors whose labels would be one are told apart.
func TestLabelsOfFactors(t *testing.T) {
	r := small()
	for i := range r.Plan {
		r.Plan[i].Levels["opt.a b"], r.Plan[i].Levels["opt.a.b"], r.Plan[i].Levels["run"] = "x\n\"\\", "y", "z"
		r.Records[i].Trial.Levels = r.Plan[i].Levels
	}
	for _, name := range []string{"opt.a b", "opt.a.b", "run"} {
		f := r.Header.Study.Vary[0]
		f.Name = name
		r.Header.Study.Vary = append(r.Header.Study.Vary, f)
	}
	if text := string(written(t, "openmetrics", r, "")); !strings.Contains(text, `,opt_a_b="x\n\"\\",opt_a_b_2="y",run_2="z"} `) {
		t.Errorf("labels: %.600s", text)
	}
}
