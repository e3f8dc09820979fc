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

	// leastRecorded is how many whole blocks a recording needs: fewer than a race of
	// gridTrials can take would end it early.
	leastRecorded = 14
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
	Order int     `json:"order"` // within the block
	Arm   string  `json:"arm"`
	Value float64 `json:"value"`
}

// machineFacts are those of a host that a reader of its figures asks for first.
var machineFacts = []string{"cpu.model", "cpu.count", "hypervisor", "kernel.release", "memory.total_bytes", "load.busy_share", "steal.share"}

// exhausted is every pair in each of exhaustiveBlocks.
type exhausted struct {
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
	return exhausted{trials, s}, err
}

// recordGrid measures every pair and keeps it in a file of a directory.
func (p *pipeline) recordGrid(ctx context.Context, directory string) error {
	all, err := p.exhaust(ctx, longWindows...)
	if err != nil {
		return err
	}
	r := recordingOf(all)
	if _, err := r.grid(); err != nil {
		return err
	}
	text, err := r.encode()
	if err != nil {
		return err
	}
	return record.WriteFileAtomic(filepath.Join(directory, gridFile), text)
}

func recordingOf(all exhausted) recording {
	header := all.dataset.Header
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
		r.Trials = append(r.Trials, recordedTrial{v.Plan.Block, v.Plan.Order, v.Plan.Arm, v.Trial.Values[r.Metric]})
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

// recordedGrid is a recording by block, of blocks in which every pair is valid.
type recordedGrid struct {
	blocks []map[string]float64
	means  map[string]float64 // geometric ones by pair, over the blocks
	best   string             // the pair with the highest of them
}

func (r recording) grid() (recordedGrid, error) {
	byBlock := map[int]map[string]float64{}
	for _, t := range r.Trials {
		if !slices.ContainsFunc(pairs, func(p pair) bool { return p.arm == t.Arm }) || t.Value <= 0 {
			return recordedGrid{}, fmt.Errorf("recorded trial %+v: expected one of the %d pairs and a figure above 0", t, len(pairs))
		}
		if byBlock[t.Block] == nil {
			byBlock[t.Block] = map[string]float64{}
		}
		byBlock[t.Block][t.Arm] = t.Value
	}
	g := recordedGrid{means: map[string]float64{}}
	for block := range exhaustiveBlocks {
		if figures := byBlock[block+1]; len(figures) == len(pairs) {
			g.blocks = append(g.blocks, figures)
		}
	}
	if len(g.blocks) < leastRecorded {
		return g, fmt.Errorf("of %d planned trials %d are valid, which make %d blocks of every pair; expected at least %d", r.Planned, len(r.Trials), len(g.blocks), leastRecorded)
	}
	for _, p := range pairs {
		var rates []float64
		for _, figures := range g.blocks {
			rates = append(rates, figures[p.arm])
		}
		mean, _ := stat.GeometricMean(rates) // of positive ones
		if g.means[p.arm] = mean.Point; mean.Point > g.means[g.best] {
			g.best = p.arm
		}
	}
	return g, nil
}

// scatter is the standard deviation of one trial's logarithm beside its pair and block.
func (g recordedGrid) scatter() float64 {
	squares := 0.0
	for _, figures := range g.blocks {
		block := 0.0
		for arm, x := range figures {
			block += math.Log(x/g.means[arm]) / float64(len(figures))
		}
		for arm, x := range figures {
			squares += math.Pow(math.Log(x/g.means[arm])-block, 2)
		}
	}
	return math.Sqrt(squares / float64((len(g.blocks)-1)*(len(pairs)-1)))
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
