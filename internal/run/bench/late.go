package bench

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"netdyno/internal/contract"
)

// examineTimeout bounds the wait for a meter's answer about its worker. A meter does
// nothing but wait for its worker, so a meter that is alone and well answers at once.
const examineTimeout = 2 * time.Second

// late ends the trial because a worker has left a command unanswered, with what the
// kernel shows of the reason. It asks the meters of all workers: a client waits for
// a server that stands still.
func (t *trial) late(c *conversation, answer string, waited time.Duration) {
	t.examining.Lock() // several workers may be late at once, for one reason
	defer t.examining.Unlock()
	if c.trial.Err() != nil {
		return
	}
	missing := fmt.Sprintf("no %s within %v", answer, waited)
	seen := t.examine()
	if t.failBlocked(seen, fmt.Sprintf("no %s of %s within %v", answer, c.worker.Name, waited)) {
		return
	}
	c.failed(contract.Timeout, c.lateText(seen[c], missing, waited))
}

// explain ends the trial when a meter shows why a client has lost its server, or
// waited for it too long. It tells whether a server may have ended of which nothing is
// heard yet: its meter, on this host, shows it so, or has not come to answer.
func (t *trial) explain(told *failure) (open bool) {
	t.examining.Lock()
	defer t.examining.Unlock()
	if len(t.clients) == 0 || t.clients[0].trial.Err() != nil {
		return false
	}
	seen := t.examine()
	t.failBlocked(seen, fmt.Sprintf("%s says: %s", told.Worker, told.Text))
	for c, x := range seen {
		if !c.serverOurs && c.metered && len(c.host.Prefix) == 0 && (x == nil || x.Ended) {
			open = true
		}
	}
	return open
}

// examine asks every worker's meter what it sees.
func (t *trial) examine() map[*conversation]*contract.Examined {
	var mu sync.Mutex
	seen := map[*conversation]*contract.Examined{}
	var asked sync.WaitGroup
	for _, c := range t.all {
		asked.Go(func() {
			x := c.examine()
			mu.Lock()
			defer mu.Unlock()
			seen[c] = x
		})
	}
	asked.Wait()
	return seen
}

// failBlocked fails the first worker that something from outside keeps from working,
// with the consequence that was noticed, and reports whether there is one.
func (t *trial) failBlocked(seen map[*conversation]*contract.Examined, consequence string) bool {
	for _, c := range t.all {
		switch x := seen[c]; {
		case x == nil:
		case len(x.Stopped) > 0:
			c.endWith(contract.Timeout, stoppedText(x.Stopped[0])+"; "+consequence)
			return true
		case len(x.Exhausted) > 0:
			e := x.Exhausted[0]
			c.endWith(contract.SetupFailed, fmt.Sprintf("%s has all of its %d file descriptors open: raise `ulimit -n`; %s", e.Name, e.Descriptors, consequence))
			return true
		}
	}
	return false
}

// endWith ends the trial with a failure of this worker, whatever it has said.
func (c *conversation) endWith(kind contract.ErrorKind, text string) {
	c.mu.Lock()
	f := c.failure(kind, text)
	c.mu.Unlock()
	c.end(f)
}

// awaitCause waits for why a client has lost its server, and ends the trial with the
// client's own word when nothing else is told.
func (c *conversation) awaitCause(f *failure) {
	defer close(c.told)
	for begun := time.Now(); c.trial.Err() == nil; {
		open := c.explain(f)
		if f.Kind != contract.Peer {
			break
		}
		select { // it may be dead: its meter tells
		case <-time.After(causeTimeout):
		case <-c.trial.Done():
		}
		if !open || time.Since(begun) >= starvedTimeout {
			break
		}
	}
	c.end(f)
}

func stoppedText(s contract.Stopped) string {
	by := "SIGSTOP"
	if s.Traced {
		by = "by a debugger"
	}
	return fmt.Sprintf("%s is stopped (%s): process %d", s.Name, by, s.PID)
}

// lateText says what is known of why the worker is late.
func (c *conversation) lateText(seen *contract.Examined, missing string, waited time.Duration) string {
	switch {
	case seen == nil && c.process.Stopped():
		return "the command that reaches the worker is stopped (SIGSTOP); " + missing
	case seen == nil && len(c.host.Prefix) > 0:
		return missing + ", and its meter does not answer either: the host or the connection to it is gone"
	case seen == nil:
		return missing
	}
	c.mu.Lock()
	state, setup := c.state, c.worker.Setup
	c.mu.Unlock()
	switch {
	case seen.UnreadBytes > 0:
		return missing + "; the worker does not read its commands"
	case state != "idle" || seen.Reached == nil || setup == nil:
		return missing
	}
	return connectText(setup.Peers, *seen.Reached, missing, waited)
}

// connectText says how far a client came that is not ready.
func connectText(peers []string, reached contract.Reached, missing string, waited time.Duration) string {
	server := "the server at " + strings.Join(peers[:min(len(peers), maxNamed)], " ")
	switch {
	case reached.Connections == 0:
		return fmt.Sprintf("%s has not accepted a connection for %v; %s", server, waited, missing)
	case reached.ReceivedBytes == 0:
		return fmt.Sprintf("%s accepted %s and %s for %v; %s", server, connectionsText(reached.Connections), saidNothing, waited, missing)
	case reached.Silent > 0:
		return fmt.Sprintf("%s accepted %s and said nothing on %d of them for %v; %s", server, connectionsText(reached.Connections), reached.Silent, waited, missing)
	}
	return fmt.Sprintf("%s sent %d bytes on %s and no whole reply on each for %v; %s", server, reached.ReceivedBytes, connectionsText(reached.Connections), waited, missing)
}

// saidNothing is of a server whose connections carried nothing to the client.
const saidNothing = "said nothing"

// maxNamed bounds the addresses in a sentence.
const maxNamed = 3

func connectionsText(n int) string {
	if n == 1 {
		return "the connection"
	}
	return fmt.Sprintf("%d connections", n)
}

// examine asks the worker's meter what it sees; nil without an answer.
func (c *conversation) examine() *contract.Examined {
	if !c.metered {
		return nil
	}
	select {
	case <-c.examined: // an answer that came too late for an earlier question
	default:
	}
	if err := c.process.Send(contract.Message{Examine: &contract.Examine{}}); err != nil {
		return nil // it is gone; how it ended is told elsewhere
	}
	select {
	case x := <-c.examined:
		return x
	case <-c.trial.Done():
		return nil
	case <-time.After(examineTimeout):
		return nil
	}
}
