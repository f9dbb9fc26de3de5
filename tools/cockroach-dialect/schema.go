package main

import (
	"slices"
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/types"
)

// The schema as the schema changes make it.
type schema map[string]*table

type table struct {
	columns map[string]*column
	// Each a unique index over the whole table, by its columns.
	unique [][]string
}

type column struct {
	typ      *types.T
	nullable bool
}

// Columns that spread rows although their type is a number.
var spreading = setOf("shard", "target_shard")

func (c *checker) createTable(created *tree.CreateTable) {
	name := created.Table.Table()
	if !created.IfNotExists {
		c.report("schema-change", "without IF NOT EXISTS it cannot be run again after a crash")
	}
	if created.Persistence != tree.PersistencePermanent {
		c.report("syntax", "%s is a temporary table", name)
	}
	if created.AsSource != nil || created.PartitionByTable != nil || created.Locality != nil || len(created.StorageParams) > 0 {
		c.report("syntax", "a table is made of columns and keys")
	}
	made := &table{columns: map[string]*column{}}
	c.schema[name] = made
	hasPrimaryKey := false
	for _, definition := range created.Defs {
		switch d := definition.(type) {
		case *tree.ColumnTableDef:
			hasPrimaryKey = hasPrimaryKey || d.PrimaryKey.IsPrimaryKey
			c.addColumn(made, d)
		case *tree.UniqueConstraintTableDef:
			hasPrimaryKey = hasPrimaryKey || d.PrimaryKey
			c.addIndex(made, d.IndexTableDef.Columns, true, &d.IndexTableDef)
		default:
			c.report("syntax", "a table is made of columns and keys")
		}
	}
	if !hasPrimaryKey {
		c.report("key", "%s has no primary key", name)
	}
}

func (c *checker) addColumn(to *table, definition *tree.ColumnTableDef) {
	d := definition
	if d.IsSerial || d.GeneratedIdentity.IsGeneratedAsIdentity {
		c.report("type", "%s takes its values from a sequence", d.Name)
	}
	if d.Computed.Computed || d.OnUpdateExpr.Expr != nil || d.References.Table != nil || len(d.CheckExprs) > 0 ||
		d.Family.Name != "" || d.Hidden || d.Unique.IsUnique || d.PrimaryKey.Sharded {
		c.report("syntax", "%s has more than a type, a default and a key", d.Name)
	}
	c.checkType(d.Type)
	typ, _ := d.Type.(*types.T)
	to.columns[string(d.Name)] = &column{
		typ:      typ,
		nullable: d.Nullable.Nullability != tree.NotNull && !d.PrimaryKey.IsPrimaryKey,
	}
	if d.PrimaryKey.IsPrimaryKey {
		c.addKey(to, []string{string(d.Name)}, true)
	}
}

func (c *checker) createIndex(created *tree.CreateIndex) {
	on := c.tableNamed(created.Table.Table())
	if !created.IfNotExists {
		c.report("schema-change", "without IF NOT EXISTS it cannot be run again after a crash")
	}
	if created.Concurrently || created.Type != 0 || created.Invisibility.Value != 0 {
		c.report("syntax", "an index is an ordinary one")
	}
	if on == nil {
		return
	}
	c.addIndex(on, created.Columns, created.Unique && created.Predicate == nil, &tree.IndexTableDef{
		Sharded: created.Sharded, Storing: created.Storing,
		PartitionByIndex: created.PartitionByIndex, StorageParams: created.StorageParams,
	})
	if created.Predicate != nil {
		within := &scope{relations: []relation{{name: created.Table.Table(), columns: on.columns}}}
		c.resolveExpression(created.Predicate, within)
	}
}

func (c *checker) addIndex(on *table, elements tree.IndexElemList, isUnique bool, definition *tree.IndexTableDef) {
	if definition.Sharded != nil || len(definition.Storing) > 0 || definition.PartitionByIndex != nil || len(definition.StorageParams) > 0 {
		c.report("syntax", "an index is made of columns and, at most, a condition")
	}
	names := []string{}
	for _, element := range elements {
		if element.Expr != nil || element.OpClass != "" {
			c.report("syntax", "an index is over columns")
		}
		names = append(names, string(element.Column))
	}
	c.addKey(on, names, isUnique)
}

func (c *checker) addKey(on *table, names []string, isUnique bool) {
	for _, name := range names {
		if on.columns[name] == nil {
			c.report("name", "a key over %s, which its table lacks", name)
			return
		}
	}
	if isUnique {
		on.unique = append(on.unique, names)
	}
	leading := on.columns[names[0]].typ
	spreads := leading != nil && (leading.Identical(types.String) || leading.Identical(types.Uuid))
	if !spreads && !spreading[names[0]] {
		c.report("key", "a key begins with %s: whatever grows puts every new row on one range", names[0])
	}
}

func (c *checker) alterTable(altered *tree.AlterTable) {
	name := altered.Table.Parts[0]
	on := c.tableNamed(name)
	if len(altered.Cmds) > 1 {
		c.report("schema-change", "several changes of %s in one statement", name)
	}
	for _, command := range altered.Cmds {
		added, isAdded := command.(*tree.AlterTableAddColumn)
		if !isAdded || on == nil {
			continue
		}
		if !added.IfNotExists {
			c.report("schema-change", "without IF NOT EXISTS it cannot be run again after a crash")
		}
		c.addColumn(on, added.ColumnDef)
	}
}

func (c *checker) tableNamed(name string) *table {
	found := c.schema[name]
	if found == nil {
		c.report("name", "there is no table %s", name)
	}
	return found
}

// hasUnique says whether an index is unique over exactly these columns.
func (t *table) hasUnique(columns []string) bool {
	wanted := sorted(columns)
	return slices.ContainsFunc(t.unique, func(unique []string) bool { return slices.Equal(sorted(unique), wanted) })
}

func sorted(names []string) []string {
	copied := slices.Clone(names)
	slices.SortFunc(copied, strings.Compare)
	return copied
}
