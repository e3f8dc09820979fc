package cost

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
)

// Load is the load that a forecast is for, and the machines that would carry it.
type Load struct {
	Up          float64 `json:"up_bytes"`                   // of an exchange; 0 for as few as were measured
	Down        float64 `json:"down_bytes"`                 // of an exchange; 0 for as few as were measured
	Spread      string  `json:"spread,omitempty"`           // how sizes are distributed, whose means Up and Down are then
	Rate        float64 `json:"rate_per_s"`                 // exchanges per second over all hosts
	Servers     int     `json:"servers"`                    // hosts
	Clients     int     `json:"clients"`                    // hosts
	Connections float64 `json:"connections"`                // over all hosts; 0 for as few as carry the rate and were measured
	Link        float64 `json:"link_bytes_per_s,omitempty"` // of each host, in each direction; 0 for unknown
	Cores       float64 `json:"cores,omitempty"`            // of each host; 0 for unknown
	Memory      float64 `json:"memory_bytes,omitempty"`     // of each host; 0 for unknown
	RoundTrip   float64 `json:"round_trip_s,omitempty"`     // of the network, without the hosts

	Sizes map[string]contract.Table `json:"-"` // by factor, request or response, where they are distributed
}

// Payload is the share of a link's rate that carries content: 1,448 of the 1,538
// bytes that a full TCP segment takes on Ethernet with an MTU of 1,500.
const Payload = 1448.0 / 1538

// FullRate is the rate at which the fullest link of a server or client is full.
func (n Load) FullRate() float64 {
	return n.Link * Payload * float64(min(n.Servers, n.Clients)) / max(n.Up, n.Down, 1)
}

// Figure is a forecast amount with its 95 % interval: the interval over blocks, widened
// by how far the models were off in the cells that they had not seen.
type Figure struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Times scales a figure.
func (f Figure) Times(k float64) Figure { return Figure{f.Value * k, f.Low * k, f.High * k} }

// End is what one end of a transport needs. One whose CPU has no model has no figures.
type End struct {
	CPU    *Figure `json:"cpu_us_per_exchange,omitempty"`
	Cores  *Figure `json:"cores_per_host,omitempty"`
	Memory *Figure `json:"memory_bytes_per_host,omitempty"` // of one process; nil where no model holds
	Why    string  `json:"why,omitempty"`                   // there is no figure of its CPU
}

// Limit is a resource and the share of the resource that the load would take. Low and High
// are the interval of a modelled share; a share that is counted has none.
type Limit struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"` // above 1 for more than there is
	Low   float64 `json:"low,omitempty"`
	High  float64 `json:"high,omitempty"`
}

// Unsure tells whether the interval leaves open that there is enough of a resource.
func (l Limit) Unsure() bool { return l.Low <= 1 && 1 < l.High }

// Choice is a transport under the load: both of its ends, or the end that has a model.
type Choice struct {
	Arm         string   `json:"arm"`
	At          string   `json:"at,omitempty"`
	Server      End      `json:"server"`
	Client      End      `json:"client"`
	Cores       *Figure  `json:"cores,omitempty"`   // of all hosts, both ends; nil where one end alone is known
	Ratio       *Figure  `json:"ratio,omitempty"`   // of these to the first choice's; nil of the first
	Connections float64  `json:"connections"`       // over all hosts
	Least       float64  `json:"least_connections"` // that carry the rate with one exchange in flight on each; as few by one end where that alone is known
	Limits      []Limit  `json:"limits"`            // the one that is reached first is first
	Beyond      []string `json:"beyond,omitempty"`  // what no fitted cell reached
	Rough       []Rough  `json:"rough,omitempty"`   // models behind it that miss by more than Tolerance
	With        string   `json:"with,omitempty"`
	On          string   `json:"on,omitempty"`

	cores blocks
}

// Rough is a model that misses one in ten of the cells that it has not seen by more than
// Tolerance; the intervals allow for that.
type Rough struct {
	Metric string  `json:"metric"`
	Off    float64 `json:"off"` // by which it misses them
}

// Whole tells whether both ends are known.
func (c Choice) Whole() bool { return c.Cores != nil }

// Forecast is what a load will need: of whole choices the one with the fewest cores
// first, then those of which one end is known.
type Forecast struct {
	Load    Load     `json:"need"`
	Choices []Choice `json:"choices"`
	Without []string `json:"without,omitempty"` // arms that have no model of either end's CPU, and why
}

// Whole tells whether both ends of every transport are forecast.
func (f Forecast) Whole() bool {
	return len(f.Choices) > 0 && len(f.Without) == 0 && !slices.ContainsFunc(f.Choices, func(c Choice) bool { return !c.Whole() })
}

