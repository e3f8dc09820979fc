package owned

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Places returns the directories in which netdyno may keep things of a name for this user
// alone, in the order in which they are tried: under the user's cache, then, where a home is
// absent or read-only, where every system has room for a while.
func Places(name string) (all []string) {
	if cache, err := os.UserCacheDir(); err == nil && filepath.IsAbs(cache) {
		all = append(all, filepath.Join(cache, "netdyno", name))
	}
	if runtime := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(runtime) {
		all = append(all, filepath.Join(runtime, "netdyno", name))
	}
	shared := fmt.Sprintf("netdyno-%d", os.Geteuid()) // others may have made it: see Check
	return append(all, filepath.Join(os.TempDir(), shared, name), filepath.Join("/dev/shm", shared, name))
}

// Private makes the first of the Places that can be written, and returns it. The error names
// all of them, each with what stands in the way, and the variable that names another.
func Private(name string) (string, error) {
	var why error
	for _, place := range Places(name) {
		err := private(place)
		if err == nil {
			return place, nil
		}
		why = errors.Join(why, err)
	}
	return "", fmt.Errorf("no directory can be written to that is this user's alone; set XDG_CACHE_HOME to one: %w", why)
}

// private makes a directory and tries whether there is room in it.
func private(directory string) error {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return err
	}
	for _, at := range []string{filepath.Dir(directory), directory} {
		info, err := os.Lstat(at)
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is no directory", at)
		}
		if err == nil {
			err = Check(at, info)
		}
		if err != nil {
			return err
		}
	}
	file, err := os.CreateTemp(directory, ".room-")
	if err != nil {
		return err
	}
	const room = 64 << 10
	_, err = file.Write(make([]byte, room))
	return errors.Join(err, file.Close(), os.Remove(file.Name()))
}
