package export

import (
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/read/profile"
	"netdyno/test/synthetic"
)

// probed is a run with probes: 3 s of CPU in each profile.
func probed(arms ...synthetic.Arm) Run {
	return run(synthetic.Options{Arms: arms, Blocks: 1, Connections: []int{50}, Bare: true, Probes: []synthetic.Stack{
		{Functions: []string{"encoding/json.Marshal", "main.serve"}, CPU: time.Second},
		{Functions: []string{"syscall.Syscall\x1b", "main.serve"}, CPU: 2 * time.Second},
	}})
}

func TestProfilesAreMerged(t *testing.T) {
	r := probed(synthetic.Arm{Name: "go-net"}, synthetic.Arm{Name: "../a/b\n"}, synthetic.Arm{Name: ".._a_b_"})
	for i, p := range r.Plan { // a second probe of each
		if p.Probe {
			again, record := p, r.Records[i]
			again.ID = "again-" + p.ID
			record.Trial = again
			r.Plan, r.Records = append(r.Plan, again), append(r.Records, record)
		}
	}
	format, err := Named("pprof")
	if err != nil {
		t.Fatal(err)
	}
	files, notes, err := format.Files(r)
	if err != nil || len(notes) > 0 {
		t.Fatal(err, notes)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	want := "connections=50-go-net-server.pprof connections=50-go-net-client.pprof connections=50-.._a_b_-server.pprof connections=50-.._a_b_-client.pprof " +
		"connections=50-.._a_b_-2-server.pprof connections=50-.._a_b_-2-client.pprof"
	if strings.Join(names, " ") != want {
		t.Fatalf("files %q, want %s", names, want)
	}
	p, err := profile.Parse(files[0].Data)
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, s := range p.Sample {
		sum += s.Value[1]
	}
	if sum != 6e9 || len(p.Sample) != 2 || !strings.Contains(p.Comments[0], `arm "go-net"`) || !slices.Contains(p.Comments, "connections=50") {
		t.Errorf("%d ns in %d samples, %q; want two probes of 3 s", sum, len(p.Sample), p.Comments)
	}
	for _, f := range p.Function {
		if strings.Contains(f.Name, "\x1b") {
			t.Errorf("function %q reaches a terminal", f.Name)
		}
	}
}

func TestRunsWithoutProfiles(t *testing.T) {
	if _, _, err := pprofFiles(small()); err == nil || !strings.Contains(err.Error(), "no profiles; expected probes") {
		t.Errorf("a run without probes: %v", err)
	}
	r := probed(synthetic.Arm{Name: "go-net"})
	for i := range r.Records {
		for j := range r.Records[i].Workers {
			if p := r.Records[i].Workers[j].Result.Profile; len(p) > 0 && j == 0 {
				r.Records[i].Workers[j].Result.Profile = p[:len(p)/2]
			}
		}
	}
	files, notes, err := pprofFiles(r)
	if err != nil || len(files) != 1 || len(notes) != 1 || !strings.Contains(notes[0], "is left out: server: decompress") {
		t.Errorf("a torn profile: %d files, %q, %v", len(files), notes, err)
	}
}
