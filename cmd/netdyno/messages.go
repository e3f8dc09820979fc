package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/input"
	"netdyno/internal/record"
	"netdyno/internal/run/message"
	"netdyno/internal/run/study"
)

// ownMessage is the user's message as flags, a longer way to type a level of
// factor message.
type ownMessage struct {
	proto, kind, data    string
	replyKind, replyData string
}

// arguments adds the level that the flags spell out.
func (o ownMessage) arguments(args []string) ([]string, error) {
	if o == (ownMessage{}) {
		return args, nil
	}
	for _, f := range []struct{ name, value string }{{"--proto", o.proto}, {"--message", o.kind}, {"--data", o.data}} {
		if f.value == "" {
			return nil, fmt.Errorf("%s is missing: a message of your own needs --proto FILE, --message pkg.Type and --data FILE", f.name)
		}
	}
	if (o.replyKind == "") != (o.replyData == "") {
		return nil, errors.New("--reply and --reply-data belong together: the type that comes back, and its values")
	}
	level := strings.Join([]string{o.proto, o.kind, o.data}, ":")
	if o.replyKind != "" {
		level += ":" + o.replyKind + ":" + o.replyData
	}
	return append(args, "message="+level), nil
}

// messages resolves every message of the plan, so that a mistake in a .proto
// or its data shows before the first trial.
func messages(ctx context.Context, trials []record.Trial) (map[string]contract.Structure, error) {
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

func (d directory) writeMessages(m map[string]contract.Structure) error {
	if len(m) == 0 {
		return nil
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encode messages: %w", err)
	}
	return record.WriteFileAtomic(d.messages(), append(text, '\n'))
}

// sameMessages refuses to go on with a run whose messages have changed since.
func (d directory) sameMessages(now map[string]contract.Structure) error {
	text, err := input.Whole(d.messages(), maxMessages)
	if errors.Is(err, fs.ErrNotExist) && len(now) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	var before map[string]contract.Structure
	if err := json.Unmarshal(text, &before); err != nil {
		return fmt.Errorf("resume: %s: %w", d.messages(), err)
	}
	for level, m := range now {
		if !reflect.DeepEqual(before[level], m) {
			return fmt.Errorf("resume: message %s is not what the run began with (%s); its trials could not be compared", level, d.messages())
		}
	}
	return nil
}
