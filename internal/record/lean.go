package record

import (
	"errors"
	"unique"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"netdyno/internal/contract"
)

// lean reads what a large run has a million of without a map for each.
var lean = jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(readInterfaces))

// readInterfaces is Interfaces.UnmarshalJSON straight from a decoder. Names are
// shared by all readings.
func readInterfaces(d *jsontext.Decoder, all *contract.Interfaces) error {
	if d.PeekKind() != jsontext.KindBeginObject { // null, or what the type itself refuses
		return errors.ErrUnsupported
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	*all = nil
	for d.PeekKind() != jsontext.KindEndObject {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		shared := unique.Make(name.String()).Value()
		var counters contract.Interface
		if err := jsonv2.UnmarshalDecode(d, &counters); err != nil {
			return err
		}
		all.Set(shared, counters)
	}
	_, err := d.ReadToken()
	return err
}
