package generate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/run/owned"
)

// What is kept: an entry is a directory, named by its key, with one executable
// and the SHA-256 of its content.
const (
	sumFile = "sha256"
	staging = "building-"
	// mostEntries bounds the cache: each entry has the size of a worker, 10 to 40 MiB.
	mostEntries = 40
)

// cache is a directory that only its owner can write to.
type cache struct{ directory string }

// openCache makes the directory where there is none. The error is about one
// that another user could have put something into.
func openCache(directory string) (cache, error) {
	if directory == "" {
		place, err := owned.Private("workers")
		if err != nil {
			return cache{}, fmt.Errorf("keep built workers: %w", err)
		}
		directory = place
	}
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return cache{}, fmt.Errorf("keep built workers: %w", err)
	}
	return cache{directory}, private(directory)
}

// private refuses a directory of another user's, or that others can write to.
func private(directory string) error {
	info, err := os.Lstat(directory)
	if err != nil {
		return fmt.Errorf("keep built workers: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("keep built workers: %s is no directory", directory)
	}
	if err := owned.Check(directory, info); err != nil {
		return fmt.Errorf("keep built workers: %w", err)
	}
	return nil
}

// missing are the workers of which the cache has no intact executable.
func (c cache) missing(m contract.Structure, workers []Worker, tools toolchain) []Worker {
	return slices.DeleteFunc(slices.Clone(workers), func(w Worker) bool {
		_, err := c.path(w.key(m, tools), w)
		return err == nil
	})
}

// path returns the executable of an entry whose content is what was built.
func (c cache) path(key string, w Worker) (string, error) {
	entry := filepath.Join(c.directory, key)
	if err := private(entry); err != nil {
		return "", err
	}
	built := filepath.Join(entry, filepath.Base(w.Path))
	want, err := os.ReadFile(filepath.Join(entry, sumFile))
	if err != nil {
		return "", fmt.Errorf("verify %s: %w", built, err)
	}
	got, err := sum(built)
	if err == nil && got != strings.TrimSpace(string(want)) {
		err = fmt.Errorf("verify %s: its content is not what was built", built)
	}
	if err == nil {
		now := time.Now()
		err = os.Chtimes(entry, now, now) // what is used stays
	}
	return built, err
}

// keep enters an executable under a key, whole or not at all.
func (c cache) keep(executable, key string, w Worker) error {
	entry, err := os.MkdirTemp(c.directory, staging)
	if err != nil {
		return err
	}
	content, err := sum(executable)
	if err == nil {
		err = os.Rename(executable, filepath.Join(entry, filepath.Base(w.Path)))
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(entry, sumFile), []byte(content+"\n"), 0o600)
	}
	kept := filepath.Join(c.directory, key)
	if err == nil {
		err = os.RemoveAll(kept) // one that was damaged
	}
	if err == nil {
		err = os.Rename(entry, kept)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keep built workers: %w", err), os.RemoveAll(entry))
	}
	return nil
}

// lock waits until no other process builds into the cache. What a killed
// process left is removed, and so are the entries that were not used for
// longest.
func (c cache) lock(ctx context.Context) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(c.directory, "lock"), os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keep built workers: %w", err)
	}
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", file.Name(), err), file.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), file.Close())
		case <-time.After(100 * time.Millisecond):
		}
	}
	if err := c.prune(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() { _ = file.Close() }, nil // which unlocks it
}

// prune is called with the lock held.
func (c cache) prune() error {
	entries, err := os.ReadDir(c.directory)
	if err != nil {
		return fmt.Errorf("keep built workers: %w", err)
	}
	used := map[string]time.Time{}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), staging) {
			if err := os.RemoveAll(filepath.Join(c.directory, e.Name())); err != nil {
				return fmt.Errorf("keep built workers: %w", err)
			}
			continue
		}
		if info, err := e.Info(); err == nil && e.IsDir() {
			used[e.Name()] = info.ModTime()
		}
	}
	byUse := slices.SortedFunc(maps.Keys(used), func(a, b string) int { return used[b].Compare(used[a]) })
	for _, name := range byUse[min(len(byUse), mostEntries):] {
		if time.Since(used[name]) < 24*time.Hour {
			continue // a run may be using it
		}
		if err := os.RemoveAll(filepath.Join(c.directory, name)); err != nil {
			return fmt.Errorf("keep built workers: %w", err)
		}
	}
	return nil
}

func sum(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	_, err = io.Copy(hash, file)
	return hex.EncodeToString(hash.Sum(nil)), errors.Join(err, file.Close())
}
