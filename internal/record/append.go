package record

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/input"
)

// File appends records to a records.jsonl. One goroutine may use it, and one
// process at a time: the file is locked while it is open.
type File struct {
	file  *os.File
	whole int64 // bytes of whole lines
	packs bool  // the records of a mesh of many hosts: a hundred thousand, nearly alike
	bad   error // why nothing more can be appended
}

// Create makes a new records.jsonl with its header. It fails when the file
// exists: a run never overwrites another.
func Create(path string, header Header) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	w := &File{file: f}
	header.Schema = Schema
	if err = w.lock(); err == nil {
		if err = w.writeLine(header); err == nil {
			err = syncDirectory(path)
		}
		w.packs = header.Study.Partners > 0
	}
	if err != nil {
		f.Close()
		return nil, errors.Join(fmt.Errorf("create %s: %w", path, err), os.Remove(path))
	}
	return w, nil
}

// OpenForAppend opens an existing records.jsonl to go on with. A torn last
// line is cut off and reported among the contents' problems, as its trial is
// to be run again; all else stays as it is.
func OpenForAppend(path string) (*File, Contents, error) {
	var c Contents
	f, err := input.OpenToAppend(path)
	if err != nil {
		return nil, c, err
	}
	w := &File{file: f}
	if err := w.resume(&c); err != nil {
		f.Close()
		return nil, c, fmt.Errorf("open %s to append: %w", path, err)
	}
	return w, c, nil
}

func (w *File) resume(c *Contents) error {
	if err := w.lock(); err != nil {
		return err
	}
	extent, err := c.readLines(w.file)
	if err != nil {
		return err
	}
	w.whole, w.packs = extent.whole, c.Header.Study.Partners > 0
	if extent.torn {
		return w.rollBack()
	}
	return nil
}

// lock keeps a second run from appending to the same file. BeingWritten may hold the
// lock for an instant, so a refusal is tried again.
func (w *File) lock() error {
	const tries, between = 20, 5 * time.Millisecond
	var err error
	for range tries {
		if err = syscall.Flock(int(w.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return nil
		}
		time.Sleep(between)
	}
	return fmt.Errorf("another process is writing it: %w", err)
}

// BeingWritten tells whether a process has a records.jsonl open to append to it: a
// run goes on.
func BeingWritten(f *os.File) bool {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		return errors.Is(err, syscall.EWOULDBLOCK)
	}
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // closing it would do so too
	return false
}

// Append writes one record as one whole line and returns when it is on the
// disk. After an error (a full disk) the file ends with its last whole line
// again and Append may be called anew, unless even cutting off failed.
func (w *File) Append(r Record) error {
	r.Schema = Schema
	if err := w.writeLine(r); err != nil {
		return fmt.Errorf("append the record of trial %s to %s: %w", r.Trial.ID, w.file.Name(), err)
	}
	return nil
}

// End writes what the hosts were like after the last trial.
func (w *File) End(after map[string]Host) error {
	return w.add("the facts after the run", addition{After: after})
}

// Allocate writes what is run of a block, before the block's first record.
func (w *File) Allocate(a Allocation) error {
	return w.add(fmt.Sprintf("what runs of block %d", a.Block), addition{Allocated: &a})
}

// Stop writes that no later block will run.
func (w *File) Stop(at Stop) error {
	return w.add(fmt.Sprintf("the stop after %d blocks", at.Blocks), addition{Stopped: &at})
}

// Ask writes what was asked before the run, or before it went on.
func (w *File) Ask(asked []Asked) error {
	return w.add("what was asked before the run", addition{Asked: asked})
}

// Again writes what was recorded of a trial that was disturbed and is made again.
func (w *File) Again(by Disturbance, r Record) error {
	r.Schema = Schema
	return w.add("the disturbed trial "+r.Trial.ID, addition{Again: &attempt{by, r}})
}

// add writes a line that is no record.
func (w *File) add(what string, a addition) error {
	a.Schema = Schema
	if err := w.writeLine(a); err != nil {
		return fmt.Errorf("append %s to %s: %w", what, w.file.Name(), err)
	}
	return nil
}

