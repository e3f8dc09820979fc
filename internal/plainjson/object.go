package plainjson

import (
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// WriteObject writes an object of numbers by their names.
func WriteObject(e *jsontext.Encoder, all iter.Seq2[string, float64]) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for name, x := range all {
		if err := e.WriteToken(jsontext.String(name)); err != nil {
			return err
		}
		if err := e.WriteToken(jsontext.Float(x)); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}
