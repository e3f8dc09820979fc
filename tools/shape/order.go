package main

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
)

// refer finds which file of the package uses what other files of it declare:
// package-level names, methods, and fields of types.
func (s *shape) refer(set *token.FileSet, files []*ast.File, of *types.Package, info *types.Info) {
	written := map[string]bool{}
	for _, file := range files {
		written[set.Position(file.Package).Filename] = true
	}
	uses := map[[2]string]map[string]bool{}
	for id, object := range info.Uses {
		if object.Pkg() != of || !object.Pos().IsValid() || !declared(object) {
			continue
		}
		from, to := set.Position(id.Pos()).Filename, set.Position(object.Pos()).Filename
		if from == to || !written[from] || !written[to] {
			continue
		}
		edge := [2]string{filepath.Base(from), filepath.Base(to)}
		if uses[edge] == nil {
			uses[edge] = map[string]bool{}
		}
		uses[edge][object.Name()] = true
	}
	for edge, names := range uses {
		s.references = append(s.references, reference{edge[0], edge[1], slices.Sorted(maps.Keys(names))})
	}
	slices.SortFunc(s.references, func(a, b reference) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	s.back = back(s.references)
}

// declared tells what a file gives to others from what is local to a function.
func declared(object types.Object) bool {
	if v, ok := object.(*types.Var); ok && v.IsField() {
		return false // whoever uses a field uses its type, or was given a value of it
	}
	if f, ok := object.(*types.Func); ok && f.Signature().Recv() != nil {
		return true
	}
	return object.Parent() == object.Pkg().Scope()
}

// back returns the references that run back up in an order of the files in which
// few do: none when the files form layers. The least number is NP-hard to find
// (feedback arc set); this is the greedy order of Eades, Lin and Smyth (1993),
// improved by moving single files while that helps.
func back(references []reference) []reference {
	order := greedy(references)
	for best := len(against(order, references)); best > 0; {
		order = improve(order, references)
		n := len(against(order, references))
		if n == best {
			break
		}
		best = n
	}
	return against(order, references)
}

// against returns the references from a file to one above it. order begins with
// the uppermost file.
func against(order []string, references []reference) []reference {
	place := map[string]int{}
	for i, file := range order {
		place[file] = i
	}
	var found []reference
	for _, r := range references {
		if place[r.from] > place[r.to] {
			found = append(found, r)
		}
	}
	return found
}

// greedy orders files by taking them away one by one: a file that no remaining file uses
// goes to the top, a file that uses no remaining file to the bottom, else the file whose
// uses exceed its users by most goes to the top.
func greedy(references []reference) []string {
	left := map[string]bool{}
	for _, r := range references {
		left[r.from], left[r.to] = true, true
	}
	var top, bottom []string
	for len(left) > 0 {
		out, in := map[string]int{}, map[string]int{}
		for _, r := range references {
			if left[r.from] && left[r.to] {
				out[r.from]++
				in[r.to]++
			}
		}
		files := slices.Sorted(maps.Keys(left))
		pick := slices.MaxFunc(files, func(a, b string) int {
			return cmp.Compare(out[a]-in[a], out[b]-in[b])
		})
		if i := slices.IndexFunc(files, func(f string) bool { return out[f] == 0 }); i >= 0 {
			pick = files[i]
			bottom = append(bottom, pick)
		} else {
			if i := slices.IndexFunc(files, func(f string) bool { return in[f] == 0 }); i >= 0 {
				pick = files[i]
			}
			top = append(top, pick)
		}
		delete(left, pick)
	}
	slices.Reverse(bottom)
	return append(top, bottom...)
}

// improve moves each file to where the fewest references run back up.
func improve(order []string, references []reference) []string {
	for _, file := range slices.Clone(order) {
		without := slices.DeleteFunc(slices.Clone(order), func(f string) bool { return f == file })
		best := len(against(order, references))
		for i := range order {
			moved := slices.Insert(slices.Clone(without), i, file)
			if n := len(against(moved, references)); n < best {
				order, best = moved, n
			}
		}
	}
	return order
}
