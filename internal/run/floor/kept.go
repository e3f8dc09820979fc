package floor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"netdyno/internal/record"
	"netdyno/internal/run/owned"
)

// keptFor bounds how long a floor is taken for today's: what neighbours of a virtual machine
// do changes.
const keptFor = time.Hour

// Kept is Measure for a path within this host, or what it found by the same program on the
// same path less than an hour ago, since the host's boot. What cannot be kept is measured
// anew next time.
func Kept(ctx context.Context, program, boot string, p Path) (record.Floor, error) {
	place, err := keepsake(program, boot, p)
	if err != nil {
		return Measure(ctx, program, p)
	}
	if f, err := recall(place); err == nil {
		return f, nil
	}
	f, err := Measure(ctx, program, p)
	if err == nil {
		f.MeasuredAt = time.Now().UTC().Truncate(time.Second)
		if text, err := json.Marshal(f); err == nil {
			_ = record.WriteFileAtomic(place, text)
		}
	}
	return f, err
}

// keepsake is the file in which a floor is kept; there is one for each boot and path.
func keepsake(program, boot string, p Path) (string, error) {
	info, err := os.Stat(program)
	if err != nil {
		return "", err
	}
	directory, err := owned.Private("floors")
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Append(nil, boot, info.Size(), info.ModTime(), p.Server.Address, p.Server.CPUs, p.Client.Address, p.Client.CPUs))
	return filepath.Join(directory, hex.EncodeToString(sum[:])), nil
}

func recall(place string) (f record.Floor, err error) {
	info, err := os.Lstat(place)
	if err != nil {
		return f, err
	}
	const most = 1 << 20 // bytes: some histograms
	if age := time.Since(info.ModTime()); !info.Mode().IsRegular() || info.Size() > most || age < 0 || age > keptFor {
		return f, fmt.Errorf("%s is none, or too old", place)
	}
	if err := owned.Check(place, info); err != nil {
		return f, err
	}
	text, err := os.ReadFile(place)
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	return f, err
}
