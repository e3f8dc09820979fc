package codec

import (
	"fmt"
	"strconv"

	"netdyno/internal/contract"
	"netdyno/internal/traffic"
	"netdyno/internal/work/load"
)

// DownHeader is the header, or gRPC's metadata, by which a request says how long its reply
// is to be, where down sizes are drawn (contract/DRAWS.md).
const DownHeader = "netdyno-down"

// vary says which sizes of the exchange are drawn. The error is of kind setup.
func (x *Exchange) vary(setup contract.Setup) error {
	e := setup.Exchange
	if len(e.UpSizes) == 0 && len(e.DownSizes) == 0 && len(setup.Load.Classes) == 0 {
		return nil
	}
	if x.Structured() {
		return load.Failure(contract.SetupFailed, fmt.Errorf("exchange.up_sizes or down_sizes is given with codec %s, whose messages have sizes of their own", e.Codec))
	}
	var err error
	x.upVaries, x.downVaries = len(e.UpSizes) > 0, len(e.DownSizes) > 0
	x.draws, err = load.DrawsOf(setup)
	return err
}

// Varies reports whether the sizes of either direction are drawn.
func (x *Exchange) Varies() bool { return x.draws != nil }

// Asks reports whether requests say how long their replies are to be.
func (x *Exchange) Asks() bool { return x.downVaries && x.Codec == nil }

// Own returns the exchanges of one slot: x itself where all are alike, else a copy whose
// sizes Take sets.
func (x *Exchange) Own() *Exchange {
	if !x.Varies() {
		return x
	}
	own := *x
	return &own
}

// Take makes the next exchange of a slot's own carry what was drawn for it. Without drawn
// sizes it does nothing.
func (x *Exchange) Take(d load.Draw) {
	if x.draws == nil {
		return
	}
	x.UpBytes, x.DownBytes = d.Up, d.Down
	x.up, x.down = x.up[:d.Up], x.down[:d.Down] // of content that was made for the largest
}

// First returns what the first exchange of a connection carries, which is verified.
func (x *Exchange) First(connection int) load.Draw {
	if x.draws == nil {
		return load.Draw{}
	}
	return x.draws.Of(uint64(connection))
}

// TakeFirst is Take for the first exchange of a connection.
func (x *Exchange) TakeFirst(connection int) { x.Take(x.First(connection)) }

// PathOf returns the path that recorded traffic has for an exchange; "" for none.
func (x *Exchange) PathOf(d load.Draw) string {
	if x.draws == nil {
		return ""
	}
	return x.draws.Path(d)
}

// CarriedOf returns what recorded traffic has for an exchange to carry, where it has it.
func (x *Exchange) CarriedOf(d load.Draw) (traffic.Carried, bool) {
	if x.draws == nil {
		return traffic.Carried{}, false
	}
	return x.draws.Carried(d)
}

// Asked returns the server's side of an exchange whose request carries asked as its
// DownHeader: the length of the reply. The error says what was wrong with it.
func (x *Exchange) Asked(asked string) (int64, error) {
	if !x.downVaries {
		return x.DownBytes, nil
	}
	n, err := strconv.ParseUint(asked, 10, 31)
	if err != nil || int64(n) > x.DownBytes {
		return 0, fmt.Errorf("header %s is %.20q, expected a length of 0 to %d bytes", DownHeader, asked, x.DownBytes)
	}
	return int64(n), nil
}

// RespondTo is Respond where a request says by its DownHeader how long the reply is to be.
func (x *Exchange) RespondTo(buf, request []byte, asked string) ([]byte, error) {
	reply, err := x.Respond(buf, request)
	if err != nil || !x.downVaries {
		return reply, err
	}
	n, err := x.Asked(asked)
	if err != nil {
		return nil, err
	}
	return reply[:n], nil
}

// AcceptAt checks what an end of that role received with codec bytes. The error says what
// was wrong.
func (x *Exchange) AcceptAt(role contract.Role, in []byte) error {
	if role == contract.Server {
		return sized("the request", len(in), x.UpBytes, x.upVaries)
	}
	return sized("the reply", len(in), x.DownBytes, false)
}

// Fits checks the length of a request before it is read.
func (x *Exchange) Fits(request int64) error {
	return sized("the request", int(request), x.UpBytes, x.upVaries)
}
