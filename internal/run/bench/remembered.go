package bench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/run/owned"
)

// rememberedFor bounds how long a hello is taken for what the program would say: every
// command asks all programs, which takes longer than a short trial. A hello depends on more
// than the file, such as the interpreter's version.
const rememberedFor = 24 * time.Hour

// hello is what a worker of this host says of itself, or what the same file said less than a
// day ago in the same surroundings. What cannot be read or kept is asked again next time.
func hello(ctx context.Context, path string) (contract.Hello, error) {
	place, err := remembrance(path)
	if err == nil {
		if h, err := recall(place); err == nil {
			return h, nil
		}
	}
	h, heard := hear(ctx, path, []string{path}, syscall.SIGKILL)
	if heard == nil && err == nil {
		_ = remember(place, h)
	}
	return h, heard
}

// remembrance is the file in which the hello of a program is kept: of this very file, in an
// environment that decides which interpreter runs it.
func remembrance(path string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(full)
	if err != nil {
		return "", err
	}
	as, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", errors.New("no identity of " + full)
	}
	what := []string{full, os.Getenv("PATH")}
	for _, variable := range os.Environ() {
		if strings.HasPrefix(variable, "JAVA_") || strings.HasPrefix(variable, "NETDYNO_") || strings.HasPrefix(variable, "PYTHON") || strings.HasPrefix(variable, "NODE_") || strings.HasPrefix(variable, "LD_") {
			what = append(what, variable)
		}
	}
	identity := fmt.Sprintf("%d %d %d %d %d", as.Dev, as.Ino, as.Size, as.Mtim.Nano(), as.Ctim.Nano())
	sum := sha256.Sum256([]byte(strings.Join(append(what, identity), "\x00")))
	return filepath.Join(cache, "netdyno", "hellos", hex.EncodeToString(sum[:])), nil
}

// recall reads a hello that is kept, by the same rules as a worker's.
func recall(place string) (contract.Hello, error) {
	info, err := os.Lstat(place)
	if err != nil {
		return contract.Hello{}, err
	}
	if !info.Mode().IsRegular() {
		return contract.Hello{}, fmt.Errorf("%s is no file", place)
	}
	if err := owned.Check(place, info); err != nil {
		return contract.Hello{}, err
	}
	if age := time.Since(info.ModTime()); age < 0 || age > rememberedFor {
		return contract.Hello{}, fmt.Errorf("%s is too old", place)
	}
	file, err := os.Open(place)
	if err != nil {
		return contract.Hello{}, err
	}
	defer file.Close()
	m, err := contract.NewReader(file).Read()
	if err != nil {
		return contract.Hello{}, err
	}
	if m.Hello == nil || m.Hello.Contract != contract.Version {
		return contract.Hello{}, fmt.Errorf("%s has no hello of contract %d", place, contract.Version)
	}
	return *m.Hello, nil
}

// remember keeps a hello whole or not at all, and drops those that are too old to be recalled:
// each build of a program leaves one.
func remember(place string, h contract.Hello) error {
	directory := filepath.Dir(place)
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return err
	}
	var line bytes.Buffer
	if err := contract.NewWriter(&line).Write(contract.Message{Hello: &h}); err != nil {
		return err
	}
	file, err := os.CreateTemp(directory, "new-")
	if err != nil {
		return err
	}
	_, err = file.Write(line.Bytes())
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), place)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return errors.Join(err, dropOld(directory))
}

func dropOld(directory string) error {
	entries, err := os.ReadDir(directory)
	for _, e := range entries {
		if info, unread := e.Info(); unread == nil && time.Since(info.ModTime()) > rememberedFor {
			err = errors.Join(err, os.Remove(filepath.Join(directory, e.Name())))
		}
	}
	return err
}
