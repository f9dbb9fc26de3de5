package main

import (
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// scope is what names can mean at one place of a statement.
type scope struct {
	relations []relation
	ctes      map[string]relation
	outer     *scope
}

// relation is one table of a FROM clause. Its columns may have no definition: those of functions and expressions.
type relation struct {
	name    string
	columns map[string]*column
}

func (s *scope) child(relations ...relation) *scope {
	return &scope{relations: relations, outer: s}
}

func (s *scope) cte(name string) (relation, bool) {
	for at := s; at != nil; at = at.outer {
		if found, isKnown := at.ctes[name]; isKnown {
			return found, true
		}
	}
	return relation{}, false
}

// column finds what a name means, innermost first.
func (s *scope) column(table, name string) (*column, bool) {
	for at := s; at != nil; at = at.outer {
		for _, one := range at.relations {
			if table != "" && one.name != table {
				continue
			}
			if found, isKnown := one.columns[name]; isKnown {
				return found, true
			}
		}
	}
	return nil, false
}

// resolveStatement resolves every name of a statement and returns what it yields.
func (c *checker) resolveStatement(statement tree.Statement, outer *scope) relation {
	switch s := statement.(type) {
	case *tree.Select:
		return c.resolveSelect(s, outer)
	case *tree.ParenSelect:
		return c.resolveSelect(s.Select, outer)
	case *tree.Insert:
		return c.resolveInsert(s, outer)
	case *tree.Update:
		within := c.with(s.With, outer)
		target := c.target(s.Table)
		from := within.child(append([]relation{target}, c.resolveTables(s.From, within)...)...)
		c.resolveAssignments(s.Exprs, target, from)
		c.resolveWhere(s.Where, from)
		return c.resolveReturning(s.Returning, from)
	case *tree.Delete:
		within := c.with(s.With, outer)
		target := c.target(s.Table)
		from := within.child(append([]relation{target}, c.resolveTables(s.Using, within)...)...)
		c.resolveWhere(s.Where, from)
		return c.resolveReturning(s.Returning, from)
	}
	return relation{}
}

func (c *checker) resolveSelect(selected *tree.Select, outer *scope) relation {
	within := c.with(selected.With, outer)
	switch body := selected.Select.(type) {
	case *tree.SelectClause:
		from := within.child(c.resolveTables(body.From.Tables, within)...)
		yielded := c.resolveOutputs(body.Exprs, from)
		c.resolveWhere(body.Where, from)
		c.resolveWhere(body.Having, from)
		c.resolveExpressions(tree.Exprs(body.GroupBy), from)
		c.resolveOrder(selected.OrderBy, from.child(yielded))
		c.resolveLimit(selected.Limit, from)
		return yielded
	case *tree.ParenSelect:
		return c.resolveSelect(body.Select, within)
	case *tree.UnionClause:
		yielded := c.resolveSelect(body.Left, within)
		c.resolveSelect(body.Right, within)
		c.resolveOrder(selected.OrderBy, within.child(yielded))
		c.resolveLimit(selected.Limit, within)
		return yielded
	case *tree.ValuesClause:
		for _, row := range body.Rows {
			c.resolveExpressions(row, within)
		}
	}
	return relation{columns: map[string]*column{}}
}

func (c *checker) resolveInsert(insert *tree.Insert, outer *scope) relation {
	within := c.with(insert.With, outer)
	target := c.target(insert.Table)
	if len(insert.Columns) == 0 {
		c.report("star", "an INSERT names its columns")
	}
	c.resolveColumns(insert.Columns, target)
	c.resolveSelect(insert.Rows, within)
	if conflict := insert.OnConflict; conflict != nil && !conflict.IsUpsertAlias() {
		c.resolveColumns(conflict.Columns, target)
		name, _ := targetOf(insert.Table)
		if on := c.schema[name]; on != nil && !on.hasUnique(conflict.Columns.ToStrings()) {
			c.report("conflict", "ON CONFLICT names (%s), and %s has no such unique index", conflict.Columns.String(), name)
		}
		proposed := relation{name: "excluded", columns: target.columns}
		both := within.child(target, proposed)
		c.resolveAssignments(conflict.Exprs, target, both)
		c.resolveWhere(conflict.Where, both)
	}
	return c.resolveReturning(insert.Returning, within.child(target))
}

func (c *checker) with(clause *tree.With, outer *scope) *scope {
	within := &scope{outer: outer, ctes: map[string]relation{}}
	if clause == nil {
		return within
	}
	for _, cte := range clause.CTEList {
		name := string(cte.Name.Alias)
		within.ctes[name] = renamed(c.resolveStatement(cte.Stmt, within), cte.Name)
	}
	return within
}

func (c *checker) target(expression tree.TableExpr) relation {
	name, alias := targetOf(expression)
	if found := c.tableNamed(name); found != nil {
		return relation{name: alias, columns: found.columns}
	}
	return relation{name: alias, columns: map[string]*column{}}
}

func (c *checker) resolveTables(expressions tree.TableExprs, outer *scope) []relation {
	found := []relation{}
	for _, expression := range expressions {
		found = append(found, c.resolveTable(expression, outer)...)
	}
	return found
}

func (c *checker) resolveTable(expression tree.TableExpr, outer *scope) []relation {
	switch t := expression.(type) {
	case *tree.AliasedTableExpr:
		found := c.resolveTable(t.Expr, outer)
		if len(found) == 1 && t.As.Alias != "" {
			found[0] = renamed(found[0], t.As)
		}
		return found
	case *tree.TableName:
		if cte, isKnown := outer.cte(t.Table()); isKnown {
			return []relation{{name: t.Table(), columns: cte.columns}}
		}
		if table := c.tableNamed(t.Table()); table != nil {
			return []relation{{name: t.Table(), columns: table.columns}}
		}
	case *tree.ParenTableExpr:
		return c.resolveTable(t.Expr, outer)
	case *tree.JoinTableExpr:
		left := c.resolveTable(t.Left, outer)
		seenByRight := outer
		if right, isAliased := t.Right.(*tree.AliasedTableExpr); isAliased && right.Lateral {
			seenByRight = outer.child(left...)
		}
		both := append(left, c.resolveTable(t.Right, seenByRight)...)
		if on, isOn := t.Cond.(*tree.OnJoinCond); isOn {
			c.resolveExpression(on.Expr, outer.child(both...))
		}
		return both
	case *tree.Subquery:
		return []relation{c.resolveStatement(t.Select, outer)}
	case *tree.RowsFromExpr:
		c.resolveExpressions(t.Items, outer)
		return []relation{{columns: map[string]*column{}}}
	}
	return []relation{{columns: map[string]*column{}}}
}

// renamed is a relation under another name and, where the alias has them, with the columns that it names.
func renamed(of relation, as tree.AliasClause) relation {
	if len(as.Cols) == 0 {
		return relation{name: string(as.Alias), columns: of.columns}
	}
	columns := map[string]*column{}
	for _, one := range as.Cols {
		columns[string(one.Name)] = nil
	}
	return relation{name: string(as.Alias), columns: columns}
}

func (c *checker) resolveOutputs(outputs tree.SelectExprs, from *scope) relation {
	yielded := relation{columns: map[string]*column{}}
	for _, output := range outputs {
		c.resolveExpression(output.Expr, from)
		name, isName := output.Expr.(*tree.UnresolvedName)
		switch {
		case output.As != "":
			yielded.columns[string(output.As)] = nil
		case isName && !name.Star:
			yielded.columns[name.Parts[0]], _ = from.column(name.Parts[1], name.Parts[0])
		}
	}
	return yielded
}

func (c *checker) resolveReturning(clause tree.ReturningClause, from *scope) relation {
	if returned, isReturning := clause.(*tree.ReturningExprs); isReturning {
		return c.resolveOutputs(tree.SelectExprs(*returned), from)
	}
	return relation{columns: map[string]*column{}}
}

func (c *checker) resolveAssignments(assignments tree.UpdateExprs, target relation, from *scope) {
	for _, assignment := range assignments {
		c.resolveColumns(assignment.Names, target)
		c.resolveExpression(assignment.Expr, from)
	}
}

func (c *checker) resolveColumns(names tree.NameList, of relation) {
	for _, name := range names {
		if _, isKnown := of.columns[string(name)]; !isKnown {
			c.report("name", "%s has no column %s", of.name, name)
		}
	}
}

func (c *checker) resolveWhere(where *tree.Where, from *scope) {
	if where != nil {
		c.resolveExpression(where.Expr, from)
	}
}

func (c *checker) resolveLimit(limit *tree.Limit, from *scope) {
	if limit != nil {
		c.resolveExpressions(tree.Exprs{limit.Count, limit.Offset}, from)
	}
}

// resolveOrder refuses what the databases would sort differently: PostgreSQL has nulls last, CockroachDB first.
func (c *checker) resolveOrder(order tree.OrderBy, from *scope) {
	for _, one := range order {
		c.resolveExpression(one.Expr, from)
		name, isName := one.Expr.(*tree.UnresolvedName)
		if !isName || one.NullsOrder != tree.DefaultNullsOrder {
			continue
		}
		if found, _ := from.column(name.Parts[1], name.Parts[0]); found != nil && found.nullable {
			c.report("nulls", "%s may be null: say NULLS FIRST or NULLS LAST", name)
		}
	}
}

func (c *checker) resolveExpressions(expressions tree.Exprs, from *scope) {
	for _, expression := range expressions {
		c.resolveExpression(expression, from)
	}
}

func (c *checker) resolveExpression(expression tree.Expr, from *scope) {
	if expression != nil {
		tree.WalkExprConst(&nameVisitor{c, from}, expression)
	}
}

type nameVisitor struct {
	checker *checker
	from    *scope
}

func (v *nameVisitor) VisitPre(expression tree.Expr) (bool, tree.Expr) {
	switch e := expression.(type) {
	case *tree.UnresolvedName:
		if _, isKnown := v.from.column(e.Parts[1], e.Parts[0]); !isKnown && !e.Star {
			v.checker.report("name", "there is no column %s here", strings.ToLower(e.String()))
		}
	case *tree.Subquery:
		v.checker.resolveStatement(e.Select, v.from)
		return false, expression
	case *tree.FuncExpr:
		if e.WindowDef != nil {
			v.checker.resolveExpressions(e.WindowDef.Partitions, v.from)
			v.checker.resolveOrder(e.WindowDef.OrderBy, v.from)
		}
		v.checker.resolveOrder(e.OrderBy, v.from)
	}
	return true, expression
}

func (v *nameVisitor) VisitPost(expression tree.Expr) tree.Expr {
	return expression
}
