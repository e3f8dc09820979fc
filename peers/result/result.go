// Package result keeps what benchmarks beside peers have measured, with the commit, the
// day and the machine of each figure, and tells which figures are older than the code
// that they speak of. The files are committed, so that docs/benchmarks.md can be written
// from them anywhere.
package result

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Row is one ratio of netdyno to a peer, within the blocks of one run.
type Row struct {
	Study string `json:"study"` // "http1"; or of go run ./peers, its question's first word
	Work  string `json:"work"`  // "8 k requests/s"
	What  string `json:"what"`  // the metric in words
	Asked string `json:"asked,omitempty"`
	Of    string `json:"of,omitempty"` // the arm of ours that is asked of; "" is the best

	Ours      string  `json:"ours"`
	OursValue string  `json:"ours_value,omitempty"` // with its unit
	Peer      string  `json:"peer"`
	Best      bool    `json:"best,omitempty"` // the peer is the best of several in that run, which may be another in the next
	PeerValue string  `json:"peer_value,omitempty"`
	Ratio     float64 `json:"ratio,omitempty"` // netdyno ÷ peer; 0 where it was not told
	Low       float64 `json:"low,omitempty"`   // 95 % interval; 0 with one block
	High      float64 `json:"high,omitempty"`
	Blocks    int     `json:"blocks,omitempty"`
	Note      string  `json:"note,omitempty"` // in the place of a ratio

	Code []string `json:"code"` // paths of the repository whose speed the figure is
	Origin
}

// Origin is when, of which commit and on what a figure was measured.
type Origin struct {
	Date    string `json:"date"`
	Commit  string `json:"commit"` // "+" behind it where files differed
	Machine string `json:"machine"`
}

// Here returns the origin of what is measured now on a machine. Root is the repository's.
func Here(ctx context.Context, root, machine string) (Origin, error) {
	commit, err := git(ctx, root, "rev-parse", "--short=8", "HEAD")
	if err != nil {
		return Origin{}, err
	}
	changed, err := git(ctx, root, "status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs", ":!peers/results")
	if changed != "" {
		commit += "+"
	}
	return Origin{time.Now().Format(time.DateOnly), commit, machine}, err
}

// ThisMachine names the machine that this program runs on.
func ThisMachine() string {
	model, kernel := "", ""
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, _ := strings.Cut(line, ":"); model == "" && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
			}
		}
	}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		kernel = strings.TrimSpace(string(text))
	}
	return Machine(strconv.Itoa(runtime.NumCPU()), model, kernel)
}

// Machine names a machine: "2 CPUs, Intel Xeon, Linux 6.1".
func Machine(cpus, model, kernel string) string {
	return fmt.Sprintf("%s CPUs, %s, Linux %s", cpus, model, kernel)
}

// Changed returns the last commit after a row's that changed the code that it speaks of,
// as "abcd1234 of 2026-01-02"; "" where none did.
func Changed(ctx context.Context, root string, r Row) (string, error) {
	arguments := []string{"log", "-1", "--format=%h of %cs", "--abbrev=8"}
	commit := strings.TrimSuffix(r.Commit, "+")
	if _, err := git(ctx, root, "cat-file", "-e", commit+"^{commit}"); err == nil {
		arguments = append(arguments, commit+"..HEAD")
	} else { // rebased since: its day is left
		arguments = append(arguments, "--since="+r.Date+"T23:59:59")
	}
	return git(ctx, root, append(append(arguments, "--"), r.Code...)...)
}

func git(ctx context.Context, root string, arguments ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", root}, arguments...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", arguments[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Read returns the rows that a directory keeps, by file.
func Read(dir string) ([]Row, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	var all []Row
	for _, path := range paths {
		rows, err := readFile(path)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

func readFile(path string) (rows []Row, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &rows)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return rows, nil
}

// Keep enters rows of one study into its file, in the place of those about the same.
func Keep(dir string, rows []Row) error {
	if len(rows) == 0 {
		return nil
	}
	path := filepath.Join(dir, rows[0].Study+".json")
	all, err := readFile(path)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if at := slices.IndexFunc(all, r.isAbout); at >= 0 {
			all[at] = r
		} else {
			all = append(all, r)
		}
	}
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// isAbout tells whether two rows compare the same: the best of ours may be another arm, and so
// may the best of others where only that is told.
func (r Row) isAbout(other Row) bool {
	return r.Study == other.Study && r.Work == other.Work && r.What == other.What && r.Of == other.Of && (r.Peer == other.Peer || r.Best && other.Best)
}
