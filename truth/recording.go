package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/internal/run/session"
)

const (
	everyPair = "truth/testdata/every-pair.yaml"
	gridFile  = "every-pair.json"

	// leastValid is the share of a recording's trials that must be valid.
	leastValid = 0.9

	sweeps = 50 // of a fit, which then moves no more
)

// longWindows go before the levels of everyPair when it is recorded: the recorded optimum
// is to be known better than to the 5 % to which a race is to find it.
var longWindows = []string{"window=2s", "warmup=300ms"}

// recording is every pair of buffers in turn, measured beforehand: the figures of the
// trials, and what it takes to judge them.
type recording struct {
	RecordedAt time.Time          `json:"recorded_at"`
	Machine    map[string]string  `json:"machine"`  // facts by name
	Versions   []contract.Library `json:"versions"` // of what the worker is built from
	Levels     map[string]string  `json:"levels"`   // that all trials share
	Metric     string             `json:"metric"`
	Planned    int                `json:"planned"` // trials, of which Trials are the valid ones
	Trials     []recordedTrial    `json:"trials"`
}

type recordedTrial struct {
	Block int     `json:"block"`
	Order int     `json:"order"` // within the plan
	Arm   string  `json:"arm"`
	Value float64 `json:"value"`
}

// machineFacts are those of a host that a reader of its figures asks for first.
var machineFacts = []string{"cpu.model", "cpu.count", "hypervisor", "kernel.release", "memory.total_bytes", "load.busy_share", "steal.share"}

// exhausted is every pair in each of exhaustiveBlocks.
type exhausted struct {
	header  record.Header
	trials  []record.Trial
	dataset *cells.Dataset
}

// exhaust measures it; levels go before the study's.
func (p *pipeline) exhaust(ctx context.Context, levels ...string) (exhausted, error) {
	header, trials, err := session.TrialsOf(append([]string{everyPair}, levels...)...)
	if err != nil {
		return exhausted{}, err
	}
	header.CreatedAt, header.Facts = time.Now().UTC(), p.facts
	trials = slices.DeleteFunc(trials, func(t record.Trial) bool { return t.Block > exhaustiveBlocks })
	records, err := session.Conduct(ctx, p.bench, trials)
	if err != nil {
		return exhausted{}, err
	}
	s, err := cells.Read(header, trials, records)
	return exhausted{header, trials, s}, err
}

// recordGrid measures every pair and keeps it in a file of a directory, also where too few
// trials are valid: who reads it says so.
func (p *pipeline) recordGrid(ctx context.Context, directory string) error {
	// Before ten minutes of measuring, not after them.
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return fmt.Errorf("-record: %w", err)
	}
	all, err := p.exhaust(ctx, longWindows...)
	if err != nil {
		return err
	}
	text, err := recordingOf(all).encode()
	if err != nil {
		return err
	}
	return record.WriteFileAtomic(filepath.Join(directory, gridFile), text)
}

func recordingOf(all exhausted) recording {
	header := all.header
	r := recording{
		RecordedAt: header.CreatedAt.Truncate(time.Second), Machine: map[string]string{},
		Levels: header.Study.Hold, Metric: header.Study.Race.Best, Planned: len(all.trials),
	}
	for _, host := range header.Facts.Seats { // one, on loopback
		for _, name := range machineFacts {
			if fact := host.Values[name]; fact != "" {
				r.Machine[name] = fact
			}
		}
	}
	for _, v := range all.dataset.Trials {
		if v.Record == nil || v.Trial.Status != trial.Valid {
			continue
		}
		if r.Versions == nil {
			r.Versions = header.Facts.Tools[v.Record.Workers[0].Binary].Libraries
		}
		r.Trials = append(r.Trials, recordedTrial{v.Plan.Block, v.Plan.Order, v.Plan.Arm, v.Trial.Values.At(r.Metric)})
	}
	return r
}

