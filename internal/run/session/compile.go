package session

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/generate"
)

// compile makes the catalog offer workers with generated code for every message
// of the user's that a trial encodes as protobuf. All workers of such a message
// are built, those of other codecs too: what is compared is to come from one
// compiler. Where they cannot be built the message is encoded by reflection, and
// the plan is warned with the reason. A dry run builds nothing and warns of what
// will be built. say is told what is being built.
func (p *Plan) compile(ctx context.Context, catalog *bench.Catalog, say func(string), dry bool) error {
	builder := generate.Builder{Say: say}
	for _, level := range slices.Sorted(maps.Keys(p.Messages)) {
		m := p.Messages[level]
		workers, err := p.carriers(catalog, level)
		if err != nil {
			return err
		}
		if len(m.Descriptors) == 0 || len(workers) == 0 {
			continue
		}
		if dry {
			p.Warnings = append(p.Warnings, foretold(ctx, builder, m, workers)...)
			continue
		}
		built, err := builder.Build(ctx, m, workers)
		if err == nil {
			err = catalog.Message(ctx, level, built)
		}
		if stopped := context.Cause(ctx); stopped != nil {
			return stopped
		}
		if err != nil {
			p.Warnings = append(p.Warnings, byReflection(m, err))
		}
	}
	return nil
}

// carriers returns the workers of all trials with a message that can be built
// again; none when no trial encodes it as protobuf.
func (p *Plan) carriers(catalog *bench.Catalog, level string) ([]generate.Worker, error) {
	var all []generate.Worker
	protobuf := false
	for _, k := range p.Kinds {
		if k.Message != level {
			continue
		}
		protobuf = protobuf || k.Exchange.Codec == "proto"
		for _, program := range catalog.Carriers(k.Work) {
			if program.Hello.Source == "" {
				continue
			}
			sum, err := program.SHA256()
			if err != nil {
				return nil, err
			}
			worker := generate.Worker{Path: program.Path, SHA256: sum, Source: program.Hello.Source}
			if !slices.Contains(all, worker) {
				all = append(all, worker)
			}
		}
	}
	if !protobuf {
		return nil, nil
	}
	return all, nil
}

// foretold warns of what a run will do that is only planned now.
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
