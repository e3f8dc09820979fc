package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// followQuestions ask what it costs a run to be followed in a browser.
func (b *bed) followQuestions() []question {
	rate := func(name string, readers int) subject {
		return subject{name, func(ctx context.Context) (figure, error) {
			r, _, err := b.runOnce(ctx, readers)
			return figure{value: r}, err
		}}
	}
	return []question{{
		name: "followed: echo 100 B × 50, while netdyno serve follows with one reader", unit: "exchanges/s", hoped: "≥ 0.99",
		base: []subject{rate("alone", 0)}, others: []subject{rate("followed", 1)},
	}}
}

// following prints what the server itself takes: exact where the rates drown in the
// machine's noise.
func (b *bed) following(ctx context.Context) error {
	fmt.Println("\nfollowing: CPU time of netdyno serve as a share of the run's time (hoped: < 1 % of one CPU with one reader)")
	for _, readers := range []int{1, 1, 1, 1000} {
		_, share, err := b.runOnce(ctx, readers)
		if err != nil {
			return err
		}
		fmt.Printf("  %4d readers  %.2f %%\n", readers, 100*share)
	}
	return nil
}

// runOnce runs a small study by the command line and returns the mean rate of its
// trials. With readers a netdyno serve follows it for them, and share is the server's
// CPU time by the run's time.
func (b *bed) runOnce(ctx context.Context, readers int) (rate, share float64, err error) {
	dir, err := os.MkdirTemp(b.temp, "followed-")
	if err != nil {
		return 0, 0, err
	}
	program := b.netdyno()
	run := exec.CommandContext(ctx, program, "run", "server=go-epoll", "client=go-epoll", "connections=50", "blocks=1",
		"warmup=200ms", "window="+b.window.String(), "--out", filepath.Join(dir, "run"))
	run.WaitDelay = time.Second
	serve := exec.CommandContext(ctx, program, "serve", dir)
	if readers > 0 {
		out, err := serve.StdoutPipe()
		if err != nil {
			return 0, 0, err
		}
		if err := serve.Start(); err != nil {
			return 0, 0, err
		}
		defer func() { _ = serve.Process.Kill() }() // it has ended, as a rule
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			return 0, 0, fmt.Errorf("netdyno serve said %q: %w", line, err)
		}
		reading, stop := context.WithCancel(ctx)
		defer stop()
		for range readers {
			go follow(reading, strings.TrimSpace(strings.TrimPrefix(line, "serve"))+"runs/run/")
		}
	}
	began := time.Now()
	if text, err := run.CombinedOutput(); err != nil {
		return 0, 0, fmt.Errorf("%w: %s", err, text)
	}
	took := time.Since(began)
	if readers > 0 {
		if err := errors.Join(serve.Process.Signal(syscall.SIGINT), serve.Wait()); err != nil {
			return 0, 0, err
		}
		share = (serve.ProcessState.UserTime() + serve.ProcessState.SystemTime()).Seconds() / took.Seconds()
	}
	rate, err = rateOf(filepath.Join(dir, "run", record.RecordsFile))
	return rate, share, err
}

// follow loads a run's page every two seconds, as a browser does.
func follow(ctx context.Context, address string) {
	for ctx.Err() == nil {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return
		}
		if answer, err := http.DefaultClient.Do(request); err == nil {
			_, _ = io.Copy(io.Discard, answer.Body) // the page is for nobody
			answer.Body.Close()
		}
		select {
		case <-ctx.Done():
		case <-time.After(2 * time.Second):
		}
	}
}

// rateOf is the mean rate of a run's trials.
func rateOf(path string) (float64, error) {
	c, err := record.Read(path)
	if err != nil {
		return 0, err
	}
	m, err := metric.Named(metric.ExchangesPerS)
	if err != nil {
		return 0, err
	}
	var rates []float64
	for i := range c.Records {
		if v, ok := m.Value(&c.Records[i]); ok {
			rates = append(rates, v)
		}
	}
	if len(rates) == 0 {
		return 0, fmt.Errorf("%s has no rate", path)
	}
	return mean(rates), nil
}
