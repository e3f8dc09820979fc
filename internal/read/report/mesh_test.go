package report

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"netdyno/internal/read/answer"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/mesh"
	"netdyno/internal/record"
)

// sampleMesh is a mesh with something of every kind.
func sampleMesh() finding.Findings {
	off := func(ratio, low, high float64) mesh.Effect {
		return mesh.Effect{Ratio: ratio, Low: low, High: high, Off: true, Partners: 7, Of: 7}
	}
	m := &mesh.Mesh{
		Latency: "response_p50_us", Stream: "up", Level: mesh.Level, Margin: 0.05, Blocks: 3, Pairs: 56,
		Middles: []mesh.Middle{
			{Metric: mesh.Goodput, Value: 11.9e6, Low: 11.6e6, High: 12e6, Noise: 0.01}, {Metric: "response_p50_us", Value: 112, Low: 98, High: 140, Noise: 0.1},
			{Metric: mesh.SendCPU, Value: 0.31, Low: 0.29, High: 0.33, Noise: 0.05}, {Metric: mesh.ReceiveCPU, Value: 0.82, Low: 0.77, High: 0.9, Noise: 0.05},
		},
	}
	for _, name := range []string{"node1", "node2", "node3", "node4", "node5", "node6", "node7", "node8"} {
		like := mesh.Effect{Ratio: 1.01, Low: 0.97, High: 1.05, Of: 7}
		m.Hosts = append(m.Hosts, mesh.Host{Name: name, Sends: like, Receives: like, Asks: like, Answers: like, SendCPU: like, ReceiveCPU: like, Trials: 84, Valid: 84})
	}
	m.Hosts[2].Answers, m.Hosts[2].SendCPU = off(2.1, 1.8, 2.4), off(1.31, 1.22, 1.41)
	m.Hosts[5].Sends, m.Hosts[5].SendCPU = off(0.402, 0.39, 0.41), mesh.Effect{Ratio: 1.2, Low: 1.1, High: 1.3, Off: true}
	m.Outliers = []mesh.Outlier{
		{Kind: mesh.Lost, Hosts: []string{"node8"}, Missing: 60, Of: 84, Reason: "setup: node8: shape its link: bring it up: no such device"},
		{
			Kind: mesh.OfHost, Hosts: []string{"node3"}, Evidence: []mesh.Evidence{{Metric: "response_p50_us", Role: mesh.Answers, Effect: off(2.1, 1.8, 2.4)}, {Metric: mesh.SendCPU, Role: mesh.Sends, Effect: off(1.31, 1.22, 1.41)}},
			Facts: []string{`kernel.release is "6.1.0-56-amd64", at the others "6.12.0-9-amd64"`},
		},
		{Kind: mesh.OfCable, Hosts: []string{"node6"}, Evidence: []mesh.Evidence{{Metric: mesh.Goodput, Role: mesh.Sends, Effect: off(0.402, 0.39, 0.41)}}},
		{Kind: mesh.OfPair, Hosts: []string{"node1", "node4"}, Evidence: []mesh.Evidence{{Metric: mesh.Goodput, Role: mesh.Between, Effect: mesh.Effect{Ratio: 0.6, Low: 0.55, High: 0.66, Off: true}}}},
	}
	m.Hidden = []mesh.Hidden{{Metric: mesh.Goodput, Hosts: 1.05, Ways: 1.08}, {Metric: "response_p50_us", Hosts: 3.21, Ways: 19.8}, {Metric: mesh.SendCPU, Hosts: 1.05}, {Metric: mesh.ReceiveCPU, Hosts: 1.05}}
	f := finding.Findings{Mesh: m}
	f.Header = record.Header{Directory: "results/mesh-1", Study: record.Study{Name: "mesh", Question: "Is every host, cable and switch as good as the others?", Mesh: true, Blocks: 3}}
	f.Tally.Planned, f.Tally.Valid, f.Tally.Failed = 336, 276, 60
	f.Answer = answer.By(f.Run, m.Headline())
	return f
}

// What a terminal and Markdown say of a mesh; go test -update rewrites the files.
func TestMeshInText(t *testing.T) {
	f := sampleMesh()
	for name, write := range map[string]func(*bytes.Buffer) error{
		"mesh-screen.golden":   func(b *bytes.Buffer) error { return NewScreen(f).Text(b, TextOptions{Width: 80}) },
		"mesh-text.golden":     func(b *bytes.Buffer) error { return New(f).Text(b, TextOptions{Width: 80}) },
		"mesh-markdown.golden": func(b *bytes.Buffer) error { return New(f).Markdown(b) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("%s is now\n%s", name, b.String())
		}
	}
}
