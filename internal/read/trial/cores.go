package trial

import (
	"iter"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"netdyno/internal/plainjson"
)

// Cores are CPU seconds per second by what they went into, as in a map that takes a tenth of
// the memory: of a host all uses, of a worker the last two. In JSON they are an object.
type Cores []float64

var uses = []string{"idle", "irq", "softirq", "steal", "system", "user"}

// CoresOf returns the cores of a map; those of a worker where it has no other use than a
// worker's.
func CoresOf(byUse map[string]float64) Cores {
	of := uses
	if _, host := byUse["idle"]; !host {
		of = uses[len(uses)-2:]
	}
	c := make(Cores, len(of))
	for i, use := range of {
		c[i] = byUse[use]
	}
	return c
}

// All returns the cores by use.
func (c Cores) All() iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for i, x := range c {
			if !yield(uses[len(uses)-len(c)+i], x) {
				return
			}
		}
	}
}

// Of returns the cores of one use; 0 where there are none.
func (c Cores) Of(use string) float64 {
	if i := slices.Index(uses[len(uses)-len(c):], use); i >= 0 {
		return c[i]
	}
	return 0
}

// MarshalJSONTo writes an object of the cores by use.
func (c Cores) MarshalJSONTo(e *jsontext.Encoder) error { return plainjson.WriteObject(e, c.All()) }

// MarshalJSON is MarshalJSONTo for encoding/json.
func (c Cores) MarshalJSON() ([]byte, error) { return jsonv2.Marshal(c) }

// UnmarshalJSON reads such an object.
func (c *Cores) UnmarshalJSON(object []byte) error {
	var byUse map[string]float64
	if err := jsonv2.Unmarshal(object, &byUse); err != nil {
		return err
	}
	*c = CoresOf(byUse)
	return nil
}
