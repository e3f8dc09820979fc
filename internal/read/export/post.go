package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"netdyno/internal/printable"
	"netdyno/internal/quantity"
)

const (
	postTimeout = 30 * time.Second // of one request
	mostAnswer  = 64 << 10         // bytes of an answer that are read
	metricsPath = "/v1/metrics"
)

// Sent is what a collector took.
type Sent struct {
	Requests, Points int
	Rejected         int64  // points that the collector refused
	Why              string // the collector's last words on these, or a warning of its
}

// Endpoint returns the address that OTLP metrics are posted to. A URL without a path is
// given OTLP's own. The error says what was expected.
func Endpoint(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("--endpoint %q is no URL; expected one such as http://127.0.0.1:4318%s", quantity.Clip(text, 80), metricsPath)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = metricsPath
	}
	return u.String(), nil
}

// Post sends the valid trials of a run to an OTLP collector, in protobuf over HTTP, and
// returns at the first request that is not taken; what was sent before it stays sent.
// Nothing is tried twice.
func Post(ctx context.Context, endpoint string, r Run) (Sent, error) {
	var sent Sent
	client := http.Client{
		Timeout:       postTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	err := eachRequest(r, func(request *metrics.MetricsData) error {
		body, err := proto.Marshal(request)
		if err != nil {
			return fmt.Errorf("encode metrics: %w", err)
		}
		answer, err := post(ctx, &client, endpoint, body)
		if err != nil {
			return err
		}
		sent.Requests++
		sent.Points += pointsOf(request)
		rejected, why, err := partialSuccess(answer)
		if err != nil {
			return fmt.Errorf("post %s: the answer is no OTLP: %w", endpoint, err)
		}
		sent.Rejected += rejected
		if why != "" {
			sent.Why = why
		}
		return nil
	})
	return sent, err
}

func post(ctx context.Context, client *http.Client, endpoint string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	request.Header.Set("User-Agent", "netdyno")
	reply, err := client.Do(request)
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err
		}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("post %s: %w", endpoint, err)
	}
	defer reply.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(reply.Body, mostAnswer))
	if err != nil {
		return nil, fmt.Errorf("post %s: %w", endpoint, err)
	}
	if reply.StatusCode != http.StatusOK {
		said := quantity.Clip(printable.Text(strings.TrimSpace(string(answer))), 200)
		if said != "" {
			said = ": " + said
		}
		return nil, fmt.Errorf("post %s: the answer is %s%s; expected 200 from an OTLP collector", endpoint, printable.Text(reply.Status), said)
	}
	if kind := reply.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/x-protobuf") {
		return nil, nil // taken, and nothing more is said that we can read
	}
	return answer, nil
}

func pointsOf(request *metrics.MetricsData) int {
	n := 0
	for _, m := range request.ResourceMetrics[0].ScopeMetrics[0].Metrics {
		n += len(m.GetGauge().GetDataPoints()) + len(m.GetExponentialHistogram().GetDataPoints())
	}
	return n
}

// partialSuccess reads an ExportMetricsServiceResponse, whose package needs gRPC: its
// field 1 has the rejected points in field 1 and a message in field 2.
func partialSuccess(answer []byte) (rejected int64, why string, err error) {
	err = eachField(answer, func(number protowire.Number, value []byte, _ uint64) error {
		if number != 1 {
			return nil
		}
		return eachField(value, func(number protowire.Number, value []byte, n uint64) error {
			switch number {
			case 1:
				rejected += max(0, int64(n))
			case 2:
				why = quantity.Clip(printable.Text(string(value)), 200)
			}
			return nil
		})
	})
	return rejected, why, err
}

// eachField walks over a message's fields; n is a varint's value, value that of bytes.
func eachField(b []byte, each func(number protowire.Number, value []byte, n uint64) error) error {
	for len(b) > 0 {
		number, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return protowire.ParseError(size)
		}
		b = b[size:]
		var value []byte
		var n uint64
		switch kind {
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			value, size = protowire.ConsumeBytes(b)
		default:
			size = protowire.ConsumeFieldValue(number, kind, b)
		}
		if size < 0 {
			return protowire.ParseError(size)
		}
		if err := each(number, value, n); err != nil {
			return err
		}
		b = b[size:]
	}
	return nil
}
