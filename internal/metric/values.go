package metric

import (
	"encoding/binary"
	"encoding/json"
	"iter"
	"slices"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"netdyno/internal/plainjson"
)

// Values are a trial's figures by the names of their metrics, as in a map: a large run has
// a million of them, and maps would take three times the memory and most of the time of its
// comparisons. In JSON they are an object. The zero value is empty. Names are of All.
type Values struct {
	at []uint16  // the metrics' places among names, rising; never written, as many trials share them
	x  []float64 // their figures
}

// rows of places that Values have, each held once: the trials of an arm have the same metrics.
var rows sync.Map

// row returns the one row of these places.
func row(at []uint16) []uint16 {
	key := make([]byte, 0, 2*len(at))
	for _, place := range at {
		key = binary.LittleEndian.AppendUint16(key, place)
	}
	if one, known := rows.Load(string(key)); known {
		return one.([]uint16)
	}
	one, _ := rows.LoadOrStore(string(key), slices.Clip(slices.Clone(at)))
	return one.([]uint16)
}

// names of all metrics, rising, and the place of each.
var names, places = named(registry)

func named(metrics []Metric) (names []string, places map[string]uint16) {
	names, places = make([]string, len(metrics)), make(map[string]uint16, len(metrics))
	for i, m := range metrics {
		names[i] = m.Name
	}
	slices.Sort(names)
	for i, name := range names {
		places[name] = uint16(i)
	}
	return names, places
}

// ValuesOf returns the figures of a map. A name that is no metric's is left out.
func ValuesOf(figures map[string]float64) Values {
	var room [256]uint16
	at := room[:0]
	for name := range figures {
		if place, known := places[name]; known {
			at = append(at, place)
		}
	}
	if len(at) == 0 {
		return Values{}
	}
	slices.Sort(at)
	v := Values{row(at), make([]float64, len(at))}
	for i, place := range at {
		v.x[i] = figures[names[place]]
	}
	return v
}

// IsZero tells whether there is no figure.
func (v Values) IsZero() bool { return len(v.at) == 0 }

// Of returns a metric's figure; false where there is none.
func (v Values) Of(metric string) (float64, bool) {
	if i, found := v.find(metric); found {
		return v.x[i], true
	}
	return 0, false
}

// At returns a metric's figure; 0 where there is none.
func (v Values) At(metric string) float64 {
	x, _ := v.Of(metric)
	return x
}

// Set enters a metric's figure; of a name that is no metric's, none.
func (v *Values) Set(metric string, x float64) {
	place, known := places[metric]
	if !known {
		return
	}
	i, found := slices.BinarySearch(v.at, place)
	if !found {
		v.at = row(slices.Insert(slices.Clone(v.at), i, place))
		v.x = slices.Insert(v.x, i, 0)
	}
	v.x[i] = x
}

// Keep takes out the figures of other metrics than those that keep tells.
func (v *Values) Keep(keep func(metric string) bool) {
	var kept []uint16
	x := v.x[:0]
	for i, place := range v.at {
		if keep(names[place]) {
			kept, x = append(kept, place), append(x, v.x[i])
		}
	}
	v.at, v.x = row(kept), x
}

// All returns the figures by the names of their metrics, rising.
func (v Values) All() iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for i, place := range v.at {
			if !yield(names[place], v.x[i]) {
				return
			}
		}
	}
}

// find returns where a metric's figure is, or belongs.
func (v Values) find(metric string) (int, bool) {
	at, known := places[metric]
	if !known {
		return 0, false
	}
	return slices.BinarySearch(v.at, at)
}

// MarshalJSONTo writes an object of the figures by name.
func (v Values) MarshalJSONTo(e *jsontext.Encoder) error { return plainjson.WriteObject(e, v.All()) }

// MarshalJSON is MarshalJSONTo for encoding/json.
func (v Values) MarshalJSON() ([]byte, error) { return jsonv2.Marshal(v) }

// UnmarshalJSON reads such an object.
func (v *Values) UnmarshalJSON(object []byte) error {
	var figures map[string]float64
	if err := json.Unmarshal(object, &figures); err != nil {
		return err
	}
	*v = ValuesOf(figures)
	return nil
}
