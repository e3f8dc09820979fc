package check

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/draw"
)

func TestDrawnBytesAreToTheByte(t *testing.T) {
	x := (&subject{transport: contract.Transport{Wire: "http/1.1"}}).drawnExchange()
	right := contract.Counts{Exchanges: 3}
	up, down := draw.NewDrawer(x.UpSizes, 1, draw.Up), draw.NewDrawer(x.DownSizes, 1, draw.Down)
	for n := range uint64(3) {
		right.SentBytes += up.Draw(n)
		right.ReceivedBytes += down.Draw(n)
	}
	if err := drawnBytes(right, x, 1, 3); err != nil {
		t.Error(err)
	}
	for _, change := range []func(*contract.Counts){
		func(c *contract.Counts) { c.SentBytes++ },
		func(c *contract.Counts) { c.ReceivedBytes-- },
		func(c *contract.Counts) { c.Exchanges-- },
	} {
		wrong := right
		change(&wrong)
		if drawnBytes(wrong, x, 1, 3) == nil {
			t.Errorf("%+v passes", wrong)
		}
	}
	if drawnBytes(right, x, 2, 3) == nil {
		t.Error("another seed's draws pass")
	}
}
