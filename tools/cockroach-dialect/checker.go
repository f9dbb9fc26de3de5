package main

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/parser"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/parser/statements"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

type violation struct {
	Line    int    `json:"line"`
	Text    string `json:"text"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

// checker keeps the schema that the schema changes seen so far have made.
type checker struct {
	schema schema
	found  []violation
	// What is being checked.
	text          string
	lockReason    string
	inTransaction bool
}

func newChecker() *checker {
	return &checker{schema: schema{}}
}

func (c *checker) check(asked request) []violation {
	c.found = nil
	c.lockReason = asked.LockReason
	c.inTransaction = false
	for _, text := range asked.Texts {
		c.text = text
		c.checkText()
	}
	return c.found
}

func (c *checker) checkText() {
	parsed, err := parse(c.text)
	if err != nil {
		c.report("parse", "CockroachDB cannot parse it: %v", err)
		return
	}
	schemaChanges := 0
	for _, one := range parsed {
		if isSchemaChange(one.AST) {
			schemaChanges++
		}
		c.checkStatement(one.AST)
	}
	if schemaChanges > 0 && (c.inTransaction || len(parsed) > 1) {
		c.report("schema-change", "a schema change stands alone, outside of a transaction")
	}
}

// parse is the parser's own, which panics at DO: it looks for a parser of PL/pgSQL that is not part of this program.
func parse(text string) (parsed statements.Statements, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("its parser gives up")
		}
	}()
	return parser.Parse(text)
}

func (c *checker) checkStatement(statement tree.Statement) {
	c.checkSyntax(statement)
	c.checkMutations(statement)
	switch s := statement.(type) {
	case *tree.BeginTransaction:
		c.inTransaction = true
	case *tree.CommitTransaction, *tree.RollbackTransaction:
		c.inTransaction = false
	case *tree.CreateTable:
		c.createTable(s)
	case *tree.CreateIndex:
		c.createIndex(s)
	case *tree.AlterTable:
		c.alterTable(s)
	case *tree.DropTable:
		c.dropTable(s)
	case *tree.DropIndex:
		c.dropIndex(s)
	case *tree.Select, *tree.Insert, *tree.Update, *tree.Delete:
		c.resolveStatement(s, &scope{})
	case *tree.ShowVar:
		c.checkVariable(s.Name)
	}
}

func isSchemaChange(statement tree.Statement) bool {
	return statement.StatementType() == tree.TypeDDL
}

func (c *checker) report(rule string, format string, values ...any) {
	c.found = append(c.found, violation{Text: c.text, Rule: rule, Message: fmt.Sprintf(format, values...)})
}
