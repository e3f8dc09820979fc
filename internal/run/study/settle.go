package study

import (
	"maps"
	"sync"
)

// standardLevels are the levels of a trial that the study does not mention,
// read once: they are needed for every trial.
var standardLevels = sync.OnceValue(func() map[string]Level {
	levels := map[string]Level{}
	for _, f := range factors {
		if f.inTrial() {
			levels[f.Name] = f.standard()
		}
	}
	return levels
})

// defaults returns a trial's levels before the study has its say. The caller
// owns the map.
func defaults() map[string]Level { return maps.Clone(standardLevels()) }

// set gives a trial a level; a transport is both its ends.
func set(levels map[string]Level, factor string, l Level) {
	if factor == "transport" {
		levels["server"], levels["client"] = l, l
		return
	}
	levels[factor] = l
}

// settle makes a trial's levels say what it will do: defaults that another
// level leaves without meaning go, those that it implies come. What a study
// itself wrote is never taken away here: the contradictions were refused.
func settle(levels map[string]Level) {
	if levels["amount"].Value > 0 {
		levels["window"] = Level{Text: "0s"}
	}
	if levels["codec"].Text != rawCodec {
		delete(levels, "request")
		delete(levels, "response")
	}
	if servers := levels["servers"]; levels["clients"].Text == Auto && servers == defaults()["servers"] {
		levels["servers"] = standardLevel("servers", Auto)
	}
	_, chunked := levels["chunk"]
	switch streamed := levels["stream"].Text != unstreamed; {
	case !streamed:
		delete(levels, "chunk")
	case !chunked:
		levels["chunk"] = standardLevel("chunk", standardChunk)
	}
}
