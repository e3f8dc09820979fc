package mesh

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/read/cells"
	"netdyno/internal/record"
)

// failing is the run of a mesh of n hosts in which the trials for which fails tells
// so have failed; the others have no record.
func failing(t *testing.T, n int, fails func(client, server string) bool) *Mesh {
	t.Helper()
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("node%d", i+1))
	}
	header := record.Header{Schema: record.Schema, Study: record.Study{
		Name: "mesh", Mesh: true, Blocks: 3, Compare: record.Compare{Factor: "transport", Baseline: "go-net"},
		Vary: []record.Factor{{Name: "transport", Levels: []string{"go-net"}}, {Name: clientHost, Levels: names}, {Name: serverHost, Levels: names}},
	}}
	var trials []record.Trial
	var records []record.Record
	for block := 1; block <= 3; block++ {
		for _, client := range names {
			for _, server := range names {
				if client == server {
					continue
				}
				one := record.Trial{
					ID: fmt.Sprintf("b%d-%s-%s", block, client, server), Block: block, Order: len(trials), Arm: "go-net", Round: 1, Cell: client + " " + server,
					Levels: map[string]string{clientHost: client, serverHost: server, "stream": "up"},
				}
				trials = append(trials, one)
				r := record.Record{Schema: record.Schema, Trial: one, Outcome: record.Unsupported, Failure: &record.Failure{Kind: "unsupported", Text: "not here"}}
				if fails(client, server) {
					r.Outcome, r.Failure = record.Failed, &record.Failure{Kind: "timeout", Text: "no answer"}
				}
				records = append(records, r)
			}
		}
	}
	s, err := cells.Read(header, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	return Read(s)
}

// A mesh in which every trial has failed names nobody: it tells no host from another.
func TestNobodyIsLostWhereAllAre(t *testing.T) {
	if m := failing(t, 5, func(string, string) bool { return true }); len(m.Outliers) > 0 {
		t.Errorf("lost are %+v", m.Outliers)
	}
}

func TestMeshOfAnotherStudy(t *testing.T) {
	s, err := cells.Read(record.Header{Study: record.Study{Blocks: 1}}, nil, nil)
	if err != nil || Read(s) != nil {
		t.Errorf("a study without hosts is a mesh; %v", err)
	}
}

// lostIn returns the lost hosts of a mesh whose trials of these hosts have no figure.
func lostIn(n int, gone ...int) []string {
	r := &reading{lost: make([]map[int]lost, n)}
	for i := range n {
		r.names = append(r.names, fmt.Sprintf("node%d", i+1))
		r.hosts = append(r.hosts, Host{Name: r.names[i]})
		r.lost[i] = map[int]lost{}
		for j := range n {
			if i == j {
				continue
			}
			r.lost[i][j] = lost{of: 6}
			if slices.Contains(gone, i) || slices.Contains(gone, j) {
				r.lost[i][j] = lost{of: 6, missing: 3, failed: 3, reason: "no answer"}
			}
		}
	}
	var names []string
	for _, o := range r.lostHosts() {
		names = append(names, o.Hosts[0]+" "+o.Reason)
	}
	return names
}

func TestLostHostsAreNamed(t *testing.T) {
	for _, c := range []struct {
		hosts int
		gone  []int
		want  string
	}{
		{4, nil, ""},
		{4, []int{2}, "node3 no answer"},
		{32, []int{2, 30}, "node3 no answer, node31 no answer"},
	} {
		if got := strings.Join(lostIn(c.hosts, c.gone...), ", "); got != c.want {
			t.Errorf("of %d hosts %v are gone, lost is %q", c.hosts, c.gone, got)
		}
	}
}

// Facts stand beside an outlier when it alone has them, names and moments left out.
func TestUnlikeFacts(t *testing.T) {
	host := func(kernel, driver, name string) record.Host {
		return record.Host{Values: map[string]string{"kernel.release": kernel, "nic.driver": driver, "host.name": name}}
	}
	facts := record.Facts{Seats: map[string]record.Host{
		"a": host("6.1", "x", "a"), "b": host("6.1", "y", "b"), "c": host("6.1", "x", "c"), "odd": host("5.4", "y", "odd"),
	}}
	got := unlike(facts, Outlier{Kind: OfHost, Hosts: []string{"odd"}}, []string{"odd"})
	if len(got) != 1 || got[0] != `kernel.release is "5.4", at the others "6.1"` {
		t.Errorf("unlike are %q", got)
	}
}
