package source

import (
	"strings"
	"testing"

	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

const labelled = `study: mine
hold: {window: 1s}
vary:
  arm:
    pooled: {label: "HTTP/1.1, pooled buffer", transport: go-http1}
    plain: {transport: go-net}
  message: [simple, complex]
labels:
  message: {simple: one string each way}
sweeps:
  - name: few
    hold: {connections: 1}
    vary: {message: [simple]}
  - name: many
    label: many connections
    hold: {connections: 100}
`

func summaryOf(t *testing.T, args ...string) record.Study {
	t.Helper()
	s, err := ParseArgs(args, func(string) ([]byte, error) { return []byte(labelled), nil })
	if err != nil {
		t.Fatal(err)
	}
	return study.Summary(s)
}

func TestLabelsAreKept(t *testing.T) {
	got := summaryOf(t, "mine.yaml").Labels
	if l := got.Levels["arm"]["pooled"]; l != "HTTP/1.1, pooled buffer" {
		t.Errorf("the arm's label is %q", l)
	}
	if l, there := got.Levels["arm"]["plain"]; there {
		t.Errorf("an arm without a label has %q", l)
	}
	if l := got.Levels["message"]["simple"]; l != "one string each way" {
		t.Errorf("the level's label is %q", l)
	}
	for cell, want := range map[string]record.CellLabel{
		"message=simple connections=1":    {Label: "few", Beside: "message=simple"},
		"message=complex connections=100": {Label: "many connections", Beside: "message=complex"},
	} {
		if got.Cells[cell] != want {
			t.Errorf("cell %q is %+v, want %+v of %v", cell, got.Cells[cell], want, got.Cells)
		}
	}
}

// A level that an argument takes away takes its label along.
func TestLabelsOfALevelThatIsGone(t *testing.T) {
	if l := summaryOf(t, "mine.yaml", "message=complex").Labels.Levels["message"]; len(l) > 0 {
		t.Errorf("labels of levels that the study has not: %v", l)
	}
}

func TestLabelsThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"pooled: {label: " + strings.Repeat("x", 61) + ", transport: go-http1}":         "61 characters; expected 1 to 60",
		"pooled: {label: \"a\\u202eb\", transport: go-http1}":                           "cannot be shown",
		"pooled: {label: [a, b], transport: go-http1}":                                  "expected a label",
		"pooled: {label: x, transport: go-http1}\n    q: {label: x, transport: go-net}": "is the label of arm pooled too",
	} {
		file := strings.Replace(labelled, "pooled: {label: \"HTTP/1.1, pooled buffer\", transport: go-http1}", text, 1)
		if _, err := ParseFile("mine.yaml", []byte(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"message: {simpel: a}": "simple", "mesage: {simple: a}": "message", "connections: {7: a}": "no trial has the level", "arm: {plain: a}": "among its levels",
	} {
		file := strings.Replace(labelled, "message: {simple: one string each way}", text, 1)
		if _, err := ParseFile("mine.yaml", []byte(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A sweep that a typed level changes has the label no longer that said what it held.
func TestATypedLevelTakesTheLabelOfASweep(t *testing.T) {
	for cell, label := range summaryOf(t, "mine.yaml", "connections=50").Labels.Cells {
		if label.Label == "many connections" {
			t.Errorf("cell %q, at 50 connections, is called %q", cell, label.Label)
		}
	}
}
