package metric

import (
	"cmp"
	"encoding/json"
	"iter"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"netdyno/internal/plainjson"
)

// Values are a trial's figures by the names of their metrics, as in a map: a large run has
// a million of them, and maps would take three times the memory and most of the time of its
// comparisons. In JSON they are an object. The zero value is empty. Names are of All.
type Values []value

type value struct {
	at uint16 // its metric's place among names
	x  float64
}

// names of all metrics, rising, and the place of each.
var (
	names = func() []string {
		all := make([]string, len(registry))
		for i, m := range registry {
			all[i] = m.Name
		}
		slices.Sort(all)
		return all
	}()
	places = func() map[string]uint16 {
		of := make(map[string]uint16, len(names))
		for i, name := range names {
			of[name] = uint16(i)
		}
		return of
	}()
)

// ValuesOf returns the figures of a map; nil of nil. A name that is no metric's is left out.
func ValuesOf(figures map[string]float64) Values {
	if figures == nil {
		return nil
	}
	all := make(Values, 0, len(figures))
	for name, x := range figures {
		if at, known := places[name]; known {
			all = append(all, value{at, x})
		}
	}
	slices.SortFunc(all, func(a, b value) int { return cmp.Compare(a.at, b.at) })
	return all
}

// Of returns a metric's figure; false where there is none.
func (v Values) Of(metric string) (float64, bool) {
	if i, found := v.find(metric); found {
		return v[i].x, true
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
	at, known := places[metric]
	if !known {
		return
	}
	i, found := v.find(metric)
	if !found {
		*v = slices.Insert(*v, i, value{at: at})
	}
	(*v)[i].x = x
}

// Keep takes out the figures of other metrics than those that keep tells.
func (v *Values) Keep(keep func(metric string) bool) {
	*v = slices.DeleteFunc(*v, func(each value) bool { return !keep(names[each.at]) })
}

// All returns the figures by the names of their metrics, rising.
func (v Values) All() iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for _, each := range v {
			if !yield(names[each.at], each.x) {
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
	return slices.BinarySearchFunc(v, at, func(each value, at uint16) int { return cmp.Compare(each.at, at) })
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
