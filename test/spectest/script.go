package spectest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// script is a file of wast2json.
type script struct {
	Source   string    `json:"source_filename"`
	Commands []command `json:"commands"`
}

// command is one step of a script. The fields that are set depend on its type.
type command struct {
	Type string `json:"type"`
	Line int    `json:"line"`
	// Name is the module's name within the script: "$name" or empty.
	Name string `json:"name"`
	// As is the name under which register makes a module importable.
	As string `json:"as"`
	// Filename and Format are set for commands that have a module.
	Filename string `json:"filename"`
	Format   string `json:"module_type"`
	// Text is the reference interpreter's text of the failure.
	Text     string     `json:"text"`
	Action   *action    `json:"action"`
	Expected []constant `json:"expected"`
}

// action calls a function or reads a global.
type action struct {
	Type string `json:"type"`
	// Module is empty for the last module.
	Module string     `json:"module"`
	Field  string     `json:"field"`
	Args   []constant `json:"args"`
}

func (c *command) assertion() bool { return strings.HasPrefix(c.Type, "assert_") }

// withAction and withModule are the types of commands that have an action or a module.
var (
	withAction = []string{"action", "assert_return", "assert_trap", "assert_exhaustion"}
	withModule = []string{"module", "assert_invalid", "assert_malformed", "assert_unlinkable", "assert_uninstantiable"}
)

// parse parses a script. It refuses unknown commands and fields, so that none is skipped.
func parse(data []byte) (*script, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var s script
	if err := decoder.Decode(&s); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the script")
	}
	for i := range s.Commands {
		c := &s.Commands[i]
		if err := c.check(s.Commands[:i]); err != nil {
			return nil, fmt.Errorf("command %d (%s, line %d): %w", i, c.Type, c.Line, err)
		}
	}
	return &s, nil
}

// check refuses a command that cannot be run.
func (c *command) check(before []command) error {
	switch {
	case slices.Contains(withModule, c.Type):
		if c.Filename == "" || c.Action != nil {
			return errors.New("it must have a module and no action")
		} else if c.Type == "module" && c.Format != "" && c.Format != "binary" {
			return fmt.Errorf("module_type %q cannot be run", c.Format)
		} else if c.Type != "module" && c.Format != "binary" && c.Format != "text" {
			return fmt.Errorf("module_type %q is neither binary nor text", c.Format)
		} else if c.Type == "assert_uninstantiable" && trapOf(c.Text) == "" {
			return fmt.Errorf("the trap %q is unknown: add it to the table of traps", c.Text)
		}
	case slices.Contains(withAction, c.Type):
		if c.Action == nil || c.Filename != "" {
			return errors.New("it must have an action and no module")
		}
		return c.checkAction()
	case c.Type == "register":
		// wazero sets a module's name when the module is instantiated, and never later.
		if len(before) == 0 || before[len(before)-1].Type != "module" || before[len(before)-1].Name != c.Name {
			return errors.New("it does not follow the module it names; wazero names modules when they are made")
		}
	default:
		return errors.New("the type is unknown")
	}
	return nil
}

func (c *command) checkAction() error {
	if t := c.Action.Type; t != "invoke" && (t != "get" || c.Type != "assert_return" && c.Type != "action") {
		return fmt.Errorf("action %q cannot be run", t)
	} else if c.Type == "assert_trap" && trapOf(c.Text) == "" {
		return fmt.Errorf("the trap %q is unknown: add it to the table of traps", c.Text)
	}
	for _, arg := range c.Action.Args {
		if arg.absent || slices.ContainsFunc(arg.lanes, func(l lane) bool { return l.nan != "" }) {
			return errors.New("an argument has no value")
		}
	}
	for _, want := range c.Expected {
		if want.absent && c.Type == "assert_return" {
			return errors.New("a result has no value")
		}
	}
	return nil
}
