package doctor

import "fmt"

// What netdyno itself opens: its files, the programs that it asks what they are,
// and three pipes for each worker of a trial.
const (
	ownFiles       = 128
	filesPerWorker = 8
)

// OwnFiles refuses to begin a run of so many workers at once where netdyno itself
// may open only so many files. It names what a worker needs too that has the same
// limit, 0 for none, so that one command raises it for both.
func OwnFiles(allowed uint64, workers, each int) error {
	needed, also := ownFiles+filesPerWorker*workers, ""
	if allowed >= uint64(needed) {
		return nil
	}
	if uint64(each) > allowed {
		also = fmt.Sprintf(", a worker %d,", each)
	}
	return fmt.Errorf("descriptors: netdyno itself needs %d%s and at most %d are allowed here; %s", needed, also, allowed, fileLimitFix(max(needed, each)))
}
