package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/generate"
	"netdyno/internal/run/study"
)

// compiled makes the catalog offer workers with generated code for every
// message of the user's that a trial encodes as protobuf. All workers of such
// a message are built, those of other codecs too: what is compared is to come
// from one compiler. Where they cannot be built the message goes by reflection,
// which a warning says with the reason.
func compiled(ctx context.Context, catalog *bench.Catalog, works []study.Work, messages map[string]contract.Structure, dry bool) ([]record.Warning, error) {
	builder := generate.Builder{Say: func(text string) { fmt.Fprintln(stderr, "netdyno: "+text) }}
	var warnings []record.Warning
	for _, level := range slices.Sorted(maps.Keys(messages)) {
		m := messages[level]
		workers := carriers(catalog, works, level)
		if len(m.Descriptors) == 0 || len(workers) == 0 {
			continue
		}
		if dry {
			warnings = append(warnings, foretold(ctx, builder, m, workers)...)
			continue
		}
		built, err := builder.Build(ctx, m, workers)
		if err == nil {
			err = catalog.Message(ctx, level, built)
		}
		if stopped := context.Cause(ctx); stopped != nil {
			return nil, stopped
		}
		if err != nil {
			warnings = append(warnings, byReflection(m, err))
		}
	}
	return warnings, nil
}

// compileFor has workers built for the message of one trial, and prints what
// keeps them from being built.
func compileFor(ctx context.Context, catalog *bench.Catalog, trial record.Trial, messages map[string]contract.Structure) error {
	work, err := study.Decode(trial.Levels)
	if err != nil {
		return err
	}
	warnings, err := compiled(ctx, catalog, []study.Work{work}, messages, false)
	for _, w := range warnings {
		fmt.Fprintf(stderr, "netdyno: %s: %s\n", w.About, w.Text)
	}
	return err
}

// carriers are the workers of all trials with a message that can be built
// again; none when no trial encodes it as protobuf.
func carriers(catalog *bench.Catalog, works []study.Work, level string) []generate.Worker {
	var all []generate.Worker
	protobuf := false
	for _, w := range works {
		if w.Message != level {
			continue
		}
		protobuf = protobuf || w.Exchange.Codec == "proto"
		for _, p := range catalog.Carriers(w) {
			worker := generate.Worker{Path: p.Path, SHA256: p.SHA256, Source: p.Hello.Source}
			if worker.Source != "" && !slices.Contains(all, worker) {
				all = append(all, worker)
			}
		}
	}
	if !protobuf {
		return nil
	}
	return all
}

// foretold says what a run will do that is only planned now.
func foretold(ctx context.Context, b generate.Builder, m contract.Structure, workers []generate.Worker) []record.Warning {
	there, err := b.Built(ctx, m, workers)
	switch {
	case err != nil:
		return []record.Warning{byReflection(m, err)}
	case there:
		return nil
	}
	return []record.Warning{{About: "message", Text: "workers with the generated code of " + generate.Types(m) + " will be built when the run begins (once)"}}
}

func byReflection(m contract.Structure, err error) record.Warning {
	return record.Warning{
		About: "message",
		Text:  fmt.Sprintf("%s goes by reflection, so codecs will not be compared: %v", generate.Types(m), err),
		Advice: "put the Go that netdyno was built with on PATH, with the modules that it was built from (docs/messages.md), " +
			"so that netdyno can build workers with the generated code",
	}
}

// sameMessageCode refuses to go on with a run of whose workers some had
// generated code for a message and some had not.
func sameMessageCode(before, now map[string]record.Binary) error {
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, there := before[name]; now[name].Message != "" && !there {
			return errors.New("resume: the run began without generated code for message " + now[name].Message +
				"; take go off PATH to go on with it, or begin another run")
		}
	}
	return nil
}
