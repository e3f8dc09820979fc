package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"netdyno/internal/metric"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// batchTrials are the trials of one request: about 1 MB as JSON, and far below what a
// collector takes.
const batchTrials = 20

// writeOTLP writes the valid trials as OTLP metrics in JSON, a request on each line, as
// the collector's file exporter writes and its receivers read: a gauge for each metric,
// a point for each trial at the end of its window, and its times as exponential
// histograms, in seconds and bytes.
//
// Source: OpenTelemetry protocol 1.x, JSON Protobuf encoding.
func writeOTLP(w io.Writer, r Run, _ Table) error {
	return eachRequest(r, func(request *metrics.MetricsData) error {
		line, err := otlpJSON(request)
		if err != nil {
			return err
		}
		_, err = w.Write(line)
		return err
	})
}

// otlpJSON is a request on one line. The library varies its spaces on purpose.
func otlpJSON(request *metrics.MetricsData) ([]byte, error) {
	text, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("encode metrics: %w", err)
	}
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		return nil, err
	}
	line.WriteByte('\n')
	return line.Bytes(), nil
}

// eachRequest passes on the run's valid trials as requests, in the order of the plan.
func eachRequest(r Run, send func(*metrics.MetricsData) error) error {
	s, err := r.judged()
	if err != nil {
		return err
	}
	trials := slices.DeleteFunc(slices.Clone(s.Trials), func(v *trial.Judged) bool {
		return v.Record == nil || v.Trial.Status != trial.Valid
	})
	o := otlp{run: r, levels: variedLevels(r)}
	for batch := range slices.Chunk(trials, batchTrials) {
		if err := send(o.request(batch)); err != nil {
			return err
		}
	}
	return nil
}

// pointColumns are the attributes of every point that are no levels.
var pointColumns = []column{{name: "trial"}, {name: "block"}, {name: "cell"}, {name: "arm"}, {name: "repeat"}, {name: "bound"}}

// variedLevels names the varied factors as attributes.
func variedLevels(r Run) levelColumns {
	var all []map[string]string
	for _, t := range r.Plan {
		varied := map[string]string{}
		for _, f := range r.Header.Study.Vary {
			if level, ok := t.Levels[f.Name]; ok && f.Name != r.Header.Study.Compare.Factor {
				varied[f.Name] = level
			}
		}
		all = append(all, varied)
	}
	return levelsOf(r.Header.Study, all, pointColumns)
}

// otlp makes requests of a run's trials.
type otlp struct {
	run    Run
	levels levelColumns
}

func (o otlp) request(batch []*trial.Judged) *metrics.MetricsData {
	var all []*metrics.Metric
	for _, m := range metric.All() {
		if g := o.gauge(m, batch); len(g.GetGauge().GetDataPoints()) > 0 {
			all = append(all, g)
		}
	}
	for _, kind := range []string{record.Service, record.Response, record.Lag} {
		if h := o.times(kind, batch); len(h.GetExponentialHistogram().GetDataPoints()) > 0 {
			all = append(all, h)
		}
	}
	version := valid(o.run.Header.Netdyno)
	return &metrics.MetricsData{ResourceMetrics: []*metrics.ResourceMetrics{{
		Resource: &resource.Resource{Attributes: []*common.KeyValue{
			attribute("service.name", "netdyno"), attribute("service.version", version),
			attribute("netdyno.study", o.run.study()), attribute("netdyno.run", o.run.name()), attribute("netdyno.rig", o.run.Header.Facts.Rig),
		}},
		ScopeMetrics: []*metrics.ScopeMetrics{{Scope: &common.InstrumentationScope{Name: "netdyno", Version: version}, Metrics: all}},
	}}}
}

// otlpName names a metric without its unit, which OTLP has beside it, in UCUM.
func otlpName(m metric.Metric) (name, unit string, scale float64) {
	n := namingOf(m)
	name = "netdyno." + n.stem
	unit = [...]string{ofCount: "1", ofSeconds: "s", ofBytes: "By", ofRatio: "1"}[n.base]
	switch n.per {
	case "":
		return name, unit, n.scale
	case "s":
		return name, unit + "/s", n.scale
	case "gb":
		return name + "_per_byte", unit + "/By", n.scale * 1e-9
	}
	return name + "_per_" + n.per, unit + "/{" + n.per + "}", n.scale
}

func (o otlp) gauge(m metric.Metric, batch []*trial.Judged) *metrics.Metric {
	name, unit, scale := otlpName(m)
	var points []*metrics.NumberDataPoint
	for _, v := range batch {
		x, ok := v.Trial.Values.Of(m.Name)
		if !ok || figure(x*scale) == nil {
			continue
		}
		from, to := windowOf(v)
		points = append(points, &metrics.NumberDataPoint{
			Attributes: o.attributes(v, v.Trial.AtLeast(m.Name)), StartTimeUnixNano: from, TimeUnixNano: to, Value: &metrics.NumberDataPoint_AsDouble{AsDouble: x * scale},
		})
	}
	return &metrics.Metric{
		Name: name, Unit: unit, Description: m.Doc + ": " + m.Formula,
		Data: &metrics.Metric_Gauge{Gauge: &metrics.Gauge{DataPoints: points}},
	}
}

func (o otlp) times(kind string, batch []*trial.Judged) *metrics.Metric {
	var points []*metrics.ExponentialHistogramDataPoint
	for _, v := range batch {
		t, ok := record.NewWindow(v.Record).Times(kind)
		if !ok {
			continue
		}
		point := exponential(t.Least)
		point.Attributes = o.attributes(v, t.Bounded())
		point.StartTimeUnixNano, point.TimeUnixNano = windowOf(v)
		points = append(points, point)
	}
	return &metrics.Metric{
		Name: "netdyno." + kind + "_time", Unit: "s", Description: kind + " times of the exchanges of a trial's window",
		Data: &metrics.Metric_ExponentialHistogram{ExponentialHistogram: &metrics.ExponentialHistogram{
			DataPoints: points, AggregationTemporality: metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA,
		}},
	}
}

// windowOf returns when a trial's window began and ended, in ns since 1970.
func windowOf(v *trial.Judged) (from, to uint64) {
	at := func(ns int64) uint64 { return uint64(max(0, v.Record.StartedAt.Add(time.Duration(ns)).UnixNano())) }
	return at(v.Record.Timeline.OpenNs), at(v.Record.Timeline.CloseNs)
}

// attributes say which trial a point is of, with its varied levels, and whether it is a
// lower bound.
func (o otlp) attributes(v *trial.Judged, atLeast bool) []*common.KeyValue {
	all := []*common.KeyValue{
		attribute("trial", v.Plan.ID), attribute("block", int64(v.Plan.Block)), attribute("cell", v.Plan.Cell),
		attribute("arm", v.Plan.Arm), attribute("repeat", v.Plan.Repeat),
	}
	for i, level := range o.levels.row(v.Plan.Levels) {
		if level != nil {
			all = append(all, attribute(o.levels.columns[i].name, level))
		}
	}
	if atLeast {
		all = append(all, attribute("bound", lowerBound))
	}
	return all
}

func attribute(key string, value any) *common.KeyValue {
	a := &common.AnyValue{}
	switch x := value.(type) {
	case string:
		a.Value = &common.AnyValue_StringValue{StringValue: valid(x)}
	case int64:
		a.Value = &common.AnyValue_IntValue{IntValue: x}
	case float64:
		a.Value = &common.AnyValue_DoubleValue{DoubleValue: x}
	case bool:
		a.Value = &common.AnyValue_BoolValue{BoolValue: x}
	}
	return &common.KeyValue{Key: valid(key), Value: a}
}
