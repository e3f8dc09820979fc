package session

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"netdyno/internal/contract"
	"netdyno/internal/input"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/message"
	"netdyno/internal/run/owned"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// MostText bounds a text that requests carry, in bytes.
const MostText = 64 << 20

// texts are the files that a run carries to its hosts, by the level that stands for each
// file. An ordinary text lies in the run's directory under its hash, so that the level
// tells the text. A secret lies outside the run's directory until the run ends, under a
// name that tells nothing of its content.
type texts struct {
	held    map[string]study.Carried
	secrets string // the directory of this process's secret ones; "" before they are written
	staged  bool   // all are there, as the rig brings them to its hosts
}

// addText returns the level that stands for a text.
func (t *texts) addText(text study.Carried) string {
	level := study.GivenPrefix + hash(text.Bytes)
	if text.Secret {
		level = study.SecretPrefix + rand.Text()
	}
	t.hold(level, text)
	return level
}

func (t *texts) hold(level string, text study.Carried) {
	if t.held == nil {
		t.held = map[string]study.Carried{}
	}
	t.held[level] = text
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// takeTexts reads the files that a study's options name, relative to its directory, and
// puts in their place the levels that stand for them.
func (t *texts) takeTexts(ctx context.Context, s *study.Study, directory, begunBy string) error {
	read := input.Within(ctx, MostText)
	if err := s.ReadSizes(func(name string, most int64) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(directory, name)
		}
		return input.Within(ctx, most)(name)
	}); err != nil {
		return err
	}
	return s.Given(func(level string) (string, error) {
		name := strings.TrimPrefix(level, "@")
		if _, held := t.held[level]; held {
			return level, nil
		}
		if strings.HasPrefix(level, study.SecretPrefix) {
			if begunBy == "" {
				return "", errors.New("headers, rows, or a path or body, of the run that this is of are secret and were not kept; begin another by its command")
			}
			return "", fmt.Errorf("the run's headers or rows, or its path or body, are secret and were not kept; to go on give the command that began it again, with what stands as *** in it and with --out %s --resume: %s", directory, quantity.Clip(begunBy, 400))
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(directory, name)
		}
		text, err := read(name)
		if err != nil {
			return "", err
		}
		now := t.addText(study.Carried{Bytes: text})
		if strings.HasPrefix(level, study.GivenPrefix) && now != level {
			return "", fmt.Errorf("%s is not what the run began with", name)
		}
		return now, nil
	})
}

// writeTexts writes the texts: those of the run into its directory, secret ones elsewhere.
func (t *texts) writeTexts(d Directory) error {
	for _, level := range slices.Sorted(maps.Keys(t.held)) {
		text := t.held[level]
		if text.File != "" {
			continue
		}
		name := filepath.Join(d.Given(), strings.TrimPrefix(level, study.GivenPrefix))
		if text.Secret {
			var err error
			if name, err = t.elsewhere(level); err != nil {
				return err
			}
		}
		if err := writePrivate(name, text.Bytes); err != nil {
			return err
		}
	}
	return nil
}

// stage writes all texts outside the run's directory, for a rig that brings them to
// its hosts before there is a directory. The files are returned.
func (t *texts) stage() (files []string, err error) {
	for _, level := range slices.Sorted(maps.Keys(t.held)) {
		name, err := t.elsewhere(level)
		if file := t.held[level].File; file != "" {
			name = file
		} else if err == nil {
			err = writePrivate(name, t.held[level].Bytes)
		}
		if err != nil {
			return nil, err
		}
		files = append(files, name)
	}
	t.staged = true
	return files, nil
}

