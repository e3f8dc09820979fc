package main

import (
	"context"
	"fmt"
	"math"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cost"
	"netdyno/internal/sizes"
)

// costedMixes are replies of a mix whose cost a model of fixed sizes must forecast: a
// key-value store's, and one in which one reply in a hundred has most of the bytes.
var costedMixes = []string{"homa-w1", "choice:90%:1KiB,9%:64KiB,1%:4MiB"}

// mixCosts sets what a model of fixed sizes forecasts of mixes, which it has not seen, beside
// what they cost.
func mixCosts(ctx context.Context, p *pipeline, transport string, models []cost.Cost) ([]answer, error) {
	var answers []answer
	for _, mix := range costedMixes {
		s, err := sizes.Parse(mix)
		if err != nil {
			return answers, err
		}
		load := cost.Load{
			Up: 64, Down: s.Mean(), Spread: mix, Rate: 1000, Servers: 1, Clients: 1, Connections: 4,
			Sizes: map[string]contract.Table{"response": s.Table},
		}
		forecast := cost.ForecastOf(map[string][]cost.Cost{"cost": models}, load, nil)
		f, err := p.study(ctx, "transport="+transport, "request=64B", "response="+mix, "connections=4", "window=1s", "warmup=150ms", "blocks=6")
		if err != nil {
			return answers, err
		}
		for _, end := range []contract.Role{contract.Server, contract.Client} {
			what := fmt.Sprintf("CPU of the %s of %s for replies of %s, forecast from fixed sizes", end, transport, mix)
			a := answer{what, "no model", fmt.Sprintf("within %.0f %%", 100*cost.Tolerance), false}
			measured := 0.0
			for _, m := range f.Cells[0].Arms[0].Metrics {
				if m.Metric == string(end)+"."+metric.CPUPerExchange {
					measured = m.Value
				}
			}
			if len(forecast.Choices) == 1 && measured > 0 {
				side := forecast.Choices[0].Server
				if end == contract.Client {
					side = forecast.Choices[0].Client
				}
				if side.CPU != nil {
					off := side.CPU.Value/measured - 1
					a.measured = fmt.Sprintf("%+.1f %% (%s µs, measured %s)", 100*off, quantity.FormatFigure(side.CPU.Value), quantity.FormatFigure(measured))
					a.met = math.Abs(off) <= cost.Tolerance
				}
			}
			answers = append(answers, a)
		}
	}
	return answers, nil
}
