package session

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// timed are the trials of a run in their order, with what was planned for each and
// what it took: a line of testdata/times/NAME has block, round, whether it is a probe,
// arm, cell, planned and taken seconds, and whether its time was a guess.
type timed struct {
	trials  []record.Trial
	planned map[string]study.Estimate
	took    map[string]time.Duration
}

func readRecorded(t *testing.T, path string) timed {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := timed{planned: map[string]study.Estimate{}, took: map[string]time.Duration{}}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		f := strings.Split(lines.Text(), "\t")
		if len(f) != 8 {
			t.Fatalf("%s: found %d fields, want 8: %q", path, len(f), lines.Text())
		}
		trial := record.Trial{ID: fmt.Sprint("t", len(r.trials)), Arm: f[3], Cell: f[4], Probe: f[2] == "probe"}
		var planned, took float64
		for i, into := range map[int]any{0: &trial.Block, 1: &trial.Round, 5: &planned, 6: &took} {
			if _, err := fmt.Sscan(f[i], into); err != nil {
				t.Fatalf("%s: %q: %v", path, f[i], err)
			}
		}
		e := study.Estimate{Total: time.Duration(planned * float64(time.Second))}
		if f[7] == "guessed" {
			e.Guessed = 1
		}
		r.trials, r.planned[trial.ID], r.took[trial.ID] = append(r.trials, trial), e, time.Duration(took*float64(time.Second))
	}
	return r
}

func (r timed) estimate(trials []record.Trial) study.Estimate { return r.planned[trials[0].ID] }

// After the first block the time left is right within a fifth at 19 of 20 moments, and
// never off by more than three tenths, although the machine of some runs became slower by a
// third meanwhile; a run that ends at a look ends when the shorter time says.
func TestTimeLeftOfRecordedRuns(t *testing.T) {
	files, err := filepath.Glob("testdata/times/*.tsv")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d recorded runs, %v", len(files), err)
	}
	moments, wrong := 0, 0
	for _, file := range files {
		r := readRecorded(t, file)
		blocks := 0
		for _, trial := range r.trials {
			if !trial.Probe {
				blocks = max(blocks, trial.Block)
			}
		}
		for _, look := range []int{0, (blocks + 1) / 2} {
			ran := slices.DeleteFunc(slices.Clone(r.trials), func(t record.Trial) bool { return look > 0 && t.Block > look && !t.Probe })
			whole := time.Duration(0)
			for _, trial := range ran {
				whole += r.took[trial.ID]
			}
			c, at, gone, worst := NewClock(r.trials, []int{look}, r.estimate), time.Now(), time.Duration(0), 0.0
			c.Began(at)
			for _, trial := range ran {
				at, gone = at.Add(r.took[trial.ID]), gone+r.took[trial.ID]
				c.Ended(trial.ID, at)
				least, most := c.Left(at)
				says := most
				if look > 0 && trial.Block < look {
					says = least
				}
				// What is left of a few seconds is the luck of a few trials.
				if left := whole - gone; trial.Block > 1 && left > 10*time.Second && (look == 0 || trial.Block < look) {
					off := math.Abs(float64(says-left)) / float64(left)
					worst = max(worst, off)
					if moments++; off > 0.2 {
						wrong++
					}
				}
			}
			if worst > 0.3 {
				t.Errorf("%s, look %d: the time left was wrong by %.0f %%", file, look, 100*worst)
			}
		}
	}
	if moments < 500 || 20*wrong > moments {
		t.Errorf("the time left was wrong by more than a fifth at %d of %d moments", wrong, moments)
	}
}

// A trial that goes on leaves less time, and never less than what stands after it.
func TestTimeLeftWithinATrial(t *testing.T) {
	trials := []record.Trial{{ID: "1", Arm: "a", Block: 1}, {ID: "2", Arm: "b", Block: 1}, {ID: "3", Arm: "a", Block: 2}, {ID: "4", Arm: "b", Block: 2}}
	second := func([]record.Trial) study.Estimate { return study.Estimate{Total: time.Second} }
	c, begun := NewClock(trials, []int{1}, second), time.Now()
	c.Began(begun)
	for _, want := range []struct{ after, least, most time.Duration }{
		{0, 2 * time.Second, 4 * time.Second},
		{400 * time.Millisecond, 1600 * time.Millisecond, 3600 * time.Millisecond},
		{time.Minute, time.Second, 3 * time.Second},
	} {
		if least, most := c.Left(begun.Add(want.after)); least != want.least || most != want.most {
			t.Errorf("after %v: %v to %v left, want %v to %v", want.after, least, most, want.least, want.most)
		}
	}
	c.Ended("1", begun.Add(3*time.Second)) // a's connect slowly, and b's perhaps
	if _, most := c.Left(begun.Add(3 * time.Second)); most != 9*time.Second {
		t.Errorf("after a trial of 3 s in place of 1 s: %v left, want 9 s", most)
	}
	c.Ended("3", begun.Add(6*time.Second)) // a steered block left b out
	if _, most := c.Left(begun.Add(6 * time.Second)); most != 3*time.Second {
		t.Errorf("before the last trial: %v left, want 3 s", most)
	}
	if c.Ended("none", begun); c.next != 3 {
		t.Error("a trial of no plan counts")
	}
}
