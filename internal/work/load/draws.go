package load

import (
	"fmt"

	"netdyno/internal/contract"
	"netdyno/internal/draw"
)

// Draw is what one exchange carries.
type Draw struct {
	Number   uint64 // of the exchange over all slots of the client; 0 where nothing is drawn
	Up, Down int64  // sizes of its messages, in bytes
}

// Draws are the sizes of a client's exchanges. Any goroutine may use it.
type Draws struct {
	fixed    Draw
	up, down *draw.Drawer // nil where all are of one size
}

// DrawsOf returns the sizes of a trial's exchanges. The error is of kind setup.
func DrawsOf(setup contract.Setup) (*Draws, error) {
	x := setup.Exchange
	d := &Draws{fixed: Draw{Up: x.UpBytes, Down: x.DownBytes}}
	for _, of := range []struct {
		field   string
		table   contract.Table
		largest int64
		stream  uint64
		to      **draw.Drawer
	}{{"up", x.UpSizes, x.UpBytes, draw.Up, &d.up}, {"down", x.DownSizes, x.DownBytes, draw.Down, &d.down}} {
		if len(of.table) == 0 {
			continue
		}
		err := of.table.Check(contract.MaxMessage)
		if err == nil && of.table.Most() != of.largest {
			err = fmt.Errorf("the largest size is %d and exchange.%s_bytes is %d, expected the same", of.table.Most(), of.field, of.largest)
		}
		if err != nil {
			return nil, Failure(contract.SetupFailed, fmt.Errorf("exchange.%s_sizes: %w", of.field, err))
		}
		*of.to = draw.NewDrawer(of.table, setup.Seed, of.stream)
	}
	return d, nil
}

// Vary reports whether any size does.
func (d *Draws) Vary() bool { return d.up != nil || d.down != nil }

// Of returns what exchange number n carries, and what the first exchange of connection n
// does.
func (d *Draws) Of(n uint64) Draw {
	x := d.fixed
	x.Number = n
	if d.up != nil {
		x.Up = d.up.Draw(n)
	}
	if d.down != nil {
		x.Down = d.down.Draw(n)
	}
	return x
}