// arm is a transport with the models of its ends.
type arm struct {
	run, name, at  string
	server, client side
	reach          *Model // of the CPU of an end, also one that does not hold: what was measured
}

// side are the models of one end; nil for one that does not hold.
type side struct {
	cpu, memory *Model
	why         string // there is no model of the CPU
}

// String names an arm with its levels.
func (a arm) String() string { return strings.TrimSpace(a.name + " " + a.at) }

// ForecastOf says what each modelled transport would need. Costs are by the run that they
// were measured in: within one, choices are compared block by block. Arms are those to
// be forecast, empty for all.
func ForecastOf(runs map[string][]Cost, load Load, arms []string) Forecast {
	f := Forecast{Load: load}
	var found, apart []arm
	for _, a := range armsOf(runs) {
		if len(arms) > 0 && !slices.Contains(arms, a.name) {
			continue
		}
		if a.otherWay(load) {
			apart = append(apart, a)
			continue
		}
		c, why := a.choice(load)
		if why != "" {
			f.Without = append(f.Without, a.String()+": "+why)
			continue
		}
		f.Choices, found = append(f.Choices, c), append(found, a)
	}
	for _, a := range apart {
		if !slices.ContainsFunc(found, func(b arm) bool { return b.name == a.name }) {
			f.Without = append(f.Without, a.String()+": it was measured with one size in this direction")
		}
	}
	slices.SortStableFunc(f.Choices, func(a, b Choice) int { return cmp.Compare(a.order(), b.order()) })
	for i := range f.Choices {
		if i > 0 && f.Choices[i].Whole() {
			ratio := f.Choices[i].cores.over(f.Choices[0].cores)
			f.Choices[i].Ratio = &ratio
		}
	}
	return f
}

// order is by what choices are listed.
func (c Choice) order() float64 {
	if !c.Whole() {
		return math.Inf(1)
	}
	return c.Cores.Value
}

// armsOf gathers the models of each arm and level, in the order of the runs' names.
func armsOf(runs map[string][]Cost) []arm {
	var all []arm
	for _, run := range sorted(runs) {
		for i := range runs[run] {
			c := &runs[run][i]
			for j := range c.Models {
				m := &c.Models[j]
				at := slices.IndexFunc(all, func(a arm) bool { return a.run == run && a.name == m.Arm && a.at == m.At })
				if at < 0 {
					at, all = len(all), append(all, arm{run: run, name: m.Arm, at: m.At})
				}
				all[at].takeModel(c.Spec.Metric, m)
			}
		}
	}
	return all
}

// takeModel puts a model in its place; of a CPU's that does not hold it keeps the reason.
func (a *arm) takeModel(name string, m *Model) {
	end, what, _ := strings.Cut(name, ".")
	of, known := map[string]*side{"server": &a.server, "client": &a.client}[end]
	switch {
	case !known:
	case what == metric.CPUPerExchange:
		if a.reach == nil {
			a.reach = m
		}
		if m.Reason == "" && of.cpu == nil {
			of.cpu = m
		} else if of.cpu == nil {
			of.why = fmt.Sprintf("no model of %s: %s", name, m.Reason)
		}
	case what == metric.RSS && m.Reason == "" && of.memory == nil:
		of.memory = m
	}
}

// models are the models of the two ends' CPU.
func (a arm) models() []*Model {
	return slices.DeleteFunc([]*Model{a.server.cpu, a.client.cpu}, func(m *Model) bool { return m == nil })
}

// levels are the numbers of the models under a load: the connections are those of one
// process.
func (a arm) levels(n Load, connections float64) map[string]float64 {
	x := map[string]float64{"request": n.Up, "response": n.Down, "connections": connections}
	for _, factor := range []string{"request", "response"} {
		if low, _ := a.span(factor); x[factor] == 0 {
			x[factor] = low
		}
	}
	return x
}

// span is from where to where a CPU was fitted; 0 of a factor that the model has not.
func (a arm) span(factor string) (low, high float64) {
	if a.reach == nil {
		return 0, 0
	}
	for _, r := range a.reach.Ranges {
		if r.Factor == factor {
			return r.Low, r.High
		}
	}
	return 0, 0
}

// otherWay tells whether a model is of the other direction: it has one size where the
// load has a larger message.
func (a arm) otherWay(n Load) bool {
	for _, d := range []struct {
		factor string
		size   float64
	}{{"request", n.Up}, {"response", n.Down}} {
		if low, high := a.span(d.factor); low == high && d.size > high {
			return true
		}
	}
	return false
}
