package main

import "github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"

// checkMutations refuses a statement that changes a table in two places, wherever they stand in it. CockroachDB refuses it too,
// and PostgreSQL may silently lose one of the changes.
func (c *checker) checkMutations(statement tree.Statement) {
	changed := map[string]bool{}
	eachNode(statement, func(_ string, node any) {
		var target tree.TableExpr
		switch n := node.(type) {
		case *tree.Insert:
			target = n.Table
		case *tree.Update:
			target = n.Table
		case *tree.Delete:
			target = n.Table
		default:
			return
		}
		name, _ := targetOf(target)
		if changed[name] {
			c.report("mutation", "%s is changed in two places of one statement", name)
		}
		changed[name] = true
	})
}

// targetOf is the table that a statement changes, and the name by which the statement calls it.
func targetOf(target tree.TableExpr) (table string, alias string) {
	switch t := target.(type) {
	case *tree.AliasedTableExpr:
		table, alias = targetOf(t.Expr)
		if t.As.Alias != "" {
			alias = string(t.As.Alias)
		}
		return table, alias
	case *tree.TableName:
		return t.Table(), t.Table()
	}
	return "", ""
}
