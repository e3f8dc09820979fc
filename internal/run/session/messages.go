package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"

	"netdyno/internal/contract"
	"netdyno/internal/input"
	"netdyno/internal/record"
	"netdyno/internal/run/message"
	"netdyno/internal/run/study"
)

// resolveMessages resolves every message of the plan, so that a mistake in a .proto
// or its data shows before the first trial.
func resolveMessages(ctx context.Context, trials []record.Trial) (map[string]contract.Structure, error) {
	resolved := map[string]contract.Structure{}
	read := input.Within(ctx, max(message.MaxProto, message.MaxValues)+1) // one byte more shows that a file is too large
	for _, t := range trials {
		work, err := study.Decode(t.Levels)
		if err != nil {
			return nil, err
		}
		if _, known := resolved[work.Message]; known || work.Message == "" {
			continue
		}
		if resolved[work.Message], err = message.Resolve(work.Message, read); err != nil {
			return nil, err
		}
	}
	return resolved, nil
}

// maxMessages bounds a run's own file of its messages, in bytes.
const maxMessages = 256 << 20

func (d Directory) writeMessages(m map[string]contract.Structure) error {
	if len(m) == 0 {
		return nil
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encode messages: %w", err)
	}
	return record.WriteFileAtomic(d.Messages(), append(text, '\n'))
}

// sameMessages refuses to go on with a run whose messages have changed since.
func (d Directory) sameMessages(now map[string]contract.Structure) error {
	text, err := input.Whole(d.Messages(), maxMessages)
	if errors.Is(err, fs.ErrNotExist) && len(now) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	var before map[string]contract.Structure
	if err := json.Unmarshal(text, &before); err != nil {
		return fmt.Errorf("resume: %s: %w", d.Messages(), err)
	}
	for level, m := range now {
		if !reflect.DeepEqual(before[level], m) {
			return fmt.Errorf("resume: message %s is not what the run began with (%s); its trials could not be compared", level, d.Messages())
		}
	}
	return nil
}
