package codec

import (
	"fmt"
	"slices"
	"strconv"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// ClassHeader is the header, or gRPC's metadata, by which a request says of which class it
// is, where the class has a codec or a stream of its own (contract/MIXES.md).
const ClassHeader = "netdyno-class"

// encodeClasses makes the messages of the classes that have a codec. The error is as New's.
func (x *Exchange) encodeClasses(setup contract.Setup, codecs []Codec) error {
	if !setup.Load.Encodes() {
		return nil
	}
	x.classes = make([]*Exchange, len(setup.Load.Classes))
	for i, c := range setup.Load.Classes {
		if c.Codec == "" || c.Codec == Bytes {
			continue
		}
		one, err := newExchange(contract.Setup{Exchange: contract.Exchange{Codec: c.Codec, Message: c.Message}}, codecs)
		if err != nil {
			return load.Failure(load.KindOf(err), fmt.Errorf("class %s: %s", c.Name, load.TextOf(err)))
		}
		one.service = x.service
		x.classes[i] = one
		x.UpBytes, x.DownBytes = max(x.UpBytes, one.UpBytes), max(x.DownBytes, one.DownBytes)
	}
	last := int64(0)
	for _, c := range x.sizeClasses(setup).Load.Classes {
		share := float64(c.End-last) / contract.TableEnd
		last = c.End
		x.upMean += share * meanOf(c.UpSizes, c.UpBytes)
		x.downMean += share * meanOf(c.DownSizes, c.DownBytes)
	}
	return nil
}

func meanOf(t contract.Table, size int64) float64 {
	if len(t) > 0 {
		return t.Mean()
	}
	return float64(size)
}

// sizeClasses gives the classes of a setup that have a codec the sizes of their messages;
// the largest are the exchange's then.
func (x *Exchange) sizeClasses(setup contract.Setup) contract.Setup {
	if x.classes == nil {
		return setup
	}
	setup.Load.Classes = slices.Clone(setup.Load.Classes)
	for i, of := range x.classes {
		if of != nil {
			setup.Load.Classes[i].UpBytes, setup.Load.Classes[i].DownBytes = of.UpBytes, of.DownBytes
		}
	}
	e := &setup.Exchange
	e.UpBytes, e.DownBytes, e.UpSizes, e.DownSizes = x.UpBytes, x.DownBytes, nil, nil
	return setup
}

// takeClass makes the next exchange one of a class, and reports whether it has a codec.
func (x *Exchange) takeClass(class int) bool {
	of := x.classes[class]
	if of == nil {
		x.Codec = nil
		return false
	}
	x.Codec, x.Up, x.Down = of.Codec, of.Up, of.Down
	return true
}

// Class returns the messages of a class that has a codec of its own; else nil.
func (x *Exchange) Class(class int) *Exchange {
	if x.classes == nil {
		return nil
	}
	return x.classes[class]
}

// Classes reports whether requests name the class that they are of.
func (x *Exchange) Classes() bool { return x.classes != nil }

// Named returns the messages of the class that a request names by its ClassHeader: x where
// it names none, or one without a codec. The error says what was wrong with the header.
func (x *Exchange) Named(class string) (*Exchange, error) {
	if class == "" || x.classes == nil {
		return x, nil
	}
	i, err := ClassNumber(class, len(x.classes))
	if err != nil || x.classes[i] == nil {
		return x, err
	}
	return x.classes[i], nil
}

// ClassNumber reads a ClassHeader, of so many classes.
func ClassNumber(text string, classes int) (int, error) {
	i, err := strconv.ParseUint(text, 10, 8)
	if err != nil || int(i) >= classes {
		return 0, fmt.Errorf("header %s is %.20q, expected the number of one of %d classes", ClassHeader, text, classes)
	}
	return int(i), nil
}
