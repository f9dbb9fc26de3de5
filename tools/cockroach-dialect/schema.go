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
	keys    []key
}

type key struct {
	// Empty where the table itself declares it.
	name    string
	columns []string
	// Over the whole table.
	isUnique bool
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
			c.addIndex(made, "", d.IndexTableDef.Columns, true, &d.IndexTableDef)
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
		c.addKey(to, key{columns: []string{string(d.Name)}, isUnique: true})
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
	c.addIndex(on, string(created.Name), created.Columns, created.Unique && created.Predicate == nil, &tree.IndexTableDef{
		Sharded: created.Sharded, Storing: created.Storing,
		PartitionByIndex: created.PartitionByIndex, StorageParams: created.StorageParams,
	})
	if created.Predicate != nil {
		within := &scope{relations: []relation{{name: created.Table.Table(), columns: on.columns}}}
		c.resolveExpression(created.Predicate, within)
	}
}

func (c *checker) addIndex(on *table, name string, elements tree.IndexElemList, isUnique bool, definition *tree.IndexTableDef) {
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
	c.addKey(on, key{name, names, isUnique})
}

func (c *checker) addKey(on *table, added key) {
	for _, name := range added.columns {
		if on.columns[name] == nil {
			c.report("name", "a key over %s, which its table lacks", name)
			return
		}
	}
	on.keys = append(on.keys, added)
	first := added.columns[0]
	leading := on.columns[first].typ
	spreads := leading != nil && (leading.Identical(types.String) || leading.Identical(types.Uuid))
	if !spreads && !spreading[first] {
		c.report("key", "a key begins with %s: whatever grows puts every new row on one range", first)
	}
}

func (c *checker) alterTable(altered *tree.AlterTable) {
	name := altered.Table.Parts[0]
	on := c.tableNamed(name)
	if len(altered.Cmds) > 1 {
		c.report("schema-change", "several changes of %s in one statement", name)
	}
	for _, command := range altered.Cmds {
		if on == nil {
			continue
		}
		switch changed := command.(type) {
		case *tree.AlterTableAddColumn:
			if !changed.IfNotExists {
				c.report("schema-change", "without IF NOT EXISTS it cannot be run again after a crash")
			}
			c.addColumn(on, changed.ColumnDef)
		case *tree.AlterTableDropColumn:
			c.checkDrop(changed.IfExists, changed.DropBehavior)
			c.dropColumn(on, string(changed.Column))
		}
	}
}

// Dropping a key's column takes the key along in one database and is refused by the other.
func (c *checker) dropColumn(from *table, name string) {
	if slices.ContainsFunc(from.keys, func(k key) bool { return slices.Contains(k.columns, name) }) {
		c.report("key", "%s is part of a key, which has to go first", name)
	}
	delete(from.columns, name)
}

func (c *checker) dropTable(dropped *tree.DropTable) {
	c.checkDrop(dropped.IfExists, dropped.DropBehavior)
	if len(dropped.Names) > 1 {
		c.report("schema-change", "several tables in one statement")
	}
	for index := range dropped.Names {
		delete(c.schema, dropped.Names[index].Table())
	}
}

func (c *checker) dropIndex(dropped *tree.DropIndex) {
	// CockroachDB drops a unique index only by CASCADE.
	c.checkDrop(dropped.IfExists, tree.DropDefault)
	if dropped.Concurrently {
		c.report("syntax", "an index is an ordinary one")
	}
	if len(dropped.IndexList) > 1 {
		c.report("schema-change", "several indexes in one statement")
	}
	for _, index := range dropped.IndexList {
		if index.Table.Table() != "" {
			c.report("syntax", "an index named by its table is CockroachDB's alone")
		}
		for _, from := range c.schema {
			from.keys = slices.DeleteFunc(from.keys, func(k key) bool { return k.name == string(index.Index) })
		}
	}
}

func (c *checker) checkDrop(ifExists bool, behaviour tree.DropBehavior) {
	if !ifExists {
		c.report("schema-change", "without IF EXISTS it cannot be run again after a crash")
	}
	if behaviour == tree.DropCascade {
		c.report("syntax", "CASCADE drops what the statement does not name")
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
	return slices.ContainsFunc(t.keys, func(k key) bool { return k.isUnique && slices.Equal(sorted(k.columns), wanted) })
}

func sorted(names []string) []string {
	copied := slices.Clone(names)
	slices.SortFunc(copied, strings.Compare)
	return copied
}
