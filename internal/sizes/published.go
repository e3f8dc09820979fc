package sizes

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// publishedPoints has a line for each: its name, then SIZE:SHARE of sizes up to it. They are
// the points of util/dist.cc of HomaModule, thinned out so that no share is off by more
// than 0.001, nor by more than 3 % of what lies above it.
//
//go:embed published.txt
var publishedPoints string

// homa is where all of them are from.
const homa = "B. Montazeri et al., Homa: A Receiver-Driven Low-Latency Transport Protocol Using Network Priorities, SIGCOMM 2018, figure 1; " +
	"points of PlatformLab/HomaModule, util/dist.cc. "

var about = map[string][2]string{
	"homa-w1": {"Homa W1, values of a key-value store", homa + "W1: values of Facebook's memcached pool ETC (Atikoglu et al., Workload Analysis of a Large-Scale Key-Value Store, SIGMETRICS 2012)"},
	"homa-w2": {"Homa W2, a search application's RPCs", homa + "W2: a search application at Google"},
	"homa-w3": {"Homa W3, RPCs of a data centre", homa + "W3: all applications of a data centre of Google's"},
	"homa-w4": {"Homa W4, a Hadoop cluster", homa + "W4: a Hadoop cluster at Facebook"},
	"homa-w5": {"Homa W5, a web search's flows", homa + "W5: flows of a web search (Alizadeh et al., DCTCP, SIGCOMM 2010)"},
}

var published = sync.OnceValue(func() []*Sizes {
	var all []*Sizes
	for line := range strings.Lines(publishedPoints) {
		fields := strings.Fields(line)
		var points []point
		for _, field := range fields[1:] {
			size, share, _ := strings.Cut(field, ":")
			n, _ := strconv.ParseInt(size, 10, 64) // a test reads them all
			p, _ := strconv.ParseFloat(share, 64)
			points = append(points, point{size: n, below: p})
		}
		table, _ := joined(inBytes, points)
		all = append(all, &Sizes{Text: fields[0], Words: about[fields[0]][0], Source: about[fields[0]][1], Table: table})
	}
	return all
})

// Published returns the distributions that have a name of their own.
func Published() []*Sizes { return published() }

// named returns a published distribution; nil for another name.
func named(name string) *Sizes {
	for _, s := range published() {
		if s.Text == name {
			return s
		}
	}
	return nil
}
