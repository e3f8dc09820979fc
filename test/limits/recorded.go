package limits

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"netdyno/internal/record"
)

// run is what a scenario leaves and the reader reads.
type run struct {
	header  record.Header
	trials  []record.Trial
	records []record.Record
}

// directory returns where a scenario's trials are kept below dir.
func (s Scenario) directory(dir string) string {
	return filepath.Join(dir, strings.NewReplacer(" ", "-", "/", "-").Replace(s.Name))
}

// Record provokes the scenario as Provoke does, and replaces the trials below dir by the
// new ones. Trials that were not named rightly are not kept.
func (s Scenario) Record(ctx context.Context, bin, dir string) (Named, error) {
	r, answer, err := s.provoke(ctx, bin)
	if err != nil || !answer.OK {
		return answer, err
	}
	kept := s.directory(dir)
	if err := errors.Join(os.RemoveAll(kept), os.MkdirAll(kept, 0o755)); err != nil {
		return answer, err
	}
	r.header.CreatedAt = time.Now().UTC() // the reader asks for it
	file, err := record.Create(filepath.Join(kept, record.RecordsFile), r.header)
	if err != nil {
		return answer, err
	}
	for i := range r.records {
		err = errors.Join(err, file.Append(r.records[i]))
	}
	return answer, errors.Join(err, file.Close(), record.WriteTrials(filepath.Join(kept, record.TrialsFile), r.trials))
}

// Recorded says what the reader calls the trials that Record kept below dir.
func (s Scenario) Recorded(dir string) (Named, error) {
	kept := s.directory(dir)
	contents, err := record.Read(filepath.Join(kept, record.RecordsFile))
	if err != nil {
		return Named{}, err
	}
	if len(contents.Problems) > 0 {
		return Named{}, fmt.Errorf("read %s: %v", kept, contents.Problems)
	}
	trials, err := record.ReadTrials(filepath.Join(kept, record.TrialsFile))
	if err != nil {
		return Named{}, err
	}
	return s.decide(run{contents.Header, trials, contents.Records})
}
