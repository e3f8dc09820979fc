package remote

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"netdyno/internal/input"
	"netdyno/internal/run/rig"
)

const (
	// openTimeout is for a first command at a host: a login, a shell.
	openTimeout = 30 * time.Second
	// putTimeout is for one program over a slow line.
	putTimeout = 5 * time.Minute
	// closeTimeout is for a host to remove what was delivered.
	closeTimeout = 10 * time.Second
)

// ourName begins the name of every directory that is ours to remove.
const ourName = "netdyno-"

// The commands at a host are POSIX sh, with sha256sum(1) and mktemp(1) beside
// POSIX's own; no option is used that busybox lacks. They get what varies as
// arguments and never as text.
const (
	// keep makes a directory with a new name, names it, and removes it when its
	// stdin ends: also when we are killed or the line is cut, be it before anybody
	// heard the name. A job that ends may be told so more than once, and rm must
	// not hear it; a file that is arriving at that moment may be in its way. No
	// signal falls between the making and the promise to remove.
	//
	// It lies in the first directory for temporary files where programs may run: an
	// image may have no /tmp, a root that cannot be written, or a /tmp that is mounted
	// noexec. Whether programs may run there an empty one tells, by the status of what
	// may not be executed: test -x of busybox looks at the mode alone.
	keep = `set -euf
umask 077
trap '' HUP INT TERM PIPE
for place in "${TMPDIR:-/tmp}" /tmp /var/tmp /run "${HOME:-/}" /; do
  d=$(mktemp -d "$place/` + ourName + `XXXXXX" 2>/dev/null) || continue
  : >"$d/runs"
  chmod 700 "$d/runs"
  if "$d/runs" 2>/dev/null || [ $? != 126 ]; then
    rm "$d/runs"
    trap 'trap "" HUP INT TERM; n=0; until rm -rf "$d" 2>/dev/null || [ $n = 10 ]; do n=$((n+1)); sleep 1; done' EXIT
    trap 'exit 0' HUP INT TERM
    printf '%s\n' "$d"
    cat >/dev/null
    exit
  fi
  rm -r "$d"
done
echo "no directory for temporary files that can be written and from which programs may run (of ${TMPDIR:-/tmp}, /var/tmp, /run, ${HOME:-/} and /); mount one, or set TMPDIR there" >&2
exit 1`

	// put writes one file under a name of the shell's own, and gives the file its name
	// when its sum is right; otherwise put removes the file, also when nobody reads
	// the error. put does not make the store's directory: the directory may just have
	// been removed.
	// sha256sum prints the sum before the name everywhere; what it can check by itself
	// varies.
	put = `set -eu
if ! command -v sha256sum >/dev/null; then echo "sha256sum is missing (coreutils and busybox have it)" >&2; exit 1; fi
[ -d "${1%/*}" ] || mkdir "${1%/*}"
trap '' PIPE
trap 'rm -f "$1.$$"' EXIT
trap 'exit 1' HUP INT TERM
cat >"$1.$$"
sum=$(sha256sum <"$1.$$")
if [ "${sum%% *}" != "$2" ]; then echo "the file arrived damaged or incomplete" >&2; exit 1; fi
chmod 755 "$1.$$"
mv "$1.$$" "$1"`
)

// artifact is one file of this host and its content.
type artifact struct {
	path   string
	sha256 string
}

func hashArtifacts(files []string) ([]artifact, error) {
	artifacts := make([]artifact, 0, len(files))
	for _, file := range files {
		sum, err := rig.HashFile(file)
		if err != nil {
			return nil, fmt.Errorf("copy %s: %w", file, err)
		}
		artifacts = append(artifacts, artifact{file, sum})
	}
	return artifacts, nil
}

// store is a directory at a host and the command that keeps it: the directory goes with the
// command, which runs until close or until this process is gone.
type store struct {
	host      rig.Host
	directory string
	kept      *rig.Held
}

// openStore makes the directory.
func openStore(ctx context.Context, h rig.Host) (*store, error) {
	kept, err := rig.Hold(ctx, openTimeout, 0, h.Command("sh", "-c", keep)...)
	var exit *exec.ExitError
	if errors.As(err, &exit) && (exit.ExitCode() == cannotRun || exit.ExitCode() == notFound) {
		err = fmt.Errorf("%w; an image without sh (distroless) cannot be brought programs: add busybox to it, or let rig podman make the image", err)
	}
	if err != nil {
		return nil, fmt.Errorf("reach %s: %w", h.Name, err)
	}
	s := &store{host: h, directory: kept.Line, kept: kept}
	if !path.IsAbs(s.directory) {
		err := fmt.Errorf("it answered %.200q, expected the path of a directory; if its shell prints something at login, stop it from doing so", s.directory)
		return nil, fmt.Errorf("reach %s: %w", h.Name, errors.Join(err, s.close()))
	}
	return s, nil
}

// With these, shells and container runtimes end where the host has no such command.
const cannotRun, notFound = 126, 127

// Temporary is a directory at a host, which goes when it is closed, and when
// this process or the way to the host does.
type Temporary struct{ kept *store }

// NewTemporary makes a directory.
func NewTemporary(ctx context.Context, h rig.Host) (*Temporary, error) {
	s, err := openStore(ctx, h)
	if err != nil {
		return nil, err
	}
	return &Temporary{s}, nil
}

// Path returns where it lies there.
func (t *Temporary) Path() string { return t.kept.directory }

// Close removes the directory with everything in it.
func (t *Temporary) Close() error { return t.kept.close() }

// putArtifacts brings the artifacts and enters where each lies.
func (s *store) putArtifacts(ctx context.Context, artifacts []artifact, there map[string]string) error {
	for _, p := range artifacts {
		target := path.Join(s.directory, p.sha256, filepath.Base(p.path))
		if err := s.bring(ctx, p, target); err != nil {
			return fmt.Errorf("copy %s to %s: %w", filepath.Base(p.path), s.host.Name, err)
		}
		there[p.path] = target
	}
	return nil
}

func (s *store) bring(ctx context.Context, p artifact, target string) error {
	f, err := input.Open(p.path)
	if err != nil {
		return err
	}
	defer f.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, putTimeout, fmt.Errorf("not copied within %v", putTimeout))
	defer cancel()
	_, err = s.host.Ask(ctx, f, "sh", "-c", put, "sh", target, p.sha256)
	return err
}

// there tells whether the directory is still kept, which the host answers
// within a time that is long for it.
func (s *store) there(ctx context.Context) bool {
	const timeout = 5 * time.Second
	if s.kept.Err() != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	_, err := s.host.Ask(ctx, nil, "test", "-d", s.directory)
	return err == nil
}

// abandon ends a holder that has nothing to keep, or cannot be asked to end.
func (s *store) abandon(ctx context.Context) {
	_ = s.kept.Drop() // nothing more is asked of it
	_ = s.remove(ctx) // the host may be gone with it
}

// close ends the holder, which removes the directory.
func (s *store) close() error {
	err := errors.Join(s.kept.Release(), s.kept.Unclean())
	if err == nil || s.remove(context.Background()) == nil && s.ours() {
		return nil
	}
	return fmt.Errorf("clean up %s, where %s may remain: %w", s.host.Name, s.directory, err)
}

// ours tells whether the directory bears our name: the host said where it is, and could say
// anything.
func (s *store) ours() bool { return strings.HasPrefix(path.Base(s.directory), ourName) }

// remove does what a holder could not that was killed.
func (s *store) remove(ctx context.Context) error {
	if !s.ours() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	_, err := s.host.Ask(ctx, nil, "rm", "-rf", s.directory)
	return err
}
