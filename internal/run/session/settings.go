package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/input"
	"netdyno/internal/run/hold"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/arrange"
)

// Settings is what a rig's hosts have, and what of that a run may set.
type Settings struct {
	Rig     string            // its name: "loopback", "netns:2"
	Now     map[string]string // the present values by key; where hosts differ, the first host's
	Refused map[string]string // of what was tried, as KEY=VALUE: why some host does not take it
}

// TrySettings finds out what settings of its hosts a run on a rig could change: it builds
// the rig, reads some, and sets each value that try returns on every host for a moment. It
// gives the rig back. hold is called before anything is made that must be given back.
func TrySettings(ctx context.Context, rigText string, hold func(), read []string, try func(Settings) []string) (found Settings, err error) {
	choice, err := arrange.Parse(rigText, input.Within(ctx, arrange.MaxFile))
	if err != nil {
		return found, err
	}
	hold()
	on, err := build(ctx, choice)
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, on.close()) }()
	found = Settings{Rig: on.rig.Name(), Now: map[string]string{}, Refused: map[string]string{}}
	if _, external := on.rig.(rig.External); external {
		return found, fmt.Errorf("rig %s: the server stands already, on a host that is not the run's; settings of hosts are tried where netdyno starts both ends", on.rig.Name())
	}
	if _, err := on.deploy(ctx); err != nil {
		return found, err
	}
	for _, key := range read {
		for _, host := range slices.Backward(on.rig.Hosts()) {
			now, err := settingOf(ctx, host, on.self, key, "")
			if err != nil {
				found.Refused[key] = err.Error()
				break
			}
			found.Now[key] = now
		}
	}
	for _, setting := range try(found) {
		key, value, _ := strings.Cut(setting, "=")
		for _, host := range on.rig.Hosts() {
			if _, err := settingOf(ctx, host, on.self, key, value); err != nil {
				found.Refused[setting] = err.Error()
				break
			}
		}
		if ctx.Err() != nil {
			return found, context.Cause(ctx)
		}
	}
	maps.DeleteFunc(found.Now, func(key, _ string) bool { return found.Refused[key] != "" })
	return found, nil
}

// settingOf reads a setting of a host, after it was set to a value for a moment unless
// that is "".
func settingOf(ctx context.Context, host rig.Host, netdyno, key, value string) (now string, err error) {
	held, err := hold.Start(ctx, host, netdyno, map[string]string{key: value})
	if err != nil {
		return "", err
	}
	return held.Before[key], held.Release()
}
