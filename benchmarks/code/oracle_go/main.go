// Prints what Go's own type checker makes of a module: one JSON object a line, {src, rel, dst}.
//
//	go run . DIR
//
// A definition is `path::Type::method`, as weft writes it, a file its path. Calls of functions that are values and
// whatever lies outside DIR are left out. What is generated for `go test` and is in no file of DIR is left out too.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

const mode = packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes |
	packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps | packages.NeedModule

type edge struct {
	Src string `json:"src"`
	Rel string `json:"rel"`
	Dst string `json:"dst"`
}

type oracle struct {
	root  string
	fset  *token.FileSet
	names map[string]string // what is defined at "path:line:column"
	seen  map[edge]bool
	out   *json.Encoder
}

func main() {
	root, err := filepath.Abs(os.Args[1])
	if err != nil {
		fail(err)
	}
	fset := token.NewFileSet()
	found, err := packages.Load(&packages.Config{Mode: mode, Dir: root, Fset: fset, Tests: true}, "./...")
	if err != nil {
		fail(err)
	}
	buffered := bufio.NewWriter(os.Stdout)
	defer buffered.Flush()
	o := &oracle{root, fset, map[string]string{}, map[edge]bool{}, json.NewEncoder(buffered)}
	for _, p := range found {
		for _, e := range p.Errors {
			fmt.Fprintln(os.Stderr, e)
		}
		for _, f := range p.Syntax {
			o.define(f)
		}
	}
	for _, p := range found {
		for _, f := range p.Syntax {
			o.read(p, f)
		}
	}
	o.implement(found)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func (o *oracle) say(src, rel, dst string) {
	e := edge{src, rel, dst}
	if src == "" || dst == "" || o.seen[e] {
		return
	}
	o.seen[e] = true
	if err := o.out.Encode(e); err != nil {
		fail(err)
	}
}

// path is relative to the root, or empty if it is outside.
func (o *oracle) path(pos token.Pos) string {
	name, err := filepath.Rel(o.root, o.fset.Position(pos).Filename)
	if err != nil || strings.HasPrefix(name, "..") || !strings.HasSuffix(name, ".go") {
		return ""
	}
	return filepath.ToSlash(name)
}

func (o *oracle) at(pos token.Pos) string {
	p := o.fset.Position(pos)
	return fmt.Sprintf("%s:%d:%d", p.Filename, p.Line, p.Column)
}

func (o *oracle) define(f *ast.File) {
	path := o.path(f.Pos())
	if path == "" {
		return
	}
	o.say(path, "READS", path)
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			o.names[o.at(d.Name.Pos())] = path + "::" + key(d)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				t, ok := s.(*ast.TypeSpec)
				if !ok {
					continue
				}
				o.names[o.at(t.Name.Pos())] = path + "::" + t.Name.Name
				if i, ok := t.Type.(*ast.InterfaceType); ok {
					for _, m := range i.Methods.List {
						for _, n := range m.Names {
							o.names[o.at(n.Pos())] = path + "::" + t.Name.Name + "::" + n.Name
						}
					}
				}
			}
		}
	}
}

func key(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	for {
		switch inner := t.(type) {
		case *ast.StarExpr:
			t = inner.X
		case *ast.ParenExpr:
			t = inner.X
		case *ast.IndexExpr:
			t = inner.X
		case *ast.IndexListExpr:
			t = inner.X
		case *ast.Ident:
			return inner.Name + "::" + d.Name.Name
		default:
			return d.Name.Name
		}
	}
}

