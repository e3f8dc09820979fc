package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/input"
	"netdyno/internal/quantity"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/recorded"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
	"netdyno/internal/run/target"
)

// bodiesOption carries what the requests of each class send.
const bodiesOption = "opt.client.bodies"

// mostClassBody bounds the body of a class that a file holds, in bytes.
const mostClassBody = 32 << 20

// asksClasses reads the workload file of a run by URL; of recorded traffic, whose requests
// say themselves what they are, what the first of each class asks for. Both are nil without
// either.
func (t urlFlags) asksClasses(ctx context.Context, others []string) (file *source.WorkloadFile, recorded []target.Class, err error) {
	name := t.workload
	if name == "" {
		name = (&looked{typed: others}).level(study.WorkloadFactor)
	}
	if name == "" {
		return nil, nil, nil
	}
	if session.Replays(name) {
		recorded, err = t.asksRecorded(ctx, name)
		return nil, recorded, err
	}
	w, err := session.ReadWorkload(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	for i, body := range w.Bodies {
		file, is := strings.CutPrefix(body.Text, "@")
		if !is {
			continue
		}
		if !filepath.IsAbs(file) {
			file = filepath.Join(filepath.Dir(name), file)
		}
		data, err := input.Within(ctx, mostClassBody)(file)
		if err != nil {
			return nil, nil, study.Errorf(body.At, "body: %s", err)
		}
		w.Bodies[i].Text = string(data)
	}
	return &w, nil, nil
}

// needsOf are the features that a client needs for a workload.
func needsOf(w *source.WorkloadFile, recorded []target.Class) []contract.Feature {
	switch {
	case recorded != nil:
		return []contract.Feature{contract.FeatureTrace}
	case w == nil:
		return nil
	}
	load := contract.Load{Classes: w.Classes}
	needs := bench.MixFeatures(load)
	if load.Calls() {
		needs = append(needs, contract.FeatureMethods)
	}
	return needs
}

// ofClass makes an arm whose load mixes classes ask for the first of them alone: option paths
// takes any status 2xx, as a class does.
func ofClass(arm session.Arm, classes []target.Class) session.Arm {
	if len(classes) == 0 {
		return arm
	}
	c := classes[0]
	arm.Levels, arm.Texts = maps.Clone(arm.Levels), maps.Clone(arm.Texts)
	for option, level := range map[string]string{"method": c.Method, "status": strconv.Itoa(c.Status)} {
		if level != "" && level != "0" {
			arm.Levels["opt.client."+option] = level
		}
	}
	for option, text := range map[string]string{"paths": c.Path, "body": c.Body} {
		if text != "" {
			arm.Texts["opt.client."+option] = study.Carried{Bytes: []byte(text)}
		}
	}
	if c.Path != "" {
		delete(arm.Levels, "opt.client.path")
		delete(arm.Texts, "opt.client.path")
	}
	arm.Levels["request"] = strconv.Itoa(len(c.Body)) + "B"
	return arm
}

// asksRecorded is what the first requests of the most frequent classes of recorded traffic ask for. Requests
// whose bodies are not recorded are refused: a server of others would get random bytes.
func (t urlFlags) asksRecorded(ctx context.Context, name string) (all []target.Class, err error) {
	classes, err := t.recordings.Read(ctx, name, remark)
	if err != nil {
		return nil, err
	}
	const most = 8 // that are asked for before a run, and that are named
	slices.SortStableFunc(classes, func(a, b session.Asked) int { return cmp.Compare(b.Requests, a.Requests) })
	var lacking []string
	count := int64(0)
	for _, c := range classes {
		if missing := c.Requests - c.Known; missing > 0 && (c.UpBytes > 0 || recorded.Writes(c.Method)) {
			lacking, count = append(lacking, c.Name), count+missing
		}
		one := target.Class{Name: c.Name, Method: c.Method, Path: c.Path, Body: string(c.Carried.Content), Status: c.Status}
		if c.Carried.MediaType != "" {
			one.Headers = []string{"Content-Type: " + c.Carried.MediaType}
		}
		all = append(all, one)
	}
	if len(lacking) == 0 {
		return all[:min(most, len(all))], nil
	}
	if n := len(lacking); n > most {
		lacking = append(lacking[:most:most], fmt.Sprintf("%d more", n-most))
	}
	return nil, fmt.Errorf("%s has no bodies of %s (%s), and no server of yours gets random bytes: leave them out by netdyno record FORMAT LOG --paths --methods GET,HEAD -o OUT.rec, or write a workload file whose classes have bodies (docs/workloads.md)",
		name, quantity.Plural(int(count), "request"), quantity.And(lacking))
}

// bodyOf is what requests of a class carry; "" where the file does not say.
func bodyOf(w *source.WorkloadFile, class int) (text string, at study.Position) {
	for _, body := range w.Bodies {
		if body.Class == class {
			return body.Text, body.At
		}
	}
	return "", nil
}

// askCalls asks a gRPC server once for each class of a workload, by its method, and returns
// what it found of the first, with the messages of all.
func askCalls(ctx context.Context, workers *session.Workers, asked target.Target, w *source.WorkloadFile) (found target.Found, arm session.Arm, err error) {
	if w == nil {
		return found, arm, errors.New("recorded traffic is of HTTP; a gRPC server takes a workload file whose classes have a method, such as /shop.v1.Cart/Add, and a body as JSON")
	}
	var lines []string
	probes := int64(0)
	for i, class := range w.Classes {
		if !strings.HasPrefix(class.Method, "/") {
			return found, arm, fmt.Errorf("class %s has no method of gRPC; expected one such as /shop.v1.Cart/Add, because %s is a gRPC server", class.Name, asked.URL)
		}
		one := asked
		u, err := target.Parse(asked.URL)
		if err != nil {
			return found, arm, err
		}
		u.Path = class.Method
		text, at := bodyOf(w, i)
		one.URL, one.Data = u.String(), text
		of, by, _, err := findClient(ctx, workers, one)
		if err != nil && at != nil {
			err = study.Errorf(at, "class %s: %s", class.Name, strings.ReplaceAll(err.Error(), "--data", "the body"))
		}
		if err != nil {
			return found, arm, fmt.Errorf("class %s: %w", class.Name, err)
		}
		if of.Levels["opt.client.method_streams"] != "" {
			return found, arm, fmt.Errorf("class %s: method %s streams, and the classes of a workload call unary ones", class.Name, class.Method)
		}
		probes += by.Probe
		body := of.Levels["opt.client.body"]
		if carried, is := of.Texts["opt.client.body"]; is {
			body = string(carried.Bytes)
		}
		lines = append(lines, body)
		stdout.say("%s: class %s: %s", target.Shown(of.URL), class.Name, of.Words)
		if i == 0 {
			found = of
		}
	}
	delete(found.Levels, "opt.client.body")
	delete(found.Texts, "opt.client.body")
	whole := *found.URL
	whole.Path = ""
	found.URL, found.Name, found.Words, found.Asked = &whole, whole.Host, quantity.Plural(len(w.Classes), "method")+", each asked before the run", probes
	arm = armOf(found)
	arm.Asked.Probe = probes
	arm.Texts[bodiesOption] = study.Carried{Bytes: []byte(strings.Join(lines, "\n") + "\n")}
	return found, arm, nil
}

// asksOf are the classes of a workload as a server of HTTP is asked for them; paths are their
// templates, nil without.
func asksOf(w *source.WorkloadFile, paths []string) (all []target.Class) {
	for i, c := range w.Classes {
		body, _ := bodyOf(w, i)
		if body == "" {
			body = strings.Repeat("u", int(min(c.UpBytes, 64<<10)))
		}
		path := strings.ReplaceAll(c.Path, "{key}", "1")
		if paths != nil {
			path = paths[i]
		}
		all = append(all, target.Class{Name: c.Name, Method: c.Method, Path: path, Headers: c.Headers, Body: body, Status: c.Status})
	}
	return all
}

// checkMethods refuses classes of gRPC for a server that is asked by HTTP.
func checkMethods(url string, w *source.WorkloadFile) error {
	for _, class := range w.Classes {
		if strings.HasPrefix(class.Method, "/") {
			return fmt.Errorf("class %s has the method %s of gRPC, and %s is asked by HTTP; expected a method such as GET, or a grpc:// URL", class.Name, class.Method, url)
		}
	}
	return nil
}

// carryBodies gives an arm of HTTP the bodies of a workload's classes, if any has one.
func carryBodies(arm session.Arm, w *source.WorkloadFile) {
	if w == nil || len(w.Bodies) == 0 {
		return
	}
	lines := make([]string, len(w.Classes))
	for i := range lines {
		text, _ := bodyOf(w, i)
		lines[i] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	arm.Texts[bodiesOption] = study.Carried{Bytes: []byte(strings.Join(lines, "\n") + "\n")}
}
