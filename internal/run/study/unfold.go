package study

import (
	"maps"
	"strconv"
	"strings"
	"sync"
)

// unfold returns every level of a trial in canonical text: of a cell of this
// design and one level of the compared factor. The bundles are those of the
// whole study, since a cell's baseline runs in sweeps that do not name it.
func (s *Study) unfold(cell []Setting, arms []Arm, compared Level) map[string]string {
	levels := defaults()
	for _, h := range s.Hold {
		set(levels, h.Factor, h.Level)
	}
	bundled := func(factor string, l Level) {
		if factor != armFactor {
			set(levels, factor, l)
			return
		}
		for _, a := range arms {
			if a.Name == l.Text {
				for _, x := range a.Settings {
					set(levels, x.Factor, x.Level)
				}
			}
		}
	}
	for _, c := range cell {
		bundled(c.Factor, c.Level)
	}
	bundled(s.Compare.Factor, compared)
	settle(levels)
	texts := make(map[string]string, len(levels))
	for factor, l := range levels {
		texts[factor] = l.Text
	}
	return texts
}

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
	if levels["amount"].value > 0 {
		levels["window"] = Level{Text: "0s"}
	}
	if levels["codec"].Text != rawCodec {
		delete(levels, "request")
		delete(levels, "response")
	}
	_, chunked := levels["chunk"]
	switch streamed := levels["stream"].Text != unstreamed; {
	case !streamed:
		delete(levels, "chunk")
	case !chunked:
		levels["chunk"] = standardLevel("chunk", standardChunk)
	}
}

// standardLevel reads a level that the code itself writes; a test holds it to
// be one.
func standardLevel(factor, text string) Level {
	f, err := factorNamed(factor)
	if err != nil {
		return Level{Text: text}
	}
	f.Default = text
	return f.standard()
}

// cellName prints a cell as it would be typed: "connections=50 response=4MiB".
func cellName(cell []Setting) string {
	parts := make([]string, len(cell))
	for i, c := range cell {
		parts[i] = c.Factor + "=" + cellText(c.Level.Text)
	}
	return strings.Join(parts, " ")
}

func cellText(level string) string {
	if strings.ContainsAny(level, " \"\\") {
		return strconv.Quote(level)
	}
	return level
}