// encode writes a recording as JSON with a trial a line.
func (r recording) encode() ([]byte, error) {
	trials := r.Trials
	r.Trials = nil
	head, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Write(bytes.TrimSuffix(head, []byte("null\n}")))
	for i, t := range trials {
		line, err := json.Marshal(t)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s\n    %s", []string{"[", ","}[min(i, 1)], line)
	}
	b.WriteString("\n  ]\n}\n")
	return b.Bytes(), nil
}

// readRecording reads what recordGrid wrote.
func readRecording(directory string) (recording, error) {
	var r recording
	text, err := os.ReadFile(filepath.Join(directory, gridFile))
	if errors.Is(err, os.ErrNotExist) {
		return r, fmt.Errorf("%w; record one with go run ./truth -only grid -record %s", err, directory)
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err
}

// recordedGrid is a recording by block and pair. A trial that was not valid is missing.
type recordedGrid struct {
	blocks [exhaustiveBlocks]map[string]float64
	rates  map[string]float64 // by pair: what it does in the average block
	best   string             // the pair with the highest of them
	sd     float64            // of one trial's logarithm beside its pair and block
}

func (r recording) grid() (recordedGrid, error) {
	g := recordedGrid{rates: map[string]float64{}}
	for block := range g.blocks {
		g.blocks[block] = map[string]float64{}
	}
	for _, t := range r.Trials {
		known := slices.ContainsFunc(pairs, func(p pair) bool { return p.arm == t.Arm })
		if !known || t.Value <= 0 || t.Block < 1 || t.Block > exhaustiveBlocks {
			return g, fmt.Errorf("recorded trial %+v: expected one of %d pairs in one of %d blocks, and a figure above 0", t, len(pairs), exhaustiveBlocks)
		}
		g.blocks[t.Block-1][t.Arm] = t.Value
	}
	if valid := len(r.Trials); r.Planned != gridExhaustive || float64(valid) < leastValid*gridExhaustive {
		return g, fmt.Errorf("of %d planned trials %d are valid; expected %d, and at least %g %% of them", r.Planned, valid, gridExhaustive, 100*leastValid)
	}
	g.fit()
	return g, nil
}

// fit finds what each pair does in the average block, whichever of the blocks it is valid
// in: effects of pairs and of blocks on the logarithms, by least squares.
func (g *recordedGrid) fit() {
	levels, effects, figures := map[string]float64{}, [exhaustiveBlocks]float64{}, 0
	for range sweeps {
		sums, counts := map[string]float64{}, map[string]float64{}
		for block, rates := range g.blocks {
			effects[block] = 0
			for arm, x := range rates {
				effects[block] += (math.Log(x) - levels[arm]) / float64(len(rates))
			}
			for arm, x := range rates {
				sums[arm], counts[arm] = sums[arm]+math.Log(x)-effects[block], counts[arm]+1
			}
		}
		for arm := range sums {
			levels[arm] = sums[arm] / counts[arm]
		}
	}
	squares := 0.0
	for block, rates := range g.blocks {
		figures += len(rates)
		for arm, x := range rates {
			squares += math.Pow(math.Log(x)-levels[arm]-effects[block], 2)
		}
	}
	g.sd = math.Sqrt(squares / float64(figures-len(levels)-exhaustiveBlocks+1))
	for arm, level := range levels {
		if g.rates[arm] = math.Exp(level + stat.Mean(effects[:])); g.best == "" || g.rates[arm] > g.rates[g.best] {
			g.best = arm
		}
	}
}

// origin says where and when a recording was made, and of what.
func (r recording) origin() string {
	grpc := "an unknown grpc-go"
	for _, l := range r.Versions {
		if l.Name == "google.golang.org/grpc" {
			grpc = "grpc-go " + l.Version
		}
	}
	return fmt.Sprintf("%s, %s CPUs %s, Linux %s, %s, busy before %s",
		r.RecordedAt.Format(time.DateOnly), r.Machine["cpu.count"], r.Machine["cpu.model"], r.Machine["kernel.release"], grpc, r.Machine["load.busy_share"])
}
