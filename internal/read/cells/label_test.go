package cells

import (
	"testing"

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
		if got := ArmLabel(s, arm); got != want {
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
		if got := CellLabel(s, cell); got != want {
			t.Errorf("cell %q is %q, want %q", cell, got, want)
		}
	}
	for factor, want := range map[string]string{"transport": "10", "connections": "10 connections", "rate": "10/s", "opt.client.write_buffer": "client write buffer 10"} {
		if got := LevelLabel(record.Study{}, factor, "10"); got != want {
			t.Errorf("%s=10 is %q, want %q", factor, got, want)
		}
	}
}
