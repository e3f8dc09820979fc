package report_test

import (
	"strings"
	"testing"

	"netdyno/internal/read/cost"
	"netdyno/internal/read/report"
)

func about(x float64) *cost.Figure { return &cost.Figure{Value: x, Low: 0.9 * x, High: 1.1 * x} }

// What is printed of a forecast says the same in the table and in the sentences.
func TestForecastText(t *testing.T) {
	f := cost.Forecast{
		Load: cost.Load{Down: 1 << 20, Rate: 11_200, Servers: 1, Clients: 2, Link: 12.5e9, Cores: 32},
		Choices: []cost.Choice{
			{
				Arm: "go-http1", Server: cost.End{Cores: about(2), Memory: about(20 << 20)}, Client: cost.End{Cores: about(1)}, Cores: about(4), Connections: 12,
				Limits: []cost.Limit{{Name: "link", Share: 0.5}, {Name: "server CPU", Share: 0.0625}}, With: "go-http1 with go 1.26", On: "a processor",
			},
			{
				Arm: "go-grpc", At: "codec=proto", Server: cost.End{Cores: about(48)}, Client: cost.End{Cores: about(1.5)}, Cores: about(6), Ratio: about(1.5), Connections: 12,
				Limits: []cost.Limit{{Name: "server CPU", Share: 1.5, Low: 1.35, High: 1.65}}, Beyond: []string{"connections of 12, measured from 1 to 10"},
			},
			{
				Arm: "fasthttp", Server: cost.End{Cores: about(3)}, Client: cost.End{Why: "no model of client.cpu_us_per_exchange: it misses them"}, Connections: 8,
				Limits: []cost.Limit{{Name: "link", Share: 0.5}},
			},
			{
				Arm: "go-http3", Server: cost.End{Cores: about(30)}, Client: cost.End{Cores: about(5)}, Cores: about(35), Connections: 8,
				Limits: []cost.Limit{{Name: "server CPU", Share: 0.9, Low: 0.64, High: 1.27}, {Name: "link", Share: 0.5}}, Rough: []cost.Rough{{Metric: "server.cpu_us_per_exchange", Off: 0.42}},
			},
		},
		Without: []string{"go-net: it misses them"},
	}
	var b strings.Builder
	if err := report.ForecastText(&b, f, "results/cost-1", report.TextOptions{Width: 80}); err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Fields(b.String()), " ")
	for _, part := range []string{
		"1.00 MiB down, 11.2 k exchanges/s: 1 server and 2 clients, each with 100Gbit/s, 32 cores", "Models of results/cost-1.", "go-http1 with go 1.26 on a processor",
		"go-http1 2.00 (1.80–2.20)", "20.0 MiB, ?", "50.0 %", "extrapolated",
		"go-http1 carries it; the link is full first, at 2.00 times this rate.", "go-grpc codec=proto does not carry it: it needs 1.50 times the server CPU.",
		"Extrapolated for go-grpc codec=proto: connections of 12, measured from 1 to 10.", "go-grpc codec=proto takes 1.50× the cores of go-http1 (1.35×–1.65×).",
		"fasthttp 3.00 (2.70–3.30) – ?, ?", "≥ 8", "The server of fasthttp carries it; of what is known the link is full first, at 2.00 times this rate.",
		"Of fasthttp the server alone is forecast, and the connections are at least those that it needs; of the other end there is no model of client.cpu_us_per_exchange: it misses them.",
		"Whether go-http3 carries it cannot be told: it needs 0.900 times the server CPU (0.640–1.27).", "The models of go-http3 are rough, which the intervals allow for: server CPU ±42.0 %.", "8 rough",
		"Not forecast: go-net: it misses them.",
	} {
		if !strings.Contains(words, part) {
			t.Errorf("%q is missing in:\n%s", part, b.String())
		}
	}
}
