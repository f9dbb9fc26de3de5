package main

import (
	"slices"
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree/treebin"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/types"
)

// What the dialect is made of. Every node of a tree is held against this list, by reflection. Anything that is not here is
// refused, so that nothing gets in without having been thought about.
var nodes = setOf(
	// Statements. Not among them: LISTEN, NOTIFY, DO, cursors, prepared statements, UPSERT, EXPLAIN, TRUNCATE, COPY.
	"Select", "SelectClause", "ParenSelect", "UnionClause", "ValuesClause", "Insert", "Update", "Delete",
	"CreateTable", "CreateIndex", "AlterTable", "AlterTableAddColumn",
	"DropTable", "DropIndex", "TableIndexName", "AlterTableDropColumn",
	"BeginTransaction", "CommitTransaction", "RollbackTransaction", "TransactionModes",
	"SetSessionCharacteristics", "ShowVar",
	// Their parts.
	"With", "CTE", "From", "AliasedTableExpr", "AliasClause", "ColumnDef", "JoinTableExpr", "OnJoinCond", "ParenTableExpr",
	"RowsFromExpr", "StatementSource", "TableName", "ObjectNamePrefix", "UnresolvedObjectName", "AnnotatedNode",
	"SelectExpr", "Where", "Order", "Limit", "OnConflict", "UpdateExpr", "ReturningExprs", "ReturningNothing", "NoReturningClause",
	"LockingItem", "WindowDef", "WindowFrame", "WindowFrameBounds", "WindowFrameBound",
	// Expressions.
	"UnresolvedName", "UnqualifiedStar", "FuncExpr", "ResolvableFunctionReference", "FunctionDefinition", "CastExpr", "BinaryExpr", "ComparisonExpr",
	"AndExpr", "OrExpr", "NotExpr", "ParenExpr", "IsNullExpr", "IsNotNullExpr", "RangeCond", "CoalesceExpr", "CaseExpr", "When",
	"Subquery", "Tuple", "Placeholder", "NumVal", "StrVal", "DBool", "dNull", "DefaultVal", "UnaryExpr",
	// Definitions.
	"ColumnTableDef", "UniqueConstraintTableDef", "IndexTableDef", "IndexElem",
)

// Functions that both databases have, with the same meaning for what they are given here. The side of CockroachDB from
// its reference, "Functions and Operators" (cockroachlabs.com/docs/stable/functions-and-operators).
var functions = setOf("now", "floor", "extract", "count", "sum", "min", "max", "unnest", "string_agg", "version", "sha256", "length")

// Session variables that both have ("Session variables" in CockroachDB's reference).
var variables = setOf("transaction_isolation", "transaction_read_only")

// Types under names that mean the same in both. INT and SERIAL do not.
var columnTypes = []*types.T{types.Uuid, types.String, types.Int, types.Bool, types.Bytes, types.TimestampTZ, types.Jsonb}

func (c *checker) checkSyntax(statement tree.Statement) {
	refused := map[string]bool{}
	eachNode(statement, func(kind string, node any) {
		if !nodes[kind] && !refused[kind] {
			refused[kind] = true
			c.report("syntax", "%s is not in the dialect", kind)
		}
		c.checkNode(node)
	})
}

// checkNode refuses what the dialect lacks inside of nodes that it has.
func (c *checker) checkNode(node any) {
	switch n := node.(type) {
	case *tree.SelectExpr:
		c.checkStar(n.Expr)
	case *tree.UnionClause:
		if n.Type != tree.UnionOp || !n.All {
			c.report("syntax", "of what joins rows of several selects only UNION ALL is in the dialect")
		}
	case *tree.From:
		if n.AsOf.Expr != nil {
			c.report("syntax", "AS OF SYSTEM TIME is CockroachDB's alone")
		}
	case *tree.AliasedTableExpr:
		if n.IndexFlags != nil {
			c.report("syntax", "index hints are CockroachDB's alone")
		}
	case *tree.JoinTableExpr:
		if n.Hint != "" {
			c.report("syntax", "join hints are CockroachDB's alone")
		}
	case *tree.Insert:
		if n.OnConflict.IsUpsertAlias() {
			c.report("syntax", "UPSERT is CockroachDB's alone")
		}
	case *tree.OnConflict:
		if n.Constraint != "" || n.ArbiterPredicate != nil {
			c.report("syntax", "ON CONFLICT names the columns of a unique index")
		}
	case *tree.Update:
		c.checkCut("UPDATE", n.OrderBy, n.Limit)
	case *tree.Delete:
		c.checkCut("DELETE", n.OrderBy, n.Limit)
	case *tree.LockingItem:
		if c.lockReason == "" {
			c.report("locking", "a row lock needs a reason: correctness comes from conditions on the rows that are written")
		}
	case *tree.BinaryExpr:
		if n.Operator.Symbol == treebin.Div || n.Operator.Symbol == treebin.FloorDiv {
			c.report("division", "the databases divide whole numbers differently")
		}
	case *tree.CastExpr:
		c.checkType(n.Type)
		if n.SyntaxMode == tree.CastPrepend {
			c.report("syntax", "a literal with its type before it")
		}
	case *tree.FuncExpr:
		c.checkFunction(n)
	}
}

func (c *checker) checkStar(expression tree.Expr) {
	name, isName := expression.(*tree.UnresolvedName)
	_, isStar := expression.(tree.UnqualifiedStar)
	if isStar || (isName && name.Star) {
		c.report("star", "a statement names its columns")
	}
}

func (c *checker) checkCut(what string, order tree.OrderBy, limit *tree.Limit) {
	if len(order) > 0 || limit != nil {
		c.report("syntax", "%s with ORDER BY or LIMIT is CockroachDB's alone", what)
	}
}

func (c *checker) checkFunction(call *tree.FuncExpr) {
	name := strings.ToLower(call.Func.String())
	if strings.Contains(name, "advisory") {
		c.report("function", "%s does nothing on CockroachDB", name)
		return
	}
	if !functions[name] {
		c.report("function", "%s is not among the functions known to be in both databases", name)
	}
}

func (c *checker) checkType(reference tree.ResolvableTypeReference) {
	named, isKnown := reference.(*types.T)
	if isKnown && named.Family() == types.ArrayFamily {
		named = named.ArrayContents()
	}
	if !isKnown || !slices.ContainsFunc(columnTypes, named.Identical) {
		c.report("type", "%s is not a type of the dialect", reference.SQLString())
	}
}

func (c *checker) checkVariable(name string) {
	if !variables[name] {
		c.report("variable", "%s is not among the session variables known to be in both databases", name)
	}
}

func setOf(names ...string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}
