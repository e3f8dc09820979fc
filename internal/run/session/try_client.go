package session

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"

	"netdyno/internal/record"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study/source"
)

// TryClient makes one exchange with an arm's server, by the arm's own client on this
// host, and adds to asked how many requests that took. The error says why the client
// could not.
func TryClient(ctx context.Context, workers *Workers, arm Arm, asked *record.Asked) (err error) {
	var held texts
	defer func() { err = errors.Join(err, held.remove()) }()
	arm.Levels = maps.Clone(arm.Levels)
	if err := held.name(Request{Arms: []Arm{arm}}); err != nil {
		return err
	}
	if _, err := held.stage(); err != nil {
		return err
	}
	a, err := source.ReadArguments([]string{"connections=1", "amount=1", "blocks=1"})
	if err != nil {
		return err
	}
	if err := a.AddArm(arm.Given, arm.Name, arm.Levels); err != nil {
		return err
	}
	s, err := a.Study(os.ReadFile)
	if err != nil {
		return err
	}
	trials, _, err := s.Plan()
	if err != nil {
		return err
	}
	catalog, err := workers.Catalog(ctx, nil)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	b := BenchOf(filepath.Dir(self), catalog)
	b.Meter[0] = self
	b.Texts = func(host rig.Host, level string) (string, error) { return held.path("", host, level) }
	records, err := Conduct(ctx, b, trials[:1])
	if err != nil {
		return err
	}
	sent, known := records[0].Sent()
	asked.Client, asked.Untold = sent.All(), !known
	if f := records[0].Failure; f != nil {
		asked.Client += f.Asked
		return errors.New(f.Text)
	}
	return nil
}
