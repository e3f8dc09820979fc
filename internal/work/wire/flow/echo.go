package flow

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// Echo is the wire's name: a message of fixed size goes up, and the same bytes
// come back, in order. Its transports also speak wire stream where
// setup.exchange.stream is set.
const Echo = "echo"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// echoPayload returns the message that every connection of a trial sends. It is
// random, so that nothing can compress it, and the same for every arm.
func echoPayload(setup contract.Setup) ([]byte, error) {
	x := setup.Exchange
	if x.UpBytes < 1 || x.UpBytes > contract.MaxMessage {
		return nil, load.Failure(contract.SetupFailed,
			fmt.Errorf("exchange.up_bytes is %d, expected 1 to %d on wire echo", x.UpBytes, contract.MaxMessage))
	}
	if x.DownBytes != x.UpBytes {
		return nil, load.Failure(contract.SetupFailed,
			fmt.Errorf("exchange is %d bytes up and %d down; wire echo returns what it is sent", x.UpBytes, x.DownBytes))
	}
	payload := make([]byte, x.UpBytes)
	var key [32]byte
	for i := range 8 {
		key[i] = byte(setup.Seed >> (8 * i))
	}
	if _, err := rand.NewChaCha8(key).Read(payload); err != nil {
		return nil, fmt.Errorf("draw payload: %w", err) // ChaCha8 never fails
	}
	return payload, nil
}
