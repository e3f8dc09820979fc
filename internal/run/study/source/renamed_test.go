package source

import (
	"fmt"
	"testing"

	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// Names that have changed are read for one version more, with a hint.
func TestRenamedNamesAreReadWithAHint(t *testing.T) {
	const (
		placement = "placement=apart is now placement=separate; the old name goes with the next version"
		transport = "brpc-cpp is now brpc; the old name goes with the next version"
	)
	s := mustArgs(t, "server=baidu-std,brpc-cpp", "client=brpc-cpp", "placement=apart,shared", "compare.baseline=brpc-cpp")
	if got := fmt.Sprint(study.Summary(s).Vary); got != "[{server [baidu-std brpc]} {placement [separate shared]}]" || s.Compare.Baseline != "brpc" {
		t.Errorf("varies %s against %s", got, s.Compare.Baseline)
	}
	if got := fmt.Sprint(s.Renamed()); got != fmt.Sprint([]string{transport, placement}) {
		t.Errorf("hints %s", got)
	}
	s = mustFile(t, "study: x\nhold: {placement: apart}\nvary: {arm: {a: {transport: brpc-cpp}, b: {transport: go-net}}}\nsweeps: [{name: w, vary: {connections: [1]}}]\n")
	if got := fmt.Sprint(s.Renamed()); got != fmt.Sprint([]string{placement, transport}) {
		t.Errorf("hints of a file %s", got)
	}
	if again := mustFile(t, string(must(YAML(s)))); again.Renamed() != nil {
		t.Errorf("written back, the study still has old names: %v", again.Renamed())
	}
	if s := mustArgs(t, "transport=brpc", "placement=separate"); s.Renamed() != nil {
		t.Errorf("today's names give the hints %v", s.Renamed())
	}
	// Trials that were planned before decode as they did.
	w, err := study.Decode(map[string]string{"server": "go-net", "client": "brpc-cpp", "placement": "apart"})
	if err != nil || w.Placement != record.Separate || w.Client != "brpc" {
		t.Errorf("an old trial decodes to %+v, %v", w, err)
	}
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}
