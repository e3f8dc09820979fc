package source

import (
	"reflect"
	"strings"
	"testing"

	"netdyno/internal/record"
)

const searching = `study: how-much
hold: {window: 1s, warmup: 200ms, arrival: poisson}
vary: {transport: [go-http1, go-fasthttp]}
capacity: {objective: ["response_p99 <= 10ms", "error_share <= 0.1%"], within: 5%, time: 30s}
`

func TestCapacityIsRead(t *testing.T) {
	s := mustFile(t, searching)
	want := &record.Capacity{Within: 0.05, TimeS: 30, Objective: []record.Bound{
		{Text: "response_p99 <= 10ms", Metric: "response_p99_us", Value: 10_000},
		{Text: "error_share <= 0.1%", Metric: "error_share", Value: 0.001},
	}}
	if !reflect.DeepEqual(s.Capacity, want) {
		t.Errorf("read %+v", s.Capacity)
	}
	if s.Blocks != 26 || s.OwnLooks != nil || s.Further != nil || !reflect.DeepEqual(s.Compare.Primary, []string{"response_p99_us", "error_share"}) {
		t.Errorf("%d blocks, looks %v and %v, primary %v", s.Blocks, s.OwnLooks, s.Further, s.Compare.Primary)
	}
	trials, _, err := s.Plan()
	if err != nil || len(trials) != 2*s.Blocks || trials[0].Levels["rate"] != "max" {
		t.Errorf("%d trials, the first at %s, %v; want each arm once in a block, flat out", len(trials), trials[0].Levels["rate"], err)
	}
}

func TestCapacityIsTyped(t *testing.T) {
	s, err := ParseArgs([]string{"transport=go-net", "capacity=yes"}, nil)
	if read, err := readBound(defaultObjective.Text); err != nil || read != defaultObjective {
		t.Errorf("the default objective reads as %+v, %v", read, err)
	}
	if err != nil || s.Capacity == nil || s.Capacity.Within != 0.1 || s.Capacity.TimeS != 60 || s.Capacity.Objective[0].Metric != "response_p99_us" {
		t.Fatalf("%+v, %v", s, err)
	}
	s, err = ParseArgs([]string{"how.yaml", "capacity.time=90s", "capacity.objective=response_p50 <= 1ms,server.cores <= 2"},
		func(string) ([]byte, error) { return []byte(searching), nil })
	if err != nil || s.Capacity.TimeS != 90 || s.Capacity.Within != 0.05 || len(s.Capacity.Objective) != 2 || s.Capacity.Objective[1].Metric != "server.cores" {
		t.Errorf("changed: %+v, %v", s.Capacity, err)
	}
}

func TestCapacityErrorsTeach(t *testing.T) {
	for args, want := range map[string]string{
		"capacity=yes rate=1k":                     "rate=1000 contradicts capacity",
		"capacity=yes amount=10":                   "amount=10 contradicts capacity",
		"capacity=yes settle=30s":                  "end by themselves",
		"capacity.objective=response_p99":          `found "response_p99"; expected METRIC <= BOUND`,
		"capacity.objective=response_p98 <= 1ms":   "unknown metric",
		"capacity.objective=response_p99 >= 1ms":   "less of response_p99_us is better",
		"capacity.objective=exchanges_per_s <= 5k": "more of exchanges_per_s is better",
		"capacity.objective=response_p99 <= soon":  "the bound of response_p99_us",
		"capacity.within=1%":                       "expected a share from 2%",
		"capacity.time=1s":                         "expected 5 s to a day",
		"capacity.thyme=1s":                        "expected one of objective, within, time",
	} {
		key, rest, _ := strings.Cut(args, "=")
		typed := []string{"transport=go-net", args}
		if key == "capacity" {
			typed = append(typed[:1], strings.Fields(args)...)
		}
		if _, err := ParseArgs(typed, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s (%s): %v; want %q", args, rest, err, want)
		}
	}
}
