package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"
)

// Bounds of an expression.
const (
	mostChecks = 100 // of one contract
	mostLength = 2_000
	mostNodes  = 500
	// memory is what evaluating may allocate, in elements.
	memory = 1_000_000
	// free is how often the bodies of loops may run before time counts, so that
	// ordinary checks come out the same on a machine that is slow or stands still.
	free = 1_000
	// longest is how long all loops of one contract may take from then on.
	longest = 2 * time.Second
)

// functions are those that an expression may call: they look at values, do not
// grow them, and give the same answer every time.
func functions() []string {
	return []string{
		"all", "any", "none", "one", "count", "filter", "map", "find", "findIndex", "findLast", "findLastIndex", "sum",
		"len", "first", "last", "keys", "values", "min", "max", "mean", "median", "abs", "ceil", "floor", "round",
		"int", "float", "string", "type", "trim", "trimPrefix", "trimSuffix", "upper", "lower",
		"indexOf", "lastIndexOf", "hasPrefix", "hasSuffix",
	}
}

// expression is a compiled check.
type expression struct {
	program *vm.Program
	names   []string // that it reads from the output
}

// tick is called before every run of a loop's body. It cannot be written in an
// expression, since no name begins with a space.
const tick = " tick"

// compile reads an expression. Names are the output's keys, of any type; $env
// is the whole output. w may be nil for an expression that is not evaluated.
func compile(check string, w *watch) (e *expression, err error) {
	if len(check) > mostLength {
		return nil, fmt.Errorf("it is longer than %d bytes", mostLength)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	v := &visitor{allowed: functions()}
	program, err := expr.Compile(check,
		expr.AllowUndefinedVariables(), expr.AsBool(), expr.MaxNodes(mostNodes), expr.Patch(v),
		expr.Function(tick, func(...any) (any, error) { return true, w.look() }))
	if v.refused != nil {
		return nil, v.refused
	}
	if err != nil {
		return nil, err
	}
	return &expression{program: program, names: v.names}, nil
}

// evaluate runs a check over an output. A key that is not there makes it an
// error, not false.
func evaluate(check string, object map[string]any, w *watch) (held bool, err error) {
	e, err := compile(check, w)
	if err != nil {
		return false, err
	}
	for _, name := range e.names {
		if _, ok := object[name]; !ok {
			return false, fmt.Errorf("the output has no key %q", name)
		}
	}
	machine := vm.VM{MemoryBudget: memory}
	out, err := machine.Run(e.program, object)
	if err != nil {
		return false, err
	}
	held, ok := out.(bool)
	if !ok {
		return false, fmt.Errorf("it is %T, not yes or no", out)
	}
	return held, nil
}

// visitor walks over an expression once: it notes the names it reads, refuses
// what could grow without bound, and puts a tick before every loop's body.
type visitor struct {
	allowed []string
	names   []string
	refused error
}

// Visit looks at one node, after its children.
func (v *visitor) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if n.Value != "$env" {
			v.names = append(v.names, n.Value)
		}
	case *ast.BuiltinNode:
		if !slices.Contains(v.allowed, n.Name) {
			v.refuse("the function %s is not allowed", n.Name)
		}
	case *ast.CallNode:
		v.refuse("there is no function %s", n.Callee)
	case *ast.VariableDeclaratorNode, *ast.SequenceNode:
		v.refuse("it must be one expression, without let and without semicolons")
	case *ast.BinaryNode:
		if n.Operator == ".." {
			v.refuse("ranges with .. are not allowed")
		}
	case *ast.PredicateNode:
		n.Node = &ast.SequenceNode{Nodes: []ast.Node{
			&ast.CallNode{Callee: &ast.IdentifierNode{Value: tick}}, n.Node,
		}}
	}
}

func (v *visitor) refuse(format string, args ...any) {
	if v.refused == nil {
		v.refused = fmt.Errorf(format, args...)
	}
}

// watch bounds the time of the loops of one contract's checks.
type watch struct {
	ctx   context.Context // ends when the time is over
	ticks int
}

// newWatch starts a watch that lets loops take so long; stop ends it.
func newWatch(most time.Duration) (w *watch, stop func()) {
	ctx, stop := context.WithTimeout(context.Background(), most)
	return &watch{ctx: ctx}, stop
}

var errSlow = errors.New("it takes too long")

// look counts a run of a loop's body, and is an error when the time is over.
func (w *watch) look() error {
	if w.ticks++; w.ticks > free && w.ctx.Err() != nil {
		return errSlow
	}
	return nil
}
