package main

import (
	"cmp"

	"netdyno/internal/metric"
)

// ask is what a ratio to peers should be: of the best arm of ours, or of one.
type ask struct {
	study  string // without "peers-"
	work   string // the cell's label
	metric string
	ours   string // an arm; "" is the best
	peer   string // an arm, which may be one of ours; "" is all of others
	asked  string // "≥ 1.0"; "" only shows the ratio
}

var asks = []ask{
	{study: "echo", work: "50 connections", metric: metric.ExchangesPerS, asked: "≥ 1.0"},
	{study: "echo", work: "50 connections", metric: metric.ExchangesPerS, ours: "go-epoll", peer: "muduo", asked: "≥ 1.0"},
	{study: "echo", work: "50 connections", metric: metric.ExchangesPerS, ours: "asio", peer: "bare-asio", asked: "≥ 0.97"},
	{study: "http1", work: "light server", metric: metric.ExchangesPerS, asked: "≥ 1.0"},
	{study: "http1", work: "light server", metric: metric.ExchangesPerS, ours: "http1-asio", peer: "wrk", asked: "≥ 0.95"},
	{study: "http1", work: "light server", metric: metric.ExchangesPerS, ours: "fasthttp-body", peer: "fasthttp"},
	{study: "http1", work: "light server", metric: metric.ExchangesPerS, ours: "fasthttp-body", peer: "oha"},
	// No peer sends evenly at 8 k/s (go run ./peers -only gaps), so that nothing is asked there.
	{study: "http1", work: "light server, 8 k requests/s", metric: metric.OfClient + metric.CPUPerExchange, ours: "http1-uring"},
	{study: "http1", work: "light server, 50 k requests/s", metric: metric.OfClient + metric.CPUPerExchange, ours: "http1-uring", asked: "≤ 1.3"},
	{study: "http1", work: "nginx, 1 KiB", metric: metric.ExchangesPerS, asked: "≥ 1.0"},
	{study: "http1", work: "nginx, 4 MiB", metric: metric.ExchangesPerS, asked: "≥ 1.0"},
	{study: "http2", work: "nginx", metric: metric.ExchangesPerS, asked: "≥ 1.0"},
	{study: "grpc", work: "from go-grpc's server", metric: metric.ExchangesPerS, asked: "≥ 1.0"},
	{study: "grpc-stream", work: "100 messages a call", metric: metric.OfClient + metric.CPUPerExchange, asked: "≤ 0.7"},
	{study: "websocket", work: "Node's ws", metric: metric.OfClient + metric.CPUPerExchange, asked: "≤ 0.7"},
	{study: "stream", metric: metric.Goodput, asked: "≥ 1.0"},
	{study: "stream", work: "1 stream", metric: metric.Goodput, ours: "uring", peer: "uring-tuned"},
}

// about tells whether it is asked of a study's work.
func (a ask) about(study, work string) bool {
	return a.study == study && cmp.Or(a.work, work) == work
}

// askedOf returns what is asked of an arm of ours in a cell beside a peer; "" where nothing is.
func askedOf(study, work, name, ours, peer string) string {
	for _, a := range asks {
		if a.about(study, work) && a.metric == name && a.ours == ours && cmp.Or(a.peer, peer) == peer {
			return a.asked
		}
	}
	return ""
}

// asksOf are those of single arms of ours in a cell.
func asksOf(study, work string) []ask {
	var all []ask
	for _, a := range asks {
		if a.about(study, work) && a.ours != "" {
			all = append(all, a)
		}
	}
	return all
}
