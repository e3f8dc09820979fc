package doctor

import "fmt"

// What netdyno itself opens: its files, the programs that it asks what they are,
// and three pipes for each worker of a trial.
const (
	ownFiles       = 128
	filesPerWorker = 8
)

// OwnFiles refuses to begin a run of so many workers at once where netdyno itself
// may open only so many files.
func OwnFiles(allowed uint64, workers int) error {
	needed := ownFiles + filesPerWorker*workers
	if allowed >= uint64(needed) {
		return nil
	}
	return fmt.Errorf("descriptors: netdyno itself needs %d and at most %d are allowed here; %s", needed, allowed, fileLimitFix(needed))
}