func (w *File) writeLine(body any) error {
	if w.bad != nil {
		return w.bad
	}
	line, err := encodeLine(body, w.packs)
	if err != nil {
		return err
	}
	_, err = w.file.WriteAt(line, w.whole)
	if err == nil {
		err = w.file.Sync()
	}
	if err != nil {
		return errors.Join(err, w.rollBack())
	}
	w.whole += int64(len(line))
	return nil
}

// rollBack cuts the file to its whole lines.
func (w *File) rollBack() error {
	err := w.file.Truncate(w.whole)
	if err == nil {
		err = w.file.Sync()
	}
	if err != nil {
		w.bad = fmt.Errorf("cut off a torn line: %w", err)
	}
	return w.bad
}

// Close closes the file and releases its lock.
func (w *File) Close() error { return w.file.Close() }

// WriteFileAtomic writes a file as WriteAtomic does.
func WriteFileAtomic(path string, data []byte) error {
	return WriteAtomic(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// WriteAtomic writes a file whole or not at all, also when the power
// goes: a temporary file beside it, synced and renamed, then the directory
// synced. What is there already must be a file: a renamed one would take the
// place of a device, such as /dev/null, for everybody. Nothing is there when write
// fails, and its error is passed on.
func WriteAtomic(path string, write func(io.Writer) error) error {
	if err := replaceable(path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	temporary, err := writeBeside(path, write)
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		if temporary != "" {
			err = errors.Join(err, os.Remove(temporary))
		}
		return fmt.Errorf("write %s: %w", path, unnamed(err))
	}
	return syncDirectory(path)
}

// unnamed is an error without the name of the temporary file that it happened to.
func unnamed(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

func replaceable(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		if info, err = os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is there already and no regular file")
	}
	return nil
}

// besideFile is a temporary file beside another. It is made by the first write, so that
// a process which is killed before leaves nothing.
type besideFile struct {
	path string
	file *os.File
}

func (b *besideFile) Write(p []byte) (int, error) {
	if b.file == nil {
		// Not CreateTemp, whose mode no umask decides.
		name := filepath.Join(filepath.Dir(b.path), "."+filepath.Base(b.path)+"."+rand.Text())
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return 0, err
		}
		b.file = f
	}
	return b.file.Write(p)
}

// writeBeside returns the name of the temporary file as soon as there is one.
func writeBeside(path string, write func(io.Writer) error) (name string, err error) {
	f := besideFile{path: path}
	err = write(&f)
	if err == nil {
		_, err = f.Write(nil) // of what is empty there is a file too
	}
	if f.file == nil {
		return "", err
	}
	if err == nil {
		err = f.file.Sync()
	}
	return f.file.Name(), errors.Join(err, f.file.Close())
}

func syncDirectory(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Asked is how many requests a command sent to an arm's server before it opened the run:
// trials account for their own.
type Asked struct {
	Arm    string `json:"arm"`
	Probe  int64  `json:"probe"`            // to learn how it is to be asked
	Client int64  `json:"client,omitempty"` // by the chosen client, to see whether it can
	Rest   int64  `json:"rest,omitempty"`   // of its load, in no trial: after the last one
	Untold bool   `json:"untold,omitempty"` // it could not, and does not tell what it had sent until then
}

// Sent returns how many requests the trial's clients sent; false where a client that had
// its setup does not tell.
func (r *Record) Sent() (sent contract.Sent, known bool) {
	known = true
	for i := range r.Workers {
		w := &r.Workers[i]
		if w.Role.Serves() || w.Setup == nil {
			continue
		}
		told := w.sent()
		if told == nil {
			known = false
			continue
		}
		sent = sent.Plus(*told)
	}
	return sent, known
}

// sent is what a client says that it sent; nil for nothing.
func (w *Worker) sent() *contract.Sent {
	if w.Result != nil {
		return w.Result.Sent
	}
	for _, e := range w.Errors {
		if e.Fatal && e.Sent != nil {
			return e.Sent
		}
	}
	return nil
}
