package main

import (
	"context"
	"fmt"
	"os"
	"sync"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/run/generate"
	"netdyno/internal/run/message"
)

// ownMessage is a message of a user's, of the size of a small order.
const ownMessage = "peers/testdata/order.proto:shop.Order:peers/testdata/order.json"

// messageQuestions ask what reflection costs: the same message, over the same
// transport, by workers that were built with its generated code and by workers
// that were not.
func (b *bed) messageQuestions() []question {
	ask := func(transport, metric, unit string) question {
		args := []string{"transport=" + transport, "codec=proto", "message=" + ownMessage, "connections=10"}
		generated := sync.OnceValues(b.withGenerated)
		return question{
			name: "message of one's own by " + transport + ", reflection against generated code", unit: unit, ours: []string{transport},
			hoped: "nothing: an application does not pay it",
			base: []subject{{"generated code", func(ctx context.Context) (figure, error) {
				own, err := generated()
				if err != nil {
					return figure{}, err
				}
				return own.ours("", metric, true, args...).measure(ctx)
			}}},
			others: []subject{{"reflection", func(ctx context.Context) (figure, error) {
				own, err := b.withMessage()
				if err != nil {
					return figure{}, err
				}
				return own.ours("", metric, true, args...).measure(ctx)
			}}},
		}
	}
	return []question{
		ask("go-grpc", metric.OfServer+metric.CPUPerExchange, "server CPU µs/exchange"),
		ask("fasthttp", metric.OfServer+metric.CPUPerExchange, "server CPU µs/exchange"),
	}
}

// withMessage is the bed with the message resolved.
func (b *bed) withMessage() (*bed, error) {
	m, err := message.Resolve(ownMessage, os.ReadFile)
	own := *b
	own.messages = map[string]contract.Structure{ownMessage: m}
	return &own, err
}

// withGenerated is the bed whose workers have the message's generated code.
func (b *bed) withGenerated() (*bed, error) {
	own, err := b.withMessage()
	if err != nil {
		return nil, err
	}
	var workers []generate.Worker
	for _, p := range b.catalog.Programs {
		if p.Hello.Worker == "netdyno-worker-grpc" || p.Hello.Worker == "netdyno-worker-fasthttp" {
			sum, err := p.SHA256()
			if err != nil {
				return nil, err
			}
			workers = append(workers, generate.Worker{Path: p.Path, SHA256: sum, Source: p.Hello.Source})
		}
	}
	ctx := context.Background() // built once for all blocks; generate bounds it
	built, err := generate.Builder{Say: func(text string) { fmt.Fprintln(os.Stderr, "bench: "+text) }}.Build(ctx, own.messages[ownMessage], workers)
	if err != nil {
		return nil, err
	}
	return own, own.catalog.Message(ctx, ownMessage, built)
}