func (o *oracle) read(p *packages.Package, f *ast.File) {
	path := o.path(f.Pos())
	if path == "" {
		return
	}
	for _, d := range f.Decls {
		owner := path
		if fn, ok := d.(*ast.FuncDecl); ok {
			owner = path + "::" + key(fn)
		}
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
			continue
		}
		o.uses(p, path, owner, d)
	}
	for _, i := range f.Imports {
		if q := p.Imports[strings.Trim(i.Path.Value, "\"`")]; q != nil && len(q.GoFiles) > 0 {
			if rel, err := filepath.Rel(o.root, filepath.Dir(q.GoFiles[0])); err == nil && !strings.HasPrefix(rel, "..") {
				o.say(path, "IMPORTS_PACKAGE", filepath.ToSlash(rel))
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				if _, ok := p.TypesInfo.Uses[x].(*types.PkgName); ok {
					if used := p.TypesInfo.Uses[s.Sel]; used != nil {
						o.say(path, "IMPORTS", o.path(used.Pos()))
						o.say(path, "DEPENDS_ON", o.names[o.at(used.Pos())])
					}
				}
			}
		}
		return true
	})
}

func (o *oracle) uses(p *packages.Package, path, owner string, d ast.Node) {
	info := p.TypesInfo
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			o.construct(owner, info.TypeOf(n))
		case *ast.CallExpr:
			fun := ast.Unparen(n.Fun)
			if info.Types[fun].IsType() {
				o.construct(owner, info.TypeOf(fun))
				return true
			}
			if i, ok := fun.(*ast.IndexExpr); ok {
				fun = i.X
			} else if i, ok := fun.(*ast.IndexListExpr); ok {
				fun = i.X
			}
			var used types.Object
			switch fun := fun.(type) {
			case *ast.Ident:
				used = info.Uses[fun]
			case *ast.SelectorExpr:
				used = info.Uses[fun.Sel]
			}
			switch used := used.(type) {
			case *types.Func:
				o.say(owner, "CALLS", o.names[o.at(used.Origin().Pos())])
			case *types.Builtin:
				if (used.Name() == "new" || used.Name() == "make") && len(n.Args) > 0 {
					o.construct(owner, info.TypeOf(n.Args[0]))
				}
			}
		}
		return true
	})
}

func (o *oracle) construct(owner string, t types.Type) {
	if t == nil {
		return
	}
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		o.say(owner, "CALLS", o.names[o.at(n.Origin().Obj().Pos())])
	}
}

// implement says which types of the module meet which of its interfaces, and which types they embed.
func (o *oracle) implement(found []*packages.Package) {
	for _, p := range found {
		seen := []*types.Package{p.Types}
		for _, i := range p.Types.Imports() {
			seen = append(seen, i)
		}
		for _, name := range p.Types.Scope().Names() {
			n := o.named(p.Types.Scope().Lookup(name))
			if n == nil {
				continue
			}
			o.embed(n)
			if types.IsInterface(n) {
				continue
			}
			for _, other := range seen {
				for _, name := range other.Scope().Names() {
					i := o.named(other.Scope().Lookup(name))
					if i == nil || !types.IsInterface(i) || i.TypeParams() != nil || n.TypeParams() != nil {
						continue
					}
					face := i.Underlying().(*types.Interface)
					if face.NumMethods() > 0 && (types.Implements(n, face) || types.Implements(types.NewPointer(n), face)) {
						o.say(o.names[o.at(n.Obj().Pos())], "IMPLEMENTS", o.names[o.at(i.Obj().Pos())])
					}
				}
			}
		}
	}
}

func (o *oracle) named(object types.Object) *types.Named {
	t, ok := object.(*types.TypeName)
	if !ok || t.IsAlias() || o.names[o.at(t.Pos())] == "" {
		return nil
	}
	n, _ := t.Type().(*types.Named)
	return n
}

func (o *oracle) embed(n *types.Named) {
	say := func(t types.Type) {
		t = types.Unalias(t)
		if p, ok := t.(*types.Pointer); ok {
			t = types.Unalias(p.Elem())
		}
		if e, ok := t.(*types.Named); ok {
			o.say(o.names[o.at(n.Obj().Pos())], "EXTENDS", o.names[o.at(e.Origin().Obj().Pos())])
		}
	}
	switch u := n.Underlying().(type) {
	case *types.Struct:
		for i := 0; i < u.NumFields(); i++ {
			if u.Field(i).Embedded() {
				say(u.Field(i).Type())
			}
		}
	case *types.Interface:
		for i := 0; i < u.NumEmbeddeds(); i++ {
			say(u.EmbeddedType(i))
		}
	}
}
