package floor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"netdyno/internal/record"
	"netdyno/internal/run/owned"
)

// floors are those of an hour: what neighbours of a virtual machine do changes.
var floors = owned.Kept{Kind: "floors", For: time.Hour}

// Kept is Measure for a path within this host, or what it found by the same program on the
// same path less than an hour ago, since the host's boot; "" for boot is Measure. What cannot
// be kept is measured anew next time.
func Kept(ctx context.Context, program, boot string, p Path) (f record.Floor, err error) {
	info, err := os.Stat(program)
	if err != nil || boot == "" {
		return Measure(ctx, program, p)
	}
	sum := sha256.Sum256(fmt.Append(nil, boot, info.Size(), info.ModTime(), p.Server.Address, p.Server.CPUs, p.Client.Address, p.Client.CPUs))
	name := hex.EncodeToString(sum[:])
	if text, err := floors.Recall(name); err == nil && json.Unmarshal(text, &f) == nil {
		return f, nil
	}
	if f, err = Measure(ctx, program, p); err != nil {
		return f, err
	}
	f.MeasuredAt = time.Now().UTC().Truncate(time.Second)
	if text, err := json.Marshal(f); err == nil {
		_ = floors.Keep(name, text)
	}
	return f, nil
}
