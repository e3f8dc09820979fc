package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"netdyno/internal/input"
)

// Calibration is what netdyno calibrate found out about a rig's machines: what
// their generator and link can carry, how quiet they are, and how far apart
// like figures lie there.
type Calibration struct {
	CreatedAt     time.Time         `json:"created_at"` // of the latest
	Netdyno       string            `json:"netdyno"`
	Rig           string            `json:"rig"`
	Times         int               `json:"times"`                               // calibrations that the spreads rest on
	GeneratorPerS float64           `json:"generator_exchanges_per_s,omitempty"` // a generator alone, exchanges per second
	LinkBytesPerS float64           `json:"link_bytes_per_s,omitempty"`          // the best bulk stream
	StealShare    float64           `json:"steal_share"`                         // mean over the trials
	EnoughWindowS float64           `json:"enough_window_s,omitempty"`           // beyond it a longer window says no more than another block; 0 where none was found
	Places        map[string]Quiet  `json:"places,omitempty"`                    // by name
	Spreads       map[string]Spread `json:"spreads"`                             // by metric
}

// Quiet tells how quiet an idle place is.
type Quiet struct {
	LostShare      float64 `json:"lost_share"`       // of a spinning thread's time, the worst CPU's
	LongestUs      float64 `json:"longest_us"`       // it did not run
	OvershootP50Us float64 `json:"overshoot_p50_us"` // of timers
	OvershootP99Us float64 `json:"overshoot_p99_us"`
}

// Spread tells how far like figures of one metric lie apart, as standard
// deviations of natural logarithms.
type Spread struct {
	Trial    float64    `json:"trial"`    // of a trial within its block
	Absolute float64    `json:"absolute"` // of a short run's mean
	Relative float64    `json:"relative"` // of a short run's mean ratio to its floor
	Runs     int        `json:"runs"`     // short runs, made one after the other, behind the two
	Smallest []Smallest `json:"smallest"` // rising by blocks
}

// Smallest is the least difference that one comparison of so many blocks finds
// in nine of ten cases, as a ratio − 1.
type Smallest struct {
	Blocks     int     `json:"blocks"`
	Difference float64 `json:"difference"`
}

// Calibrated is one calibration of a machine, as it is kept for later
// calibrations and comparisons.
type Calibrated struct {
	CreatedAt     time.Time          `json:"created_at"`
	Netdyno       string             `json:"netdyno"`
	GeneratorPerS float64            `json:"generator_exchanges_per_s,omitempty"`
	LinkBytesPerS float64            `json:"link_bytes_per_s,omitempty"`
	StealShare    float64            `json:"steal_share"`
	EnoughWindowS float64            `json:"enough_window_s,omitempty"`
	Places        map[string]Quiet   `json:"places,omitempty"`
	Scatter       map[string]Scatter `json:"scatter"` // by metric
}

// Scatter is how one metric's figures lay in a calibration, as natural
// logarithms.
type Scatter struct {
	Trial    float64   `json:"trial"`    // standard deviation of a trial within its block
	Absolute []float64 `json:"absolute"` // means of short runs, made one after the other
	Relative []float64 `json:"relative"` // means of their ratios to the floor
}

// maxCalibrations bounds their file in bytes, far above what they take.
const maxCalibrations = 64 << 20

// MaxCalibrations are kept of a machine, the latest.
const MaxCalibrations = 32

// ReadCalibrations returns what is kept in a file, the oldest first; none for
// a file that does not exist.
func ReadCalibrations(path string) ([]Calibrated, error) {
	text, err := input.Whole(path, maxCalibrations)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Calibrated
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("calibrations in %s cannot be read: %w; remove it and calibrate again", path, err)
	}
	return all, nil
}

// WriteCalibrations keeps the latest of them, whole or not at all.
func WriteCalibrations(path string, all []Calibrated) error {
	text, err := json.MarshalIndent(all[max(0, len(all)-MaxCalibrations):], "", " ")
	if err != nil {
		return fmt.Errorf("encode calibrations: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return WriteFileAtomic(path, append(text, '\n'))
}

// machineFacts are those without which figures cannot be set side by side.
var machineFacts = []string{"cpu.model", "cpu.count", "cpu.usable", "cpu.governor", "kernel.release", "hypervisor"}

// MachineKey names a rig and its machines: the key under which figures are kept from one
// run to another.
func MachineKey(rig string, seats map[string]Host) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", rig)
	for _, seat := range slices.Sorted(maps.Keys(seats)) {
		for _, fact := range append([]string{"host.name"}, machineFacts...) {
			fmt.Fprintf(h, "%q %q %q\n", seat, fact, seats[seat].Values[fact])
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// DiffMachines returns one line for each fact of consequence in which two hosts
// differ: figures of the one say nothing of the other.
func DiffMachines(a, b Host) []string {
	of := func(h Host) Host {
		facts := Host{Values: map[string]string{}}
		for _, name := range machineFacts {
			if value, known := h.Values[name]; known {
				facts.Values[name] = value
			}
		}
		return facts
	}
	return DiffHosts(of(a), of(b))
}

// Floor is what exchanges take on a path where the server does nothing for them but compute
// for a given time: what is above that are wake-ups, sends and the way itself. Between blocking
// sockets, one exchange at a time, on the link as it is.
type Floor struct {
	Server     string      `json:"server"` // seats
	Client     string      `json:"client"`
	ServerCPUs []int       `json:"server_cpus,omitempty"` // empty: left to the scheduler
	ClientCPUs []int       `json:"client_cpus,omitempty"`
	Steps      []FloorStep `json:"steps"`                // by rising work
	MeasuredAt time.Time   `json:"measured_at,omitzero"` // where it may be of an earlier run
}

// FloorStep is the exchanges for which the server computed equally long.
type FloorStep struct {
	WorkNs int64  `json:"work_ns"`
	Times  string `json:"times"` // of whole exchanges, ns: a HdrHistogram in its standard encoding
}
