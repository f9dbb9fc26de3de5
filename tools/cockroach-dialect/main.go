// Command cockroach-dialect holds SQL against the dialect that CockroachDB and PostgreSQL share, by
// CockroachDB's own parser.
//
// It reads one JSON object per line and answers each violation with one:
//
//	in:  {"texts": ["BEGIN", "SELECT …", "COMMIT"], "lockReason": "…"}
//	out: {"line": 1, "text": "SELECT …", "rule": "star", "message": "…"}
//
// The texts of a line are what one connection is sent, in order. Schema changes build up the schema that later lines
// are resolved against, so they come first. A line may say why it takes row locks; without a reason it may not.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

const lineBytesMax = 1 << 20

type request struct {
	Texts      []string `json:"texts"`
	LockReason string   `json:"lockReason"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	checker := newChecker()
	answers := json.NewEncoder(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, lineBytesMax)
	for number := 1; lines.Scan(); number++ {
		var asked request
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		for _, found := range checker.check(asked) {
			found.Line = number
			if err := answers.Encode(found); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}
