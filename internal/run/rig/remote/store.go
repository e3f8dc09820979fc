package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
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
	// It lies in the cache $1, or without one in the first directory for temporary
	// files where programs may run: an image may have no /tmp, a root that cannot be
	// written, or a /tmp that is mounted noexec. A cache that somebody else could
	// write, or a directory above it that somebody could rename, is refused: what is
	// in it would be theirs to choose. Whether programs may run there an empty one
	// tells, by the status of what may not be executed: test -x of busybox looks at the
	// mode alone.
	keep = `set -euf
umask 077
trap '' HUP INT TERM PIPE
d=
promise() {
  trap 'trap "" HUP INT TERM; n=0; until rm -rf "$d" 2>/dev/null || [ $n = 10 ]; do n=$((n+1)); sleep 1; done' EXIT
  trap 'exit 0' HUP INT TERM
  printf '%s\n' "$d"
  cat >/dev/null
  exit
}
case $1 in
'')
  for place in "${TMPDIR:-/tmp}" /tmp /var/tmp /run "${HOME:-/}" /; do
    d=$(mktemp -d "$place/` + ourName + `XXXXXX" 2>/dev/null) || continue
    : >"$d/runs"
    chmod 700 "$d/runs"
    if "$d/runs" 2>/dev/null || [ $? != 126 ]; then rm "$d/runs"; promise; fi
    rm -r "$d"
  done
  echo "no directory for temporary files that can be written and from which programs may run (of ${TMPDIR:-/tmp}, /var/tmp, /run, ${HOME:-/} and /); mount one, or set TMPDIR there" >&2
  exit 1 ;;
"~/"*) in=$HOME/${1#"~/"} ;;
*) in=$1 ;;
esac
mkdir -p "$in"
in=$(cd -P "$in" && pwd -P)
me=$(id -u) at=$in
while :; do
  set -- $(ls -ldn "$at")
  case $3 in
  0 | "$me") ;;
  *) echo "cache $in: $at belongs to user $3, who could put another program there; choose a directory of your own" >&2; exit 1 ;;
  esac
  case $1 in
  ?????w* | ????????w*)
    case $at:$1 in
    "$in":* | *:?????????[!tT]*) echo "cache $in: others can write $at ($1), and put another program there; chmod go-w it, or choose another directory" >&2; exit 1 ;;
    esac ;;
  esac
  [ "$at" != / ] || break
  at=${at%/*}
  at=${at:-/}
done
d=$(mktemp -d "$in/` + ourName + `XXXXXX")
promise`

	// whole is a function: whether file $2 has the sum $1. sha256sum prints the sum
	// before the name everywhere; what it can check by itself varies.
	whole = `whole() { sum=$(sha256sum <"$2") && [ "${sum%% *}" = "$1" ]; }
`

	// have copies the cache's file $3 to $1, where nobody else can reach it, and
	// tells whether the copy is whole: what was compared is what will run, whoever
	// changes the cache meanwhile.
	have = `set -eu
` + whole + `[ -f "$3" ] && [ ! -L "$3" ] || { echo missing; exit; }
[ -d "${1%/*}" ] || mkdir "${1%/*}"
trap 'rm -f "$1.$$"' EXIT
trap 'exit 1' HUP INT TERM
cp "$3" "$1.$$"
whole "$2" "$1.$$" 2>/dev/null || { echo missing; exit; }
chmod 755 "$1.$$"
mv "$1.$$" "$1"
echo there`

	// stow leaves a copy of $1 in the cache, as $2.
	stow = `set -eu
umask 077
[ -d "${2%/*}" ] || mkdir "${2%/*}"
trap 'rm -f "$2.$$"' EXIT
trap 'exit 1' HUP INT TERM
cp "$1" "$2.$$"
mv -f "$2.$$" "$2"`

	// put writes one file under a name of the shell's own, and gives the file its name
	// when its sum is right; otherwise put removes the file, also when nobody reads
	// the error. put does not make the store's directory: the directory may just have
	// been removed.
	put = `set -eu
` + whole + `if ! command -v sha256sum >/dev/null; then echo "sha256sum is missing (coreutils and busybox have it)" >&2; exit 1; fi
[ -d "${1%/*}" ] || mkdir "${1%/*}"
trap '' PIPE
trap 'rm -f "$1.$$"' EXIT
trap 'exit 1' HUP INT TERM
cat >"$1.$$"
if ! whole "$2" "$1.$$"; then echo "the file arrived damaged or incomplete" >&2; exit 1; fi
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

// store is a directory at a host and the command that keeps it.
type store struct {
	host      rig.Host
	directory string
	cache     string // the directory around it that stays; empty for none
	holder    *exec.Cmd
	hold      io.Closer     // the holder's stdin
	ended     chan struct{} // the holder's end
	failure   error         // how it ended, once it has
	said      rig.Tail
}

// openStore makes the directory. The directory goes with the holder, and the holder runs
// until close or until this process is gone.
func openStore(ctx context.Context, h rig.Host, cache string) (*store, error) {
	line := h.Command("sh", "-c", keep, "sh", cache)
	s := &store{host: h, holder: exec.Command(line[0], line[1:]...), ended: make(chan struct{})}
	s.holder.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.holder.Stderr = &s.said
	s.holder.WaitDelay = time.Second
	stdin, err := s.holder.StdinPipe()
	if err != nil {
		return nil, err
	}
	s.hold = stdin
	stdout, err := s.holder.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.holder.Start(); err != nil {
		return nil, fmt.Errorf("reach %s: %w", h.Name, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, openTimeout, fmt.Errorf("no answer within %v", openTimeout))
	defer cancel()
	s.directory, err = rig.FirstLine(ctx, stdout)
	if err == nil && !path.IsAbs(s.directory) {
		err = fmt.Errorf("it answered %.200q, expected the path of a directory; if its shell prints something at login, stop it from doing so", s.directory)
	}
	if cache != "" && err == nil {
		s.cache = path.Dir(s.directory)
	}
	go func() {
		s.failure = s.holder.Wait() // not before its words are read
		close(s.ended)
	}()
	if errors.Is(err, io.EOF) {
		err = errors.New("it ended without naming a directory" + s.lacksShell())
	}
	if err != nil {
		return nil, fmt.Errorf("reach %s: %w", h.Name, errors.Join(err, s.close()))
	}
	return s, nil
}

// lacksShell returns what to do where the host has no sh, by the status that shells and
// container runtimes end with; empty for any other end.
func (s *store) lacksShell() string {
	const cannotRun, notFound = 126, 127
	select {
	case <-s.ended:
	case <-time.After(time.Second):
		return ""
	}
	if code := s.holder.ProcessState.ExitCode(); code != cannotRun && code != notFound {
		return ""
	}
	return "; an image without sh (distroless) cannot be brought programs: add busybox to it, or let rig podman make the image"
}

// Temporary is a directory at a host, which goes when it is closed, and when
// this process or the way to the host does.
type Temporary struct{ kept *store }

// NewTemporary makes a directory.
func NewTemporary(ctx context.Context, h rig.Host) (*Temporary, error) {
	s, err := openStore(ctx, h, "")
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
	cached := path.Join(s.cache, p.sha256, filepath.Base(p.path))
	if s.cache != "" {
		answer, err := s.host.Ask(ctx, nil, "sh", "-c", have, "sh", target, p.sha256, cached)
		if err != nil || strings.TrimSpace(string(answer)) == "there" {
			return err
		}
	}
	f, err := input.Open(p.path)
	if err != nil {
		return err
	}
	defer f.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, putTimeout, fmt.Errorf("not copied within %v", putTimeout))
	defer cancel()
	if _, err = s.host.Ask(ctx, f, "sh", "-c", put, "sh", target, p.sha256); err != nil || s.cache == "" {
		return err
	}
	_, err = s.host.Ask(ctx, nil, "sh", "-c", stow, "sh", target, cached)
	return err
}

// there tells whether the directory is still kept, which the host answers
// within a time that is long for it.
func (s *store) there(ctx context.Context) bool {
	const timeout = 5 * time.Second
	select {
	case <-s.ended:
		return false
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	_, err := s.host.Ask(ctx, nil, "test", "-d", s.directory)
	return err == nil
}

// abandon ends a holder that has nothing to keep, or cannot be asked to end.
func (s *store) abandon(ctx context.Context) {
	_ = s.hold.Close() // the holder may have closed its end
	select {
	case <-s.ended:
	default:
		_ = syscall.Kill(-s.holder.Process.Pid, syscall.SIGKILL) // it may be ending by itself
		<-s.ended
	}
	_ = s.remove(ctx) // the host may be gone with it
}

// close ends the holder, which removes what is not to stay.
func (s *store) close() error {
	_ = s.hold.Close() // the holder may have closed its end
	var err error
	select {
	case <-s.ended:
		err = s.failure
	case <-time.After(closeTimeout):
		_ = syscall.Kill(-s.holder.Process.Pid, syscall.SIGKILL) // it may be ending by itself
		<-s.ended
		err = fmt.Errorf("it did not end within %v", closeTimeout)
	}
	if err == nil {
		return nil
	}
	if s.directory != "" && s.remove(context.Background()) == nil {
		return nil
	}
	if text := strings.TrimSpace(s.said.String()); text != "" {
		err = fmt.Errorf("%w; it said: %s", err, text)
	}
	if s.directory == "" {
		return err
	}
	return fmt.Errorf("clean up %s, where %s may remain: %w", s.host.Name, s.directory, err)
}

// remove does what a holder could not that was killed. The directory must bear
// our name: the host said where it is, and could say anything.
func (s *store) remove(ctx context.Context) error {
	if !strings.HasPrefix(path.Base(s.directory), ourName) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	_, err := s.host.Ask(ctx, nil, "rm", "-rf", s.directory)
	return err
}
