package qemu

import (
	"context"
	"strconv"

	"netdyno/internal/run/rig"
)

// Kind is the rig of emulated guests, as users choose it.
var Kind = rig.Kind{Name: "qemu", Form: "qemu[:N][?memory=BYTES&cpus=N]", Options: []string{"memory", "cpus"}, Build: build}

// The bounds of a guest. QEMU's own network joins two of them, and no more.
const (
	maxGuests            = 2
	maxCPUs              = 64
	minMemory, maxMemory = 256 << 20, 1<<31 - 1
)

// build boots one guest, which holds both ends, unless the user counts.
func build(ctx context.Context, c rig.Choice) (rig.Rig, error) {
	const standardMemory, standardCPUs = 1 << 30, 2
	guests, err := c.Count(1)
	if err != nil {
		return nil, err
	}
	if guests < 1 || guests > maxGuests {
		return nil, c.Errorf("%d guests; expected from 1 to %d", guests, maxGuests)
	}
	memory, err := c.Bytes("memory")
	if err != nil {
		return nil, err
	}
	if memory == 0 {
		memory = standardMemory
	}
	if memory < minMemory || memory > maxMemory {
		return nil, c.Errorf("memory=%s; expected from 256MiB to 2047MiB", c.Options["memory"])
	}
	cpus := standardCPUs
	if text, given := c.Options["cpus"]; given {
		if cpus, err = strconv.Atoi(text); err != nil || cpus < 1 || cpus > maxCPUs {
			return nil, c.Errorf("cpus=%s; expected from 1 to %d", text, maxCPUs)
		}
	}
	return Boot(ctx, Options{Name: c.Name, Guests: guests, MemoryBytes: memory, CPUs: cpus})
}
