package cells

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

func TestLabels(t *testing.T) {
	s := record.Study{Compare: record.Compare{Factor: "arm"}, Labels: record.Labels{
		Levels: map[string]map[string]string{"arm": {"pooled": "HTTP/1.1, pooled buffer"}, "message": {"simple": "one string each way"}},
		Cells: map[string]record.CellLabel{
			`opt.server.command="node app.js {port}"`: {Label: "Express"},
			"message=simple amount=100":               {Label: "a fixed number", Beside: "message=simple"},
		},
	}}
	for arm, want := range map[string]string{"pooled": "HTTP/1.1, pooled buffer", "tcp": "tcp"} {
		if got := PlanOf(record.Header{Study: s}).Names.Arm(arm); got != want {
			t.Errorf("arm %s is %q, want %q", arm, got, want)
		}
	}
	for cell, want := range map[string]string{
		"":                             "",
		"connections=10000":            "10,000 connections",
		"message=simple connections=4": "one string each way, 4 connections",
		"message=simple amount=100":    "a fixed number, one string each way",
		`opt.server.command="node app.js {port}"`:  "Express",
		`opt.server.command="./a b" connections=1`: `opt.server.command="./a b", 1 connection`,
	} {
		if got := PlanOf(record.Header{Study: s}).Names.Cell(cell); got != want {
			t.Errorf("cell %q is %q, want %q", cell, got, want)
		}
	}
	for factor, want := range map[string]string{"transport": "10", "connections": "10 connections", "rate": "10/s", "opt.client.write_buffer": "client write buffer 10"} {
		if got := (Names{}).Level(factor, "10"); got != want {
			t.Errorf("%s=10 is %q, want %q", factor, got, want)
		}
	}
}

// Cells are named together by what no other cell has, and not named where that is more
// than two things.
func TestCellsAreNamedTogether(t *testing.T) {
	s := record.Study{Labels: record.Labels{
		Levels: map[string]map[string]string{"message": {"simple": "one string each way"}},
		Cells: map[string]record.CellLabel{
			"inflight=10":                   {Label: "10 calls on 1 connection"},
			"connections=50 message=simple": {Label: "many connections", Beside: "message=simple"}, "connections=50 message=complex": {Label: "many connections", Beside: "message=complex"},
		},
	}}
	grid := []string{"connections=10 request=1KiB", "connections=100 request=1KiB", "connections=1000 request=1KiB", "connections=10000 request=1KiB", "connections=10 request=1MiB", "connections=100 request=1MiB", "connections=1000 request=1MiB", "connections=10000 request=1MiB", "connections=10 request=4MiB"}
	at := func(of ...int) []string {
		var cells []string
		for _, i := range of {
			cells = append(cells, grid[i])
		}
		return cells
	}
	for _, c := range []struct {
		of, all []string
		want    string
	}{
		{at(0, 1, 4, 5, 8), grid, "10 and 100 connections"},
		{at(0, 1, 2, 4, 5, 6, 8), grid, "up to 1,000 connections"},
		{at(3, 2, 1, 7, 6, 5), grid, "100 connections and more"},
		{at(0, 4, 8), grid, "10 connections"},
		{at(4, 5, 6, 7, 8), grid, "request 1 MiB and 4 MiB"},
		{at(4, 5, 6, 7), grid, "request 1 MiB"},
		{at(4, 5), grid, "10 and 100 connections, request 1 MiB"},
		{at(0, 4, 3, 7, 8), grid, "10 and 10,000 connections"},
		{at(0, 5), grid, ""},
		{at(0, 1, 4), grid, ""},
		{[]string{"inflight=10"}, []string{"inflight=10", "connections=50 message=simple", "connections=50 message=complex"}, "10 calls on 1 connection"},
		{[]string{"connections=50 message=simple", "connections=50 message=complex"}, []string{"inflight=10", "connections=50 message=simple", "connections=50 message=complex"}, "many connections"},
		{[]string{"connections=50 message=simple"}, []string{"inflight=10", "connections=50 message=simple", "connections=50 message=complex"}, "one string each way"},
	} {
		if got := PlanOf(record.Header{Study: s}).Names.Together(c.of, c.all); got != c.want {
			t.Errorf("%v are %q, want %q", c.of, got, c.want)
		}
	}
}

// A trial's settings say how the threads of an end are spread over NUMA nodes.
func TestSettingsNameNodes(t *testing.T) {
	nodes := make([]int, 64) // of a recorded machine of 64 CPUs on two nodes
	for i := range nodes {
		nodes[i] = i / 48
	}
	r := record.Record{Workers: []record.Worker{
		{Role: contract.Server, Ready: &contract.Ready{Threads: 64, Nodes: nodes}},
		{Role: contract.Client, Ready: &contract.Ready{Threads: 1}},
	}}
	got := SettingsOf(&r)
	if want := "48 on node 0, 16 on node 1"; got["server.numa"] != want {
		t.Errorf("server.numa is %q, want %q", got["server.numa"], want)
	}
	if _, told := got["client.numa"]; told {
		t.Error("a client that is kept to no node has one")
	}
}
