package load

import (
	"cmp"
	"fmt"

	"netdyno/internal/contract"
	"netdyno/internal/draw"
	"netdyno/internal/traffic"
)

// Draw is what one exchange carries.
type Draw struct {
	Number   uint64 // of the exchange over all slots of the client; 0 where nothing is drawn
	Up, Down int64  // sizes of its messages, in bytes
	Class    int    // its number; 0 where there are none
	Key      int64  // that stands for {key}
	Path     int    // of recorded traffic, its number; traffic.NoPath for none
}

// Draws are the sizes of a client's exchanges, and their classes. Any goroutine may use it.
type Draws struct {
	fixed    Draw
	up, down *draw.Drawer // nil where all are of one size
	classes  *draw.Drawer // nil where there are none, and where a trace says them
	keys     *draw.Drawer
	byClass  []*Draws // sizes of each class
	replay   *Replay  // nil unless traffic is replayed
}

// DrawsOf returns the sizes of a trial's exchanges. The error is of kind setup.
func DrawsOf(setup contract.Setup) (*Draws, error) {
	x, mix := setup.Exchange, setup.Load
	d, err := sizesOf("exchange", x, setup.Seed)
	if err == nil && len(mix.Classes) > 0 {
		err = d.mix(mix, setup.Seed)
	}
	if err == nil && mix.Trace != nil && !mix.Trace.Times {
		d.replay, err = newReplay(x, mix)
	}
	if err != nil {
		return nil, Failure(contract.SetupFailed, err)
	}
	return d, nil
}

// replayOf returns what is replayed: of a trace that says times alone, those. The error is
// of kind setup.
func (d *Draws) replayOf(setup contract.Setup) (*Replay, error) {
	if t := setup.Load.Trace; d.replay != nil || t == nil {
		return d.replay, nil
	}
	r, err := newReplay(setup.Exchange, setup.Load)
	if err != nil {
		return nil, Failure(contract.SetupFailed, err)
	}
	return r, nil
}

// sizesOf returns the sizes of the exchanges that a field of setup declares.
func sizesOf(field string, x contract.Exchange, seed uint64) (*Draws, error) {
	d := &Draws{fixed: Draw{Up: x.UpBytes, Down: x.DownBytes, Path: traffic.NoPath}}
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
			err = fmt.Errorf("the largest size is %d and %s.%s_bytes is %d, expected the same", of.table.Most(), field, of.field, of.largest)
		}
		if err != nil {
			return nil, fmt.Errorf("%s.%s_sizes: %w", field, of.field, err)
		}
		*of.to = draw.NewDrawer(of.table, seed, of.stream)
	}
	return d, nil
}

// mix takes up the classes of a load.
func (d *Draws) mix(l contract.Load, seed uint64) error {
	if len(l.Classes) > contract.MostClasses {
		return fmt.Errorf("load.classes has %d, expected at most %d", len(l.Classes), contract.MostClasses)
	}
	var ends contract.Table
	for i, c := range l.Classes {
		field := fmt.Sprintf("load.classes[%d]", i)
		sizes, err := sizesOf(field, contract.Exchange{UpBytes: c.UpBytes, DownBytes: c.DownBytes, UpSizes: c.UpSizes, DownSizes: c.DownSizes}, seed)
		if err != nil {
			return err
		}
		if c.UpBytes < 0 || c.DownBytes < 0 || c.UpBytes > d.fixed.Up || c.DownBytes > d.fixed.Down {
			return fmt.Errorf("%s has %d bytes up and %d down, and exchange at most %d and %d", field, c.UpBytes, c.DownBytes, d.fixed.Up, d.fixed.Down)
		}
		sizes.fixed.Class = i
		d.byClass = append(d.byClass, sizes)
		ends = append(ends, contract.Segment{c.End, int64(i), int64(i)})
	}
	if l.Trace == nil || l.Trace.Times {
		if err := ends.Check(contract.MostClasses); err != nil {
			return fmt.Errorf("load.classes: their ends: %w", err)
		}
		d.classes = draw.NewDrawer(ends, seed, draw.Classes)
	}
	if len(l.Keys) > 0 {
		if err := l.Keys.Check(contract.MostKey); err != nil {
			return fmt.Errorf("load.keys: %w", err)
		}
		d.keys = draw.NewDrawer(l.Keys, seed, draw.Keys)
	}
	return nil
}

// echo makes replies as long as their requests: down is the draw of up.
func (d *Draws) echo() {
	d.down, d.fixed.Down = d.up, d.fixed.Up
	for _, of := range d.byClass {
		of.echo()
	}
}

// Vary reports whether any size does.
func (d *Draws) Vary() bool {
	return d.up != nil || d.down != nil || len(d.byClass) > 0 || d.replay != nil
}

// upVaries reports whether what is sent is counted by exchange.
func (d *Draws) upVaries() bool { return d.up != nil || len(d.byClass) > 0 || d.replay != nil }

// downVaries reports whether the lengths of all replies are counted.
func (d *Draws) downVaries() bool { return d.down != nil || len(d.byClass) > 0 || d.replay != nil }

// Of returns what exchange number n carries, and what the first exchange of connection n
// does.
func (d *Draws) Of(n uint64) Draw {
	if d.replay != nil {
		return d.replay.verifying(n)
	}
	x := d.fixed
	d.draw(n, &x)
	return x
}

// draw makes x, which is of this client's, exchange number n.
func (d *Draws) draw(n uint64, x *Draw) {
	of := d
	if d.classes != nil {
		of = d.byClass[d.classes.Draw(n)]
		x.Class, x.Up, x.Down = of.fixed.Class, of.fixed.Up, of.fixed.Down
	}
	x.Number = n
	if of.up != nil {
		x.Up = of.up.Draw(n)
	}
	if of.down != nil {
		x.Down = of.down.Draw(n)
	}
	if d.keys != nil {
		x.Key = d.keys.Draw(n)
	}
}

// Path returns the path that recorded traffic has for an exchange; "" for none.
func (d *Draws) Path(x Draw) string {
	if d.replay == nil || x.Path == traffic.NoPath {
		return ""
	}
	return d.replay.body.Paths[x.Path]
}

// Carried returns what an exchange of recorded traffic carries, where it was recorded.
func (d *Draws) Carried(x Draw) (traffic.Carried, bool) {
	if d.replay == nil || x.Path == traffic.NoPath {
		return traffic.Carried{}, false
	}
	c, is := d.replay.body.Carried[x.Path]
	return c, is
}

// partsOf returns of how many clients one is.
func partsOf(t contract.Trace) int { return cmp.Or(t.Parts, 1) }