// writePrivate writes a file that only its owner may read.
func writePrivate(name string, text []byte) error {
	if _, err := os.Lstat(name); err == nil {
		return nil // of the same content, by its name
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// elsewhere returns the file of a text outside the run's directory. Directories of processes that are gone
// are removed: one that was killed could not.
func (t *texts) elsewhere(level string) (string, error) {
	if t.secrets == "" {
		directory, err := secretDirectory("")
		if err != nil {
			return "", err
		}
		t.secrets = directory
	}
	return filepath.Join(t.secrets, filepath.Base(level)), nil
}

// secretDirectory names this process's directory outside of any run's, which only its owner
// reads, and removes those of processes that are gone.
func secretDirectory(suffix string) (string, error) {
	RemoveAbandoned()
	place, err := owned.Private(secrets)
	if err != nil {
		return "", fmt.Errorf("keep what requests carry while the run goes on: %w", err)
	}
	return filepath.Join(place, strconv.Itoa(os.Getpid())+suffix), nil
}

const secrets = "secret"

const rowsSuffix = "-rows"

// ForRows makes this process's directory for rows that requests are filled with, which
// RemoveRows removes.
func ForRows() (string, error) {
	directory, err := secretDirectory(rowsSuffix)
	if err == nil {
		err = os.MkdirAll(directory, 0o700)
	}
	return directory, err
}

// RemoveRows removes that directory, if there is one.
func RemoveRows() error {
	for _, place := range owned.Places(secrets) {
		rows := filepath.Join(place, strconv.Itoa(os.Getpid())+rowsSuffix)
		if _, err := os.Lstat(rows); err != nil {
			continue // not made there; a directory that this user may not even read is another's
		}
		return os.RemoveAll(rows)
	}
	return nil
}

// RemoveAbandoned removes what was secret of processes that were killed.
func RemoveAbandoned() {
	for _, place := range owned.Places(secrets) {
		removeAbandoned(place)
	}
}

func removeAbandoned(all string) {
	entries, _ := os.ReadDir(all) // none yet
	for _, e := range entries {
		if info, err := e.Info(); err != nil || owned.Check(e.Name(), info) != nil {
			continue
		}
		of, _, _ := strings.Cut(e.Name(), "-")
		if pid, err := strconv.Atoi(of); err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.RemoveAll(filepath.Join(all, e.Name())) // another process may be doing it
		}
	}
}

// path returns the file of a level on a host, whose files that were brought there
// are known by their paths here.
func (t *texts) path(d Directory, host rig.Host, level string) (string, error) {
	text, held := t.held[level]
	if !held {
		return "", fmt.Errorf("%s was not read before the run", level)
	}
	if !text.Secret && !t.staged {
		return filepath.Abs(filepath.Join(d.Given(), strings.TrimPrefix(level, study.GivenPrefix)))
	}
	name, err := t.elsewhere(level)
	if text.File != "" {
		name = text.File
	}
	if there := host.Files[name]; there != "" {
		name = there
	}
	return name, err
}

// remove removes the secret texts.
func (t *texts) remove() error {
	if t.secrets == "" {
		return nil
	}
	return os.RemoveAll(t.secrets)
}

// begunSecrets gives the arms' secret texts the levels that they had when the run in a
// directory began. So a run can be resumed after its secrets were renewed.
func (t *texts) begunSecrets(r Request) error {
	if !r.Resume || r.Continue {
		return nil
	}
	dir := r.Out
	if name := r.studyName(); name != "" && dir == "" {
		dir, _ = latest(name) // resuming says that there is none
	}
	if dir == "" {
		return nil
	}
	trials, err := record.ReadTrials(dir.Trials())
	if errors.Is(err, fs.ErrNotExist) {
		return nil // resuming says so
	}
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	for _, arm := range r.Arms {
		for factor, text := range arm.Texts {
			i := slices.IndexFunc(trials, func(t record.Trial) bool {
				return t.Arm == arm.Name && strings.HasPrefix(t.Levels[factor], study.SecretPrefix)
			})
			if text.Secret && i >= 0 {
				t.hold(trials[i].Levels[factor], text)
				arm.Levels[factor] = trials[i].Levels[factor]
			}
		}
	}
	return nil
}

// name enters the levels of the arms' texts.
func (t *texts) name(r Request) error {
	if err := t.begunSecrets(r); err != nil {
		return err
	}
	for _, arm := range r.Arms {
		for factor, text := range arm.Texts {
			if arm.Levels[factor] == "" {
				arm.Levels[factor] = t.addText(text)
			}
		}
	}
	return nil
}

// resolveMessages resolves every message of the plan, so that a mistake in a .proto
// or its data shows before the first trial.
func resolveMessages(ctx context.Context, trials []record.Trial) (map[string]contract.Structure, error) {
	resolved := map[string]contract.Structure{}
	read := input.Within(ctx, max(message.MaxProto, message.MaxValues)+1) // one byte more shows that a file is too large
	for _, t := range trials {
		work, err := study.Decode(t.Levels)
		if err != nil {
			return nil, err
		}
		if _, known := resolved[work.Message]; known || work.Message == "" {
			continue
		}
		if resolved[work.Message], err = message.Resolve(work.Message, read); err != nil {
			return nil, err
		}
	}
	return resolved, nil
}

// maxMessages bounds a run's own file of its messages, in bytes.
const maxMessages = 256 << 20

// sameMessages refuses to go on with a run whose messages have changed since.
func (d Directory) sameMessages(now map[string]contract.Structure) error {
	text, err := input.Whole(d.Messages(), maxMessages)
	if errors.Is(err, fs.ErrNotExist) && len(now) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	var before map[string]contract.Structure
	if err := json.Unmarshal(text, &before); err != nil {
		return fmt.Errorf("resume: %s: %w", d.Messages(), err)
	}
	for level, m := range now {
		if !reflect.DeepEqual(before[level], m) {
			return fmt.Errorf("resume: message %s is not what the run began with (%s); its trials could not be compared", level, d.Messages())
		}
	}
	return nil
}
