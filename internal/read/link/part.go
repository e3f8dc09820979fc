package link

import (
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/part"
)

// Headline says whether TCP fills the link; on a terminal all questions have their
// answers.
func (l *Link) Headline() part.Headline {
	if l == nil {
		return part.Headline{}
	}
	var all []string
	for _, a := range l.Answers {
		all = append(all, a.Sentence)
	}
	h := part.Headline{Place: part.Before, Sentences: all[:1], Answers: all[1:]}
	if l.Rate == "" { // what the arms do besides is more to the point
		h.Place = part.After
	}
	return h
}

// Part has the questions with their answers, what each setting brings of the link, and
// what options save.
func (l *Link) Part() part.Part {
	p := part.Part{ID: "link", Title: "What fills the link"}
	if l == nil {
		return p
	}
	answers := part.Section{ID: "link-answers", Title: "The questions of a link", Questions: true}
	for _, a := range l.Answers {
		answers.Sentences = append(answers.Sentences, a.Question+" "+a.Sentence)
	}
	if l.Rate != "" {
		answers.Tables = append(answers.Tables, part.Bounded(l.shares()))
	}
	if len(l.Tuned) > 0 {
		answers.Tables = append(answers.Tables, part.Bounded(l.options()))
	}
	p.Sections = []part.Section{answers}
	return p
}

// shares lists what every setting brings of the link, and the cores of both ends.
func (l *Link) shares() part.Table {
	t := part.Table{
		Caption: "The link itself is declared, " + rateWords(l.Rate) + ", and not measured: shares are of that rate, headers counted. A setting fills it where its whole interval is at " +
			part.Percent(l.Spec.Share) + " or above; the intervals of all settings of TCP hold together with 95 %. Cores are those of both ends.",
		Columns: slices.Concat(part.Titles("cell"), part.OfKind(part.Arms, "arm"), part.Titles("the link"), part.Figures("share of the link", "goodput", "cores", "client", "server"), part.OfKind(part.Limits, "limit")),
	}
	for _, x := range l.Settings {
		cores := part.ScaleFor(metric.OfServer+metric.Cores, x.Cores.Value)
		t.Rows = append(t.Rows, []part.Datum{
			part.Word(x.Cell), part.Word(x.Arm), part.Word(string(x.Standing)), part.AmountOf(x.Share, part.ScaleFor(metric.LinkRateShare, x.Share.Value)), part.AmountOf(x.Goodput, part.ScaleFor(metric.Goodput, x.Goodput.Value)),
			part.AmountOf(x.Cores, cores), part.AmountOf(x.Client, cores).Plain(), part.AmountOf(x.Server, cores).Plain(), part.Word(string(x.Limit)),
		})
	}
	return t
}

// options lists what options of TCP save or cost.
func (l *Link) options() part.Table {
	t := part.Table{
		Caption: "Arms of TCP that differ from another of the same transport in options alone: the CPU time of both ends per GB ÷ that arm's. The intervals of all hold together with 95 %.",
		Columns: slices.Concat(part.Titles("cell"), part.OfKind(part.Arms, "arm", "÷"), part.Titles("options"), part.Figures("CPU per GB", "blocks"), part.Titles("remark")),
	}
	for _, x := range l.Tuned {
		t.Rows = append(t.Rows, []part.Datum{
			part.Word(x.Cell), part.Word(x.Arm), part.Word(x.Base), part.Word(part.And(x.Options)),
			{Ratio: part.RatioOver(x.Blocks, x.Blocks, x.CPU.Point, x.CPU.Low, x.CPU.High)}, part.Count(x.Blocks), part.Word(x.Refusal),
		})
	}
	return t
}
