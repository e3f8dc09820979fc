package cells

import (
	"fmt"

	"netdyno/internal/read/course"
	"netdyno/internal/read/trial"
)

// readCourses tells of each load that went on in turns what there is to say of its course. A
// server that became faster was warming up: the blocks until it was warm are taken out for
// all arms, whose turns alternate with its own, so that all figures are of the same time.
func (s *Dataset) readCourses() {
	var loads []course.Load
	for at, judged := range s.Places() {
		l := course.Load{Cell: at.Cell, Arm: at.Arm}
		for _, v := range judged {
			if v.Turn.Block > 0 {
				l.Turns = append(l.Turns, v.Turn)
			}
		}
		if len(l.Turns) > 0 {
			loads = append(loads, l)
		}
	}
	all, cut := make([]course.Course, len(loads)), 0
	for i, l := range loads {
		all[i] = course.Of(l, course.Level/float64(len(loads)))
		if c := all[i].Change; c != nil {
			cut = max(cut, c.CutBlock)
		}
	}
	for i, c := range all {
		if c.Change != nil && c.Change.CutBlock > 0 {
			c.Change.CutAt(cut, loads[i])
		}
		if c.Said() {
			s.Courses = append(s.Courses, c)
		}
	}
	for _, v := range s.Trials {
		if v.Trial.TurnS > 0 && v.Trial.Status == trial.Valid && v.Plan.Block <= cut {
			v.Trial.Status, v.Trial.Reason = trial.StatusWarmUp, fmt.Sprintf("a server became faster until block %d", cut)
		}
	}
}
